package serve

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/domain"
)

// Writer writes commands to the log. It decides submissions under the server's own context: the server carries out
// what it accepted, even if the caller leaves.
type Writer interface {
	// Submit returns the receipt, or an error that matches one of domain's sentinels.
	Submit(ctx context.Context, submission domain.Submission) (domain.Receipt, error)
	// SubmitAll answers each submission, in order. A failed submission does not affect the others.
	SubmitAll(ctx context.Context, submissions []domain.Submission) []domain.Result
}

// API is what all operations share. Rooms register their operations with it.
type API struct {
	Writer  Writer
	Huma    huma.API
	MaxBody int64               // of the body of a single request, in bytes
	Timeout time.Duration       // of a request, and of each piece of a long answer
	Leaving chan struct{}       // closed when the server accepts no more connections: streams end
	Cut     chan struct{}       // closed when long answers end, since the server shuts down
	Admit   func(c *Call) error // authenticates the caller and checks the rate
	// Authenticate identifies the caller of a request. The error is a refusal for the caller.
	Authenticate func(*http.Request) (domain.Principal, error)
	// Confine limits the statements of a context to the rows of one tenant.
	Confine func(ctx context.Context, tenant string) context.Context
	// Outdated refuses if a newer release has migrated the database. Nil if none can.
	Outdated  func(ctx context.Context) error
	Closing   func() bool   // tells whether shutdown has begun
	Heartbeat time.Duration // how often a stream sends a sign of life while there are no events
	Policy    func() domain.ConfidencePolicy
	Links     string // what the addresses of items begin with
	Version   string // of the program
	Now       func() time.Time
	Registry  prometheus.Registerer
}

// Requiring is the API of operations that need a part of the server. They refuse every call if the part is nil.
func (a *API) Requiring(part any, refusal string) *API {
	if part != nil {
		return a
	}
	without := *a
	without.Admit = func(c *Call) error {
		if err := a.Admit(c); err != nil {
			return err
		}
		return domain.Refuse(domain.ErrNotFound, "%s", refusal)
	}
	return &without
}

// RightsAge is how long the rights of a caller are remembered during a long answer.
const RightsAge = 2 * time.Second

// MayGoOn refuses to go on with a long answer if the server shuts down, or if the rights of the caller are not those
// with which it began.
func (a *API) MayGoOn(c *Call) error {
	select {
	case <-a.Cut:
		return domain.Refuse(ErrClosing, "the server shuts down; this record and those after it were not taken").
			WithFix("send them again")
	default:
	}
	if time.Since(c.Looked) < RightsAge {
		return nil
	}
	c.Looked = time.Now()
	p, err := a.Authenticate(c.Request)
	if err == nil && !reflect.DeepEqual(p, c.Principal) {
		err = domain.Refuse(domain.ErrForbidden, "the rights of the caller have changed").WithFix("begin again")
	}
	return err
}

// Operation answers a call. The error becomes a problem.
type Operation[I, O any] func(ctx context.Context, c *Call, in *I) (*O, error)

// Handle registers an operation for authenticated callers within their rate and the time limit. huma documents the
// input and fills in its path and query fields. [Handle] refuses unknown parameters; the operation validates their
// values.
func Handle[I, O any](a *API, op huma.Operation, do Operation[I, O]) {
	form := onlyForm(&op)
	document(&op)
	body := op.RequestBody
	op.RequestBody = nil // huma would read and check a body that it knows; operations do that
	defer func() { a.documented(op).RequestBody = body }()
	parameters := queryNames(reflect.TypeFor[I]())
	huma.Register(a.Huma, op, func(ctx context.Context, in *I) (*O, error) {
		c, began := CallOf(ctx), time.Now()
		err := a.Admit(c)
		if err == nil && form != "" {
			_, err = c.Accepts(form)
		}
		ctx, cancel := context.WithDeadline(c.Request.Context(), began.Add(a.Timeout))
		defer cancel()
		if err == nil {
			c.known = parameters
			c.Parameters(parameters)
			var out *O
			if out, err = do(domain.WithCaller(ctx, c.Principal, c.Origin), c, in); err == nil {
				return out, nil
			}
		}
		c.Err = a.Reason(ctx, err)
		return nil, ProblemOf(c.Err, c.Instance())
	})
}

// Output answers with a body alone.
type Output[T any] struct{ Body T }

// Lookup registers an operation that answers with a body alone. It parses no parameter values: bad parameters are
// refused before find runs.
func Lookup[I, T any](a *API, op huma.Operation, find func(ctx context.Context, c *Call, in *I) (T, error)) {
	Handle(a, op, func(ctx context.Context, c *Call, in *I) (*Output[T], error) {
		if err := c.Found.Err(); err != nil {
			return nil, err
		}
		found, err := find(ctx, c, in)
		return &Output[T]{found}, err
	})
}

// Needing makes an operation of one that needs a part of the server. Part returns it, or refuses the call.
func Needing[P, I, O any](
	part func(c *Call) (P, error), do func(ctx context.Context, c *Call, part P, in *I) (O, error),
) func(context.Context, *Call, *I) (O, error) {
	return func(ctx context.Context, c *Call, in *I) (out O, err error) {
		needed, err := part(c)
		if err != nil {
			return out, err
		}
		return do(ctx, c, needed, in)
	}
}

// Reason adds the reason to an error that an expired context caused, or a database that a newer release has migrated.
func (a *API) Reason(ctx context.Context, err error) error {
	var why error
	switch answer := AnswerTo(err); {
	case err == nil || answer.Status != http.StatusInternalServerError:
	case ctx.Err() != nil && answer.to == nil:
		why = ctx.Err()
	case a.Outdated != nil:
		why = a.Outdated(ctx)
	}
	if why != nil {
		return fmt.Errorf("%w: %w", why, err)
	}
	return err
}
