package terminal

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// Exit codes are a promise to scripts.
const (
	ExitOK          = 0
	ExitFailed      = 1 // failed, wholly or partly
	ExitUsage       = 2 // the command line or one of its values is wrong
	ExitNotFound    = 3 // not found, forgotten or erased
	ExitRefused     = 4 // forbidden, in conflict, or at another revision
	ExitUnavailable = 5 // no server answers, or it is busy: try again

	ExitInterrupted = 130 // Ctrl-C, as shells report it
)

// Failure is the error of a command: a sentence, the bad fields and the fix. With --json it is written to standard
// error as JSON.
type Failure struct {
	Code   int     `json:"exit_code"`
	Status int     `json:"status,omitempty"` // of the HTTP answer
	Type   string  `json:"type,omitempty"`
	Detail string  `json:"detail"`
	Fields []Field `json:"errors,omitempty"`
	Fix    string  `json:"fix,omitempty"`

	Late bool `json:"-"` // the answer came too late: the request may have succeeded
}

// Field is one bad field of a request.
type Field struct {
	Field   string `json:"field"`
	Flag    string `json:"flag,omitempty"` // the flag or argument of the field
	Message string `json:"message"`
	Missing bool   `json:"missing,omitempty"` // the value names something that does not exist
}

func (f *Failure) Error() string { return f.Detail }

// Line is the failure with its fields and its fix in one line.
func (f *Failure) Line() string {
	parts := []string{f.Detail}
	for _, bad := range f.Fields {
		parts = append(parts, bad.Field+" "+bad.Message)
	}
	return Joined("; ", append(parts, f.Fix)...)
}

// Wrong is a failure of the command line that the command finds itself.
func Wrong(fix, format string, values ...any) *Failure {
	return &Failure{Code: ExitUsage, Detail: fmt.Sprintf(format, values...), Fix: fix}
}

// BadFields is a failure of the command line that names the bad values.
func BadFields(fix string, fields ...Field) *Failure {
	return &Failure{Code: ExitUsage, Detail: "Some values are not right", Fields: fields, Fix: fix}
}

// AsFailure finds the exit code, the fields and the fix in any error.
func AsFailure(err error) *Failure {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		if f.Detail != err.Error() { // keep the text of the wrapper
			wrapped := *f
			wrapped.Detail = err.Error()
			return &wrapped
		}
		return f
	}
	if refused, ok := errors.AsType[*client.Error](err); ok {
		f := failureOf(refused)
		if wrapper, is := strings.CutSuffix(err.Error(), refused.Error()); is {
			f.Detail = wrapper + f.Detail
		}
		return f
	}
	f := &Failure{Code: ExitFailed, Detail: err.Error()}
	switch {
	case errors.Is(err, context.Canceled):
		f.Code, f.Detail = ExitInterrupted, "interrupted"
	case errors.Is(err, database.ErrUnavailable), errors.Is(err, database.ErrOwned):
		f.Code = ExitUnavailable
	case errors.Is(err, database.ErrFull), errors.Is(err, syscall.ENOSPC):
		f.Fix = "make room on that disk, or name a place on another one"
	case errors.Is(err, database.ErrMisnamed):
		f.Code = ExitUsage
	case errors.Is(err, database.ErrAbsent):
		f.Code, f.Fix = ExitUsage, "name it with --database, or the directory that it lies in with --data"
	}
	if refused, ok := errors.AsType[*domain.Refusal](err); ok {
		f.Fix = refused.Fix
	}
	return f
}

// exitCodeOf is the exit code for an HTTP status.
func exitCodeOf(status int) int {
	switch {
	case status < http.StatusMultipleChoices:
		return ExitOK
	case status == http.StatusNotFound, status == http.StatusGone:
		return ExitNotFound
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout,
		status == http.StatusBadGateway, status == http.StatusServiceUnavailable, status == http.StatusGatewayTimeout,
		status == http.StatusInsufficientStorage:
		return ExitUnavailable
	case status >= http.StatusInternalServerError:
		return ExitFailed
	default:
		return ExitRefused
	}
}

// failureOf converts a server's refusal, or the lack of an answer.
func failureOf(e *client.Error) *Failure {
	title := strings.ToLower(e.Title[:min(1, len(e.Title))]) + e.Title[min(1, len(e.Title)):]
	if errors.Is(e, client.ErrNotAnnals) {
		return &Failure{
			Code: ExitUnavailable, Status: e.Status, Detail: title,
			Fix: "name the server with --server URL or ANNALS_SERVER",
		}
	}
	if e.Status == 0 {
		return Unreachable(e, title)
	}
	f := ProblemOf(e.Problem)
	f.Fix = ownWords(f.Fix)
	if rest, is := strings.CutPrefix(f.Detail, "a body may"); is {
		f.Detail, f.Fix = "what is sent at once may"+rest, "one piece of knowledge has at most 64 KiB of content: divide "+
			"it; many at once are for annals import"
	}
	if e.RetryAfter > 0 && f.Fix == "" {
		f.Fix = fmt.Sprintf("try again in %d s", e.RetryAfter/time.Second)
	}
	return f
}

// Unreachable is the failure if no trusted server answered in time.
func Unreachable(err error, detail string) *Failure {
	f := &Failure{
		Code: ExitUnavailable, Detail: detail,
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
	f.Fix = "if it is yours, let SSL_CERT_FILE name a file with the certificate that it was signed with, as PEM, or " +
		"add that to the system's trust store"
	if _, elsewhere := errors.AsType[x509.HostnameError](refused.Err); elsewhere {
		f.Fix = "name the server as its certificate does, with --server URL or ANNALS_SERVER"
	}
	if invalid, is := errors.AsType[x509.CertificateInvalidError](refused.Err); is && invalid.Reason == x509.Expired {
		f.Fix = "let the server have a certificate that is valid now, or set this machine's clock"
	}
	return f
}

// ProblemOf converts a problem of the API.
func ProblemOf(p api.Problem) *Failure {
	f := &Failure{Code: exitCodeOf(p.Status), Status: p.Status, Type: p.Type, Detail: p.Detail, Fix: p.Fix}
	if f.Detail == "" || len(p.Errors) > 0 && p.Title != "" {
		f.Detail = p.Title
	}
	missing := 0
	for _, bad := range p.Errors {
		f.Fields = append(f.Fields, Field{Field: bad.Field, Message: bad.Message, Missing: bad.Missing})
		if bad.Missing {
			missing++
		}
	}
	switch {
	case p.Status != http.StatusUnprocessableEntity || len(f.Fields) == 0: // a reused idempotency key has no fields
	case missing == len(f.Fields):
		f.Code, f.Detail = ExitNotFound, "what is named is not there"
	default:
		f.Code = ExitUsage
	}
	return f
}
