package http

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

// problem is the answer to a request that was refused.
type problem struct {
	api.Problem
	retryAfter string // seconds
}

// Errors of requests that the domain does not have.
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

// answer is the status and the code of an error.
type answer struct {
	to         error
	status     int
	code       string
	title      string
	retryAfter string
}

// answers is the one table from errors to answers; what is not in it is a 500.
var answers = []answer{
	{domain.ErrMalformed, http.StatusBadRequest, api.CodeMalformed, "The request cannot be read", ""},
	{domain.ErrInvalid, http.StatusUnprocessableEntity, api.CodeInvalid, "Some fields are not right", ""},
	{domain.ErrUnauthenticated, http.StatusUnauthorized, api.CodeUnauthenticated, "Not authenticated", ""},
	{domain.ErrForbidden, http.StatusForbidden, api.CodeForbidden, "Not yours to do", ""},
	{errOrigin, http.StatusForbidden, api.CodeCrossOrigin, "Not from another website", ""},
	{domain.ErrNotFound, http.StatusNotFound, api.CodeNotFound, "Not found", ""},
	{errRoute, http.StatusNotFound, api.CodeNoRoute, "No such route", ""},
	{errMethod, http.StatusMethodNotAllowed, api.CodeMethod, "Not with this method", ""},
	{errAccept, http.StatusNotAcceptable, api.CodeNotAcceptable, "Not in a format that you accept", ""},
	{errSlow, http.StatusRequestTimeout, api.CodeSlow, "Did not arrive in time", ""},
	{domain.ErrTaken, http.StatusConflict, api.CodeTaken, "Taken by another item", ""},
	{domain.ErrSimilar, http.StatusConflict, api.CodeSimilar, "Said already, or contradicted", ""},
	{domain.ErrConflict, http.StatusConflict, api.CodeConflict, "Not in its present state", ""},
	{domain.ErrDeleted, http.StatusGone, api.CodeDeleted, "Forgotten", ""},
	{domain.ErrErased, http.StatusGone, api.CodeErased, "Erased for good", ""},
	{domain.ErrPrecondition, http.StatusPreconditionFailed, api.CodePrecondition, "Changed in the meantime", ""},
	{domain.ErrTooLarge, http.StatusRequestEntityTooLarge, api.CodeTooLarge, "Too large", ""},
	{errMediaType, http.StatusUnsupportedMediaType, api.CodeMediaType, "Not in this format", ""},
	{
		domain.ErrKeyReused, http.StatusUnprocessableEntity, api.CodeKeyReused,
		"The idempotency key belongs to another request", "",
	},
	{errRate, http.StatusTooManyRequests, api.CodeRate, "Too many requests", "1"},
	{domain.ErrBusy, http.StatusServiceUnavailable, api.CodeBusy, "Too busy just now", "1"},
	{domain.ErrBehind, http.StatusServiceUnavailable, api.CodeBehind, "Not that far yet", "1"},
	{domain.ErrUnavailable, http.StatusServiceUnavailable, api.CodeUnavailable, "Cannot be reached just now", "5"},
	{domain.ErrUnreadable, http.StatusConflict, api.CodeBroken, "What is stored makes no sense here", ""},
	{domain.ErrBroken, http.StatusInternalServerError, api.CodeBroken, "What is stored makes no sense here", ""},
	{
		domain.ErrUnprivileged, http.StatusInternalServerError, api.CodeUnprivileged,
		"The database refuses it to the server", "",
	},
	{domain.ErrFull, http.StatusInsufficientStorage, api.CodeFull, "No room to write", "30"},
	{errClosing, http.StatusServiceUnavailable, api.CodeClosing, "Shutting down", "5"},
	{context.DeadlineExceeded, http.StatusServiceUnavailable, api.CodeTimeout, "Took too long", "5"},
	{context.Canceled, statusClientClosed, api.CodeCanceled, "The caller left", ""},
}

// statusClientClosed appears in the log only: the caller has left.
const statusClientClosed = 499

var unexpected = answer{nil, http.StatusInternalServerError, api.CodeUnexpected, "Something went wrong here", ""}

func answerTo(err error) answer {
	for _, a := range answers {
		if errors.Is(err, a.to) {
			return a
		}
	}
	return unexpected
}

// problemOf is the answer to err. Its texts come only from refusals of the domain or of this package, which are
// written for callers.
func problemOf(err error, instance string) *problem {
	a := answerTo(err)
	p := &problem{retryAfter: a.retryAfter, Problem: api.Problem{
		Type: api.ProblemType + a.code, Title: a.title, Status: a.status, Instance: instance,
	}}
	if refusal, ok := errors.AsType[*domain.Refusal](err); ok {
		p.Detail, p.Fix = refusal.Detail, refusal.Fix
	}
	if invalid, ok := errors.AsType[*domain.Invalid](err); ok {
		p.Detail = "see errors"
		for _, bad := range invalid.Problems {
			p.Errors = append(p.Errors, api.BadField(bad))
		}
	}
	if fast, ok := errors.AsType[tooFast](err); ok {
		p.retryAfter = fast.wait
	}
	switch a.code {
	case api.CodeUnavailable:
		p.Detail = cmp.Or(p.Detail, "the database cannot be reached just now")
	case api.CodeTimeout:
		p.Fix = "try again: nothing was recorded"
	case unexpected.code:
		p.Fix = "the server's log says why"
		if instance != "" {
			p.Fix += ", at " + instance
		}
	}
	return p
}

// Problem is err as a problem without the instance.
func Problem(err error) json.RawMessage {
	shown, _ := json.Marshal(problemOf(err, "")) // of strings and numbers
	return shown
}

func (p *problem) Error() string { return p.Title }

func (p *problem) GetStatus() int { return p.Status }

func (p *problem) GetHeaders() http.Header {
	if p.Status == http.StatusUnauthorized {
		return http.Header{"Www-Authenticate": {"Bearer"}}
	}
	if p.retryAfter == "" {
		return nil
	}
	return http.Header{"Retry-After": {p.retryAfter}}
}

func (p *problem) ContentType(string) string { return problemType }

const problemType = "application/problem+json"

// write writes the problem as an answer.
func (p *problem) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), p.GetHeaders())
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	write(w, p)
}

// merge joins the bad fields of reading with those that the domain finds, so that the answer names all at once. A
// field that could not be read appears once.
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
