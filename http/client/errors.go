package client

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/annals-kb/annals/http/api"
)

// Kinds of errors, for errors.Is. Any other error matches none of them.
var (
	ErrUnavailable     = errors.New("unavailable")     // no server answers, or not now
	ErrInvalid         = errors.New("invalid")         // see the Errors of [Error]
	ErrUnauthenticated = errors.New("unauthenticated") // the key is not valid
	ErrForbidden       = errors.New("forbidden")       // not yours to do
	ErrNotFound        = errors.New("not found")       // it does not exist, or you may not see it
	ErrGone            = errors.New("gone")            // forgotten or erased
	ErrConflict        = errors.New("conflict")        // not in its present state
	// a conflict, too: another change came first; read again, and decide anew
	ErrOvertaken = errors.New("overtaken")
	ErrNotAnnals = errors.New("not Annals") // what answers is another program
)

// Error is a server's refusal. Status is 0 if no server answered.
type Error struct {
	api.Problem
	RetryAfter time.Duration

	err error
}

// Error implements error, in one line.
func (e *Error) Error() string {
	parts := []string{e.Title}
	if e.Detail != "" && len(e.Errors) == 0 {
		parts = append(parts, e.Detail)
	}
	for _, f := range e.Errors {
		parts = append(parts, f.Field+" "+f.Message)
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the cause of a missing answer.
func (e *Error) Unwrap() error { return e.err }

// Is tells which of this package's errors it is.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrUnavailable:
		return e.Status == 0 || e.Status == http.StatusTooManyRequests || e.Status >= http.StatusBadGateway
	case ErrInvalid:
		return e.Status == http.StatusUnprocessableEntity || e.Status == http.StatusBadRequest
	case ErrUnauthenticated:
		return e.Status == http.StatusUnauthorized
	case ErrForbidden:
		return e.Status == http.StatusForbidden
	case ErrNotFound:
		return e.Status == http.StatusNotFound
	case ErrGone:
		return e.Status == http.StatusGone
	case ErrOvertaken:
		return e.Status == http.StatusPreconditionFailed
	case ErrConflict:
		return e.Status == http.StatusConflict || e.Status == http.StatusPreconditionFailed
	}
	return false
}

// retryable tells whether repeating a request may succeed, and how long the server asks to wait.
func retryable(err error) (bool, time.Duration) {
	refused, known := errors.AsType[*Error](err)
	if !known {
		return false, 0
	}
	if refused.Type == api.ProblemType+api.CodeQuota {
		return false, 0
	}
	switch refused.Status {
	case 0, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true, refused.RetryAfter
	}
	return false, 0
}

// lost are the errors of a connection that ended after it began.
var lost = []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE}

func (c *connection) unreachable(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	e := &Error{err: errors.Join(ErrUnavailable, err)}
	e.Title, e.Fix = "No server answers at "+c.Server(), "start one with: annals serve"
	if errors.Is(err, context.DeadlineExceeded) && c.cfg.Timeout > 0 {
		e.Title, e.Fix = fmt.Sprintf("The server at %s did not answer within %s", c.Server(), c.cfg.Timeout), ""
	}
	if slices.ContainsFunc(lost, func(how error) bool { return errors.Is(err, how) }) {
		e.Title = fmt.Sprintf("The connection to %s was lost: the request may have been executed", c.Server())
		e.Fix = "look whether it was, or send it with an Idempotency-Key"
	}
	if refused, isRefused := errors.AsType[*tls.CertificateVerificationError](err); isRefused {
		e.Title = fmt.Sprintf("The certificate of the server at %s is not trusted: %s", c.Server(), refused.Err)
		e.Fix = "let SSL_CERT_FILE or the system's trust store have what it was signed with, and name the server as its " +
			"certificate does"
	}
	return e
}

// foreign is the error of an answer that is not from an Annals server.
func (c *connection) foreign(status int, err error) *Error {
	e := &Error{err: errors.Join(ErrNotAnnals, err)}
	e.Status, e.Title = status, fmt.Sprintf("What answers at %s is no Annals server (status %d)", c.Server(), status)
	return e
}

// refusal decodes a problem (RFC 9457) or the error envelope of the OpenViking API.
func (c *connection) refusal(answer *Response) error {
	e := &Error{}
	if json.Unmarshal(answer.Body, &e.Problem) != nil || e.Title == "" {
		var envelope struct {
			Error struct{ Code, Message string }
		}
		_ = json.Unmarshal(answer.Body, &envelope) // any other body is not from Annals
		e.Problem = api.Problem{Type: envelope.Error.Code, Title: envelope.Error.Message}
		if e.Title == "" {
			e = c.foreign(answer.Status, nil)
		}
	}
	e.Status = answer.Status
	if to, err := url.Parse(answer.Header.Get("Location")); err == nil && e.Status/100 == 3 && to.Path != "" {
		to = c.base.ResolveReference(to)
		to.RawQuery, to.Fragment = "", "" // they may be secret
		e.Title += ": it redirects to " + to.Redacted()
	}
	if at, err := http.ParseTime(answer.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = max(time.Until(at), 0)
	}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}
