package viking

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// errInvalidFilter is the error of a filter that this server cannot apply.
var errInvalidFilter = errors.New("invalid filter")

// errMode is the error of an output mode that this server does not offer.
var errMode = errors.New("unsupported mode")

// errBody is the error of a body that is too large.
var errBody = errors.New("body too large")

// code maps an error to OpenViking's code.
type code struct {
	to     error
	status int
	name   string
}

// codes is the one table from errors to OpenViking's codes. A deleted item is NOT_FOUND: an agent that writes another
// item at its URI finds the deleted one in the history.
var codes = []code{
	{domain.ErrInvalid, http.StatusBadRequest, "INVALID_ARGUMENT"},
	{domain.ErrMalformed, http.StatusBadRequest, "INVALID_ARGUMENT"},
	{domain.ErrTooLarge, http.StatusBadRequest, "INVALID_ARGUMENT"},
	{domain.ErrKeyReused, http.StatusBadRequest, "INVALID_ARGUMENT"},
	{errBody, http.StatusRequestEntityTooLarge, "INVALID_ARGUMENT"},
	{errSkill, http.StatusBadRequest, "SKILL_INVALID"},
	{errMode, http.StatusBadRequest, "UNSUPPORTED_MODE"},
	{errInvalidFilter, http.StatusBadRequest, "INVALID_FILTER"},
	{domain.ErrUnauthenticated, http.StatusUnauthorized, "UNAUTHENTICATED"},
	{domain.ErrForbidden, http.StatusForbidden, "PERMISSION_DENIED"},
	{domain.ErrNotFound, http.StatusNotFound, "NOT_FOUND"},
	{domain.ErrDeleted, http.StatusNotFound, "NOT_FOUND"},
	{domain.ErrErased, http.StatusNotFound, "NOT_FOUND"},
	{errRoute, http.StatusNotFound, "NOT_FOUND"},
	{domain.ErrTaken, http.StatusConflict, "ALREADY_EXISTS"},
	{domain.ErrConflict, http.StatusConflict, "CONFLICT"},
	{domain.ErrPrecondition, http.StatusPreconditionFailed, "FAILED_PRECONDITION"},
	{domain.ErrQuota, http.StatusTooManyRequests, "RESOURCE_EXHAUSTED"},
	{domain.ErrBusy, http.StatusServiceUnavailable, "UNAVAILABLE"},
	{domain.ErrBehind, http.StatusGatewayTimeout, "DEADLINE_EXCEEDED"},
	{domain.ErrUnavailable, http.StatusServiceUnavailable, "UNAVAILABLE"},
	{domain.ErrFull, http.StatusServiceUnavailable, "UNAVAILABLE"},
	{context.DeadlineExceeded, http.StatusGatewayTimeout, "DEADLINE_EXCEEDED"},
}

// codesOfStatus are the codes of answers of the server's own.
var codesOfStatus = map[int]string{
	http.StatusForbidden: "PERMISSION_DENIED", http.StatusTooManyRequests: "RESOURCE_EXHAUSTED",
	http.StatusServiceUnavailable: "UNAVAILABLE",
}

// codeOf looks an error up. An error that is not in the table has the code of its status.
func codeOf(err error, status int) code {
	for _, c := range codes {
		if errors.Is(err, c.to) {
			return c
		}
	}
	switch name := codesOfStatus[status]; {
	case name != "":
		return code{nil, status, name}
	case status < http.StatusInternalServerError:
		return code{nil, http.StatusBadRequest, "INVALID_ARGUMENT"}
	}
	return code{nil, http.StatusInternalServerError, "INTERNAL"}
}

// occupiedError means that an address has an item that the caller may see.
type occupiedError struct {
	error
	at string
}

func (e *occupiedError) Unwrap() error { return e.error }

// occupied refuses an address that has an item. Only the answer contains the address, since URIs are written by
// people and must not be logged.
func occupied(a address) error {
	return &occupiedError{domain.Refuse(domain.ErrTaken, "something lies there already"), a.String()}
}

// Refuse answers with an error. Status is that of the server's own answer.
func (*Server) Refuse(w http.ResponseWriter, r *http.Request, status int, err error) {
	c := codeOf(err, status)
	if r.Header.Get(accountHeader) != "" { // the header names a tenant
		err = fieldsOf(err, func(field string) string {
			if field == tenantHeader {
				return accountHeader
			}
			return field
		})
	}
	f := failure{Code: c.name, Message: "something went wrong here"}
	if errors.Is(err, domain.ErrUnavailable) {
		f.Message = "the database cannot be reached just now"
	}
	if c.status == http.StatusGatewayTimeout {
		f.Message = "it took too long"
	}
	if refusal, is := errors.AsType[*domain.Refusal](err); is {
		f.Message = refusal.Detail
		if refusal.Fix != "" {
			f.Message += ": " + refusal.Fix
		}
	}
	if errors.Is(err, domain.ErrMalformed) {
		f.Details = map[string]any{"validation_errors": []map[string]string{{"field": "body", "message": f.Message}}}
	}
	if taken, is := errors.AsType[*occupiedError](err); is {
		f.Message, f.Details = "something lies at "+taken.at+" already", map[string]any{"resource": taken.at}
	}
	if invalid, is := errors.AsType[*domain.Invalid](err); is {
		bad := make([]map[string]string, len(invalid.Problems))
		for i, p := range invalid.Problems {
			bad[i] = map[string]string{"field": p.Field, "message": p.Message}
		}
		f.Message, f.Details = invalid.Error(), map[string]any{"validation_errors": bad}
	}
	w.Header().Set(processTime, cmp.Or(w.Header().Get(processTime), seconds(0)))
	write(w, c.status, envelope{Status: "error", Error: &f})
}

// outcome is what became of the texts of a request.
type outcome struct {
	removed  map[string]int // what scrubbing removed from them, by class
	proposed bool           // an item waits for approval
}

// outcomeKey is the key of a context that has an outcome.
type outcomeKey struct{}

// anonymous is a writer whose refusals do not name the item: callers know its URI, not its id. It notes the outcome.
type anonymous struct{ Writer }

func (a anonymous) Submit(ctx context.Context, submission domain.Submission) (domain.Receipt, error) {
	receipt, err := a.Writer.Submit(ctx, submission)
	note(ctx, receipt)
	return receipt, withoutID(err, submission)
}

func (a anonymous) SubmitAll(ctx context.Context, submissions []domain.Submission) []domain.Result {
	results := a.Writer.SubmitAll(ctx, submissions)
	for i := range results {
		note(ctx, results[i].Receipt)
		results[i].Err = withoutID(results[i].Err, submissions[i])
	}
	return results
}

func note(ctx context.Context, receipt domain.Receipt) {
	if of, noting := ctx.Value(outcomeKey{}).(*outcome); noting {
		for class, n := range receipt.Redacted {
			of.removed[class] += n
		}
		of.proposed = of.proposed || receipt.Outcome == domain.Proposed
	}
}

func withoutID(err error, submission domain.Submission) error {
	refusal, is := errors.AsType[*domain.Refusal](err)
	id, isItem := strings.CutPrefix(submission.Command.Stream(), domain.KnowledgeStream(""))
	if !is || !isItem {
		return err
	}
	unnamed := strings.NewReplacer(id, "the item")
	return &domain.Refusal{Kind: refusal.Kind, Detail: unnamed.Replace(refusal.Detail), Fix: unnamed.Replace(refusal.Fix)}
}
