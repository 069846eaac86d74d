package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
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
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*failure](err); ok {
		if f.Detail != err.Error() { // it was wrapped: keep what the wrapper knew
			wrapped := *f
			wrapped.Detail = err.Error()
			return &wrapped
		}
		return f
	}
	if refused, ok := errors.AsType[*client.Error](err); ok {
		return failureOf(refused)
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

// failureOf is how a server refused, or why no server answered.
func failureOf(e *client.Error) *failure {
	title := strings.ToLower(e.Title[:min(1, len(e.Title))]) + e.Title[min(1, len(e.Title)):]
	if errors.Is(e, client.ErrNotAnnals) {
		return &failure{Code: exitUnavailable, Status: e.Status, Detail: title, Fix: "name the server with --server URL or ANNALS_SERVER"}
	}
	if e.Status == 0 {
		return unreachable(e, title)
	}
	f := problemOf(e.Problem)
	f.Fix = ownWords(f.Fix)
	if rest, is := strings.CutPrefix(f.Detail, "a body may"); is {
		f.Detail, f.Fix = "what is sent at once may"+rest, "one piece of knowledge has at most 64 KiB of content: divide it; many at once are for annals import"
	}
	if e.RetryAfter > 0 && f.Fix == "" {
		f.Fix = fmt.Sprintf("try again in %d s", e.RetryAfter/time.Second)
	}
	return f
}

// unreachable says that no server answered, or not in time, or none that is trusted.
func unreachable(err error, detail string) *failure {
	f := &failure{
		Code: exitUnavailable, Detail: detail,
		Fix: "start one with: annals serve, or name another with --server URL or ANNALS_SERVER",
	}
	if errors.Is(err, context.DeadlineExceeded) {
		f.Fix, f.Late = "wait longer with --timeout, or ask: annals doctor", true
	}
	refused, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	if !untrusted {
		return f
	}
	f.Detail = strings.Replace(detail, ": x509: ", ": ", 1)
	f.Fix = "if it is yours, let SSL_CERT_FILE name a file with the certificate that it was signed with, as PEM, or add that to the system's trust store"
	if _, elsewhere := errors.AsType[x509.HostnameError](refused.Err); elsewhere {
		f.Fix = "name the server as its certificate does, with --server URL or ANNALS_SERVER"
	}
	if invalid, is := errors.AsType[x509.CertificateInvalidError](refused.Err); is && invalid.Reason == x509.Expired {
		f.Fix = "let the server have a certificate that is valid now, or set this machine's clock"
	}
	return f
}

// problemOf is a problem of the API as a failure.
func problemOf(p api.Problem) *failure {
	f := &failure{Code: exitCodeOf(p.Status), Status: p.Status, Type: p.Type, Detail: p.Detail, Fix: p.Fix}
	if f.Detail == "" || len(p.Errors) > 0 && p.Title != "" {
		f.Detail = p.Title
	}
	for _, bad := range p.Errors {
		f.Fields = append(f.Fields, field{Field: bad.Field, Message: bad.Message, Missing: bad.Missing})
	}
	return f
}
