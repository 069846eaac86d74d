package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

// Refused is the answer to a request that was refused.
type Refused struct {
	api.Problem
	retryAfter string // seconds
}

// Errors of requests that the domain does not have.
var (
	ErrRoute     = errors.New("no such route")
	ErrMethod    = errors.New("method not allowed")
	ErrMediaType = errors.New("unsupported media type")
	errAccept    = errors.New("not acceptable")
	ErrRate      = errors.New("too many requests")
	ErrOrigin    = errors.New("cross-origin")
	errSlow      = errors.New("request timeout")
	ErrClosing   = errors.New("shutting down")
)

// Answer is the status and the code of an error.
type Answer struct {
	to         error
	Status     int
	Code       string
	Title      string
	RetryAfter string
}

// Answers is the one table from errors to answers; what is not in it is a 500.
var Answers = []Answer{
	{domain.ErrMalformed, http.StatusBadRequest, api.CodeMalformed, "The request cannot be read", ""},
	{domain.ErrInvalid, http.StatusUnprocessableEntity, api.CodeInvalid, "Some fields are not right", ""},
	{domain.ErrUnauthenticated, http.StatusUnauthorized, api.CodeUnauthenticated, "Not authenticated", ""},
	{domain.ErrForbidden, http.StatusForbidden, api.CodeForbidden, "Not yours to do", ""},
	{ErrOrigin, http.StatusForbidden, api.CodeCrossOrigin, "Not from another website", ""},
	{domain.ErrNotFound, http.StatusNotFound, api.CodeNotFound, "Not found", ""},
	{ErrRoute, http.StatusNotFound, api.CodeNoRoute, "No such route", ""},
	{ErrMethod, http.StatusMethodNotAllowed, api.CodeMethod, "Not with this method", ""},
	{errAccept, http.StatusNotAcceptable, api.CodeNotAcceptable, "Not in a format that you accept", ""},
	{errSlow, http.StatusRequestTimeout, api.CodeSlow, "Did not arrive in time", ""},
	{domain.ErrTaken, http.StatusConflict, api.CodeTaken, "Taken by another item", ""},
	{domain.ErrSimilar, http.StatusConflict, api.CodeSimilar, "Said already, or contradicted", ""},
	{domain.ErrRedacted, http.StatusConflict, api.CodeRedacted, "Something in it would be removed", ""},
	{domain.ErrConflict, http.StatusConflict, api.CodeConflict, "Not in its present state", ""},
	{domain.ErrDeleted, http.StatusGone, api.CodeDeleted, "Forgotten", ""},
	{domain.ErrErased, http.StatusGone, api.CodeErased, "Erased for good", ""},
	{domain.ErrPrecondition, http.StatusPreconditionFailed, api.CodePrecondition, "Changed in the meantime", ""},
	{domain.ErrTooLarge, http.StatusRequestEntityTooLarge, api.CodeTooLarge, "Too large", ""},
	{ErrMediaType, http.StatusUnsupportedMediaType, api.CodeMediaType, "Not in this format", ""},
	{
		domain.ErrKeyReused, http.StatusUnprocessableEntity, api.CodeKeyReused,
		"The idempotency key belongs to another request", "",
	},
	{domain.ErrQuota, http.StatusTooManyRequests, api.CodeQuota, "A quota is used up", ""},
	{ErrRate, http.StatusTooManyRequests, api.CodeRate, "Too many requests", "1"},
	{domain.ErrBusy, http.StatusServiceUnavailable, api.CodeBusy, "Too busy just now", "1"},
	{domain.ErrBehind, http.StatusServiceUnavailable, api.CodeBehind, "Not that far yet", "1"},
	{domain.ErrUnavailable, http.StatusServiceUnavailable, api.CodeUnavailable, "Cannot be reached just now", "1"},
	{domain.ErrUnreadable, http.StatusConflict, api.CodeBroken, "What is stored makes no sense here", ""},
	{domain.ErrBroken, http.StatusInternalServerError, api.CodeBroken, "What is stored makes no sense here", ""},
	{
		domain.ErrUnprivileged, http.StatusInternalServerError, api.CodeUnprivileged,
		"The database refuses it to the server", "",
	},
	{domain.ErrFull, http.StatusInsufficientStorage, api.CodeFull, "No room to write", "30"},
	{ErrClosing, http.StatusServiceUnavailable, api.CodeClosing, "Shutting down", "1"},
	{context.DeadlineExceeded, http.StatusServiceUnavailable, api.CodeTimeout, "Took too long", "5"},
	{context.Canceled, StatusClientClosed, api.CodeCanceled, "The caller left", ""},
}

// StatusClientClosed appears in the log only: the caller has left.
const StatusClientClosed = 499

// Unexpected answers an error that no other entry of [Answers] is for.
var Unexpected = Answer{nil, http.StatusInternalServerError, api.CodeUnexpected, "Something went wrong here", ""}

// AnswerTo is the first of [Answers] that an error matches, or [Unexpected].
func AnswerTo(err error) Answer {
	for _, a := range Answers {
		if errors.Is(err, a.to) {
			return a
		}
	}
	return Unexpected
}

// ProblemOf is the answer to err. Its texts come only from refusals of the domain or of this package, which are
// written for callers.
func ProblemOf(err error, instance string) *Refused {
	a := AnswerTo(err)
	p := &Refused{retryAfter: a.RetryAfter, Problem: api.Problem{
		Type: api.ProblemType + a.Code, Title: a.Title, Status: a.Status, Instance: instance,
	}}
	if refusal, ok := errors.AsType[*domain.Refusal](err); ok {
		p.Detail, p.Fix, p.Similar = refusal.Detail, refusal.Fix, SimilarOf(refusal.Similar)
		p.Redacted = refusal.Redacted
		for _, bad := range refusal.Fields {
			p.Fields = append(p.Fields, api.BadField(bad))
		}
		if refusal.Wait > 0 {
			p.retryAfter = strconv.Itoa(int(math.Ceil(refusal.Wait.Seconds())))
		}
	}
	if invalid, ok := errors.AsType[*domain.Invalid](err); ok {
		p.Detail = "see errors"
		for _, bad := range invalid.Problems {
			p.Errors = append(p.Errors, api.BadField(bad))
		}
	}
	switch a.Code {
	case api.CodeUnavailable:
		p.Detail = cmp.Or(p.Detail, "the database cannot be reached just now")
	case api.CodeTimeout:
		p.Fix = "try again: nothing was recorded"
	case Unexpected.Code:
		p.Fix = "the server's log says why"
		if instance != "" {
			p.Fix += ", at " + instance
		}
	}
	return p
}

// SimilarOf are items that a new one resembles.
func SimilarOf(items []domain.SimilarItem) (named []api.Similar) {
	for _, item := range items {
		score := math.Round(item.Score*1000) / 1000
		named = append(named, api.Similar{ID: item.ID, Kind: item.Kind, Score: score, Rule: item.Rule})
	}
	return named
}

// Problem is err as a problem without the instance.
func Problem(err error) json.RawMessage {
	shown, _ := json.Marshal(ProblemOf(err, "")) // of strings and numbers
	return shown
}

func (p *Refused) Error() string { return p.Title }

func (p *Refused) GetStatus() int { return p.Status }

func (p *Refused) GetHeaders() http.Header {
	if p.Status == http.StatusUnauthorized {
		return http.Header{"Www-Authenticate": {"Bearer"}}
	}
	if p.retryAfter == "" {
		return nil
	}
	return http.Header{"Retry-After": {p.retryAfter}}
}

func (p *Refused) ContentType(string) string { return ProblemType }

const ProblemType = "application/problem+json"

// Write writes the problem as an answer.
func (p *Refused) Write(w http.ResponseWriter) {
	maps.Copy(w.Header(), p.GetHeaders())
	w.Header().Set("Content-Type", ProblemType)
	w.WriteHeader(p.Status)
	WriteJSON(w, p)
}

// Merge joins the bad fields of reading with those that the domain finds, so that the answer names all at once. A
// field that could not be read appears once.
func Merge(found domain.Problems, err error) error {
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

func ComeAgain(wait int, format string, args ...any) error {
	refusal := domain.Refuse(ErrRate, format, args...).WithFix("wait for %d s", wait)
	refusal.Wait = time.Duration(wait) * time.Second
	return refusal
}

// IsServerError tells whether an error is the server's, not the caller's.
func IsServerError(err error) bool {
	return err != nil && AnswerTo(err).Status >= http.StatusInternalServerError
}
