package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/annals-kb/annals/database"
)

// Exit codes are a promise to scripts.
const (
	exitOK          = 0
	exitFailed      = 1 // failed, wholly or partly
	exitUsage       = 2 // the command line is wrong, or a value that was given there
	exitNotFound    = 3 // there is no such thing, or it was forgotten or erased
	exitRefused     = 4 // forbidden, in conflict, another revision
	exitUnavailable = 5 // nobody answers, or not now: try again

	exitInterrupted = 130 // Ctrl-C, as shells report it
)

// failure is why a command did not do what was asked: one sentence, the fields that are wrong,
// and the fix. Its JSON form goes to standard error with --json.
type failure struct {
	Code   int     `json:"exit_code"`
	Status int     `json:"status,omitempty"` // of the HTTP answer
	Type   string  `json:"type,omitempty"`
	Detail string  `json:"detail"`
	Fields []field `json:"errors,omitempty"`
	Fix    string  `json:"fix,omitempty"`

	Late bool `json:"-"` // nobody waited for the answer: what was asked for may have happened
}

// field is one bad field of a request.
type field struct {
	Field   string `json:"field"`
	Flag    string `json:"flag,omitempty"` // or the argument that it was given by
	Message string `json:"message"`
	Missing bool   `json:"missing,omitempty"` // it names something that is not there
}

func (f *failure) Error() string { return f.Detail }

// wrong is a failure of the command line that only the command itself can see.
func wrong(fix, format string, values ...any) *failure {
	return &failure{Code: exitUsage, Detail: fmt.Sprintf(format, values...), Fix: fix}
}

// asFailure finds the exit code, the fields and the fix in any error.
func asFailure(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		if f.Detail != err.Error() { // it was wrapped: keep what the wrapper knew
			wrapped := *f
			wrapped.Detail = err.Error()
			return &wrapped
		}
		return f
	}
	f := &failure{Code: exitFailed, Detail: err.Error()}
	switch {
	case errors.Is(err, context.Canceled):
		f.Code, f.Detail = exitInterrupted, "interrupted"
	case errors.Is(err, database.ErrUnavailable), errors.Is(err, database.ErrOwned):
		f.Code = exitUnavailable
	case errors.Is(err, database.ErrMisnamed):
		f.Code = exitUsage
	case errors.Is(err, database.ErrAbsent):
		f.Code, f.Fix = exitUsage, "name it with --database, or the directory that it lies in with --data"
	}
	return f
}

// exitCodeOf is the exit code for an HTTP status.
func exitCodeOf(status int) int {
	switch {
	case status < http.StatusMultipleChoices:
		return exitOK
	case status == http.StatusNotFound, status == http.StatusGone:
		return exitNotFound
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout,
		status == http.StatusBadGateway, status == http.StatusServiceUnavailable, status == http.StatusGatewayTimeout,
		status == http.StatusInsufficientStorage:
		return exitUnavailable
	case status >= http.StatusInternalServerError:
		return exitFailed
	default:
		return exitRefused
	}
}
