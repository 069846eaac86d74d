package http

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"

	"github.com/annals-kb/annals/domain"
)

// problem is an error as the API shows it (RFC 9457). It never contains a value that somebody
// sent: it may be a secret.
type problem struct {
	Type     string     `json:"type" example:"urn:annals:problem:invalid"`
	Title    string     `json:"title"`
	Status   int        `json:"status"`
	Detail   string     `json:"detail,omitempty"`
	Instance string     `json:"instance,omitempty" doc:"urn:annals:request:ID, as in the server's log; of a record among many with #number."`
	Fix      string     `json:"fix,omitempty" doc:"What to do about it, where we know it."`
	Errors   []badField `json:"errors,omitempty" doc:"Every bad field at once."`

	retryAfter string // seconds
}

// badField is one field with what is wrong with it.
type badField struct {
	Field   string `json:"field" example:"scopes[1]"`
	Message string `json:"message"`
	Missing bool   `json:"missing,omitempty" doc:"It names an item that is not there for the caller."`
}

// What may be wrong with a request besides what the domain refuses.
var (
	errRoute     = errors.New("no such route")
	errMethod    = errors.New("method not allowed")
	errMediaType = errors.New("unsupported media type")
	errAccept    = errors.New("not acceptable")
	errRate      = errors.New("too many requests")
	errOrigin    = errors.New("cross-origin")
	errSlow      = errors.New("request timeout")
	errClosing   = errors.New("shutting down")
)

// answer is what becomes of an error.
type answer struct {
	to         error
	status     int
	code       string
	title      string
	retryAfter string
}

// answers is the one table from errors to answers; what is not in it is a 500.
var answers = []answer{
	{domain.ErrMalformed, http.StatusBadRequest, "malformed", "The request cannot be read", ""},
	{domain.ErrInvalid, http.StatusUnprocessableEntity, "invalid", "Some fields are not right", ""},
	{domain.ErrUnauthenticated, http.StatusUnauthorized, "unauthenticated", "Nobody knows who is calling", ""},
	{domain.ErrForbidden, http.StatusForbidden, "forbidden", "Not yours to do", ""},
	{errOrigin, http.StatusForbidden, "cross-origin", "Not from another website", ""},
	{domain.ErrNotFound, http.StatusNotFound, "not-found", "Not found", ""},
	{errRoute, http.StatusNotFound, "no-route", "No such route", ""},
	{errMethod, http.StatusMethodNotAllowed, "method", "Not with this method", ""},
	{errAccept, http.StatusNotAcceptable, "not-acceptable", "Not in a format that you accept", ""},
	{errSlow, http.StatusRequestTimeout, "slow", "Did not arrive in time", ""},
	{domain.ErrTaken, http.StatusConflict, "taken", "Taken by another item", ""},
	{domain.ErrConflict, http.StatusConflict, "conflict", "Not in its present state", ""},
	{domain.ErrDeleted, http.StatusGone, "deleted", "Forgotten", ""},
	{domain.ErrErased, http.StatusGone, "erased", "Erased for good", ""},
	{domain.ErrPrecondition, http.StatusPreconditionFailed, "precondition", "Somebody was faster", ""},
	{domain.ErrTooLarge, http.StatusRequestEntityTooLarge, "too-large", "Too large", ""},
	{errMediaType, http.StatusUnsupportedMediaType, "media-type", "Not in this format", ""},
	{domain.ErrKeyReused, http.StatusUnprocessableEntity, "key-reused", "The idempotency key belongs to another request", ""},
	{errRate, http.StatusTooManyRequests, "rate", "Too many requests", "1"},
	{domain.ErrBusy, http.StatusServiceUnavailable, "busy", "Too busy just now", "1"},
	{domain.ErrBehind, http.StatusServiceUnavailable, "behind", "Not that far yet", "1"},
	{domain.ErrUnavailable, http.StatusServiceUnavailable, "unavailable", "Cannot be reached just now", "5"},
	{domain.ErrBroken, http.StatusInternalServerError, "broken", "What is stored makes no sense here", ""},
	{domain.ErrUnprivileged, http.StatusInternalServerError, "unprivileged", "The database refuses it to the server", ""},
	{domain.ErrFull, http.StatusInsufficientStorage, "full", "No room to write", "30"},
	{errClosing, http.StatusServiceUnavailable, "closing", "Shutting down", "5"},
	{context.DeadlineExceeded, http.StatusServiceUnavailable, "timeout", "Took too long", "5"},
	{context.Canceled, statusClientClosed, "canceled", "The caller left", ""},
}

// statusClientClosed is never read by anyone: it is what the log says of callers who left.
const statusClientClosed = 499

var unexpected = answer{nil, http.StatusInternalServerError, "unexpected", "Something went wrong here", ""}

func answerTo(err error) answer {
	for _, a := range answers {
		if errors.Is(err, a.to) {
			return a
		}
	}
	return unexpected
}

// problemOf is what the caller is told about err. What the domain or this package did not put
// into words for callers is not told.
func problemOf(err error, instance string) *problem {
	a := answerTo(err)
	p := &problem{
		Type: "urn:annals:problem:" + a.code, Title: a.title, Status: a.status,
		Instance: instance, retryAfter: a.retryAfter,
	}
	if refusal, ok := errors.AsType[*domain.Refusal](err); ok {
		p.Detail, p.Fix = refusal.Detail, refusal.Fix
	}
	if invalid, ok := errors.AsType[*domain.Invalid](err); ok {
		p.Detail = "see errors"
		for _, bad := range invalid.Problems {
			p.Errors = append(p.Errors, badField(bad))
		}
	}
	if fast, ok := errors.AsType[tooFast](err); ok {
		p.retryAfter = fast.wait
	}
	switch a.code {
	case "unavailable":
		p.Detail = cmp.Or(p.Detail, "the database cannot be reached just now")
	case "timeout":
		p.Fix = "try again: nothing was recorded"
	case unexpected.code:
		p.Fix = "the server's log says why"
		if instance != "" {
			p.Fix += ", at " + instance
		}
	}
	return p
}

// Problem is an error as the API would show it, without a request's instance.
func Problem(err error) json.RawMessage {
	shown, _ := json.Marshal(problemOf(err, "")) // of strings and numbers
	return shown
}

func (p *problem) Error() string { return p.Title }

// GetStatus implements huma.StatusError.
func (p *problem) GetStatus() int { return p.Status }

// GetHeaders implements huma.HeadersError.
func (p *problem) GetHeaders() http.Header {
	if p.Status == http.StatusUnauthorized {
		return http.Header{"Www-Authenticate": {"Bearer"}}
	}
	if p.retryAfter == "" {
		return nil
	}
	return http.Header{"Retry-After": {p.retryAfter}}
}

// ContentType implements huma.ContentTypeFilter.
func (p *problem) ContentType(string) string { return problemType }

const problemType = "application/problem+json"

// write answers a request that no operation has answered.
func (p *problem) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), p.GetHeaders())
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	write(w, p)
}

// merge joins bad fields that were found while reading with those that the domain finds, so
// that all are named at once. A field that could not be read is not judged again.
func merge(found domain.Problems, err error) error {
	if len(found) == 0 {
		return err
	}
	invalid, ok := errors.AsType[*domain.Invalid](err)
	if !ok {
		return found.Err()
	}
	seen := map[string]bool{}
	for _, bad := range found {
		seen[bad.Field] = true
	}
	for _, bad := range invalid.Problems {
		if !seen[bad.Field] {
			found = append(found, bad)
		}
	}
	return found.Err()
}
