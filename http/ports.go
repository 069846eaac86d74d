package http

import (
	"context"
	"io"

	"github.com/annals-kb/annals/domain"
)

// Writer takes commands to the log. Submissions are decided under the server's own context: a
// caller who leaves does not undo what was accepted.
type Writer interface {
	// Submit returns the receipt, or an error that matches one of domain's sentinels.
	Submit(ctx context.Context, submission domain.Submission) (domain.Receipt, error)
	// SubmitAll answers each submission, in order; one failure never spoils the others.
	SubmitAll(ctx context.Context, submissions []domain.Submission) []domain.Result
}

// Reader answers questions about the present.
type Reader interface {
	// Find returns the item, deleted and erased ones too, or a refusal that matches
	// domain.ErrNotFound. The caller decides who may see it.
	Find(ctx context.Context, tenant, id string) (*domain.Knowledge, error)
	// Feedback returns the newest 50 voices for and against an item.
	Feedback(ctx context.Context, tenant, id string) (domain.Feedback, error)
	// AsOf returns an item as it was at a position of the log, with all of its votes; one that was
	// not yet remembered does not exist. The caller decides who may see it, by how it is now.
	AsOf(ctx context.Context, tenant, id string, position int64) (*domain.Knowledge, error)
	// List returns what its principal may see, newest first.
	List(ctx context.Context, list domain.List) (domain.ListPage, error)
	// Search finds by meaning and by words. The search is complete (domain.Search.Complete).
	Search(ctx context.Context, search domain.Search) (domain.Answer, error)
	// SearchAll answers several searches of the present at once, in order. What they have in common is embedded once.
	SearchAll(ctx context.Context, searches []domain.Search) ([]domain.Answer, error)
	// Await returns when an answer, of a search or of any other read, is as new as a position of the
	// log. The error matches domain.ErrBehind if ctx ends first.
	Await(ctx context.Context, tenant string, position int64, search bool) error
	// Status tells how each projection of the tenant does.
	Status(ctx context.Context, tenant string) ([]domain.ProjectionStatus, error)
}

// Historian answers questions about the past.
type Historian interface {
	// Stream returns every event of a stream, oldest first; none if there is no such stream.
	Stream(ctx context.Context, tenant, stream string) ([]domain.Event, error)
	// Find returns a page of the tenant's log and where the following page begins
	// (domain.EventQuery.After), 0 at the end.
	Find(ctx context.Context, query domain.EventQuery) (events []domain.Event, next int64, err error)
	// Resolve returns the position of a log at a moment of the past, or a refusal that names the
	// field as_of if there was none.
	Resolve(ctx context.Context, tenant string, at domain.AsOf) (domain.AsOf, error)
	// Causes returns, by id, the events with these ids, those that caused them, and so on back to
	// where it began; what no event of the tenant is called is left out.
	Causes(ctx context.Context, tenant string, ids []string) (map[string]domain.Event, error)
	// Head is the newest position of the tenant's log, and the id of the event there.
	Head(ctx context.Context, tenant string) (position int64, eventID string, err error)
	// PositionOf is where in the log an event is, or a refusal that matches domain.ErrMalformed.
	PositionOf(ctx context.Context, tenant, eventID string) (int64, error)
	// Watch tells when the tenant's log may have grown; take it before reading, and call leave when
	// done.
	Watch(tenant string) (grown <-chan struct{}, leave func())
	// Names lists the names under which facts are recorded.
	Names() []string
}

// Rebuilder computes projections anew from the log, beside the version that is read. A name that it
// does not know gives an error that matches domain.ErrNotFound.
type Rebuilder interface {
	// Plan tells what a rebuild would take.
	Plan(ctx context.Context, name string, order domain.RebuildOrder) (domain.RebuildPlan, error)
	// Start begins a rebuild and returns at once. The error matches domain.ErrConflict if one is
	// running, and is a domain.Invalid if the order names what there is not.
	Start(ctx context.Context, name string, order domain.RebuildOrder) (domain.Rebuild, error)
	// Last is the rebuild that is running, or what became of the last one; the error matches
	// domain.ErrNotFound if there was none.
	Last(ctx context.Context, name string) (domain.Rebuild, error)
	// Cancel gives the running rebuild up and tells what became of it; the error matches
	// domain.ErrNotFound if there is none.
	Cancel(ctx context.Context, name string) (domain.Rebuild, error)
	// Rollback lets readers read the version that was active before, unless a repair has replaced it; the error matches
	// domain.ErrNotFound if none is kept.
	Rollback(ctx context.Context, name string) error
	// Retire gives the way back up; the error matches domain.ErrNotFound if there is none.
	Retire(ctx context.Context, name string) error
}

// Prover proves that the log is what it was.
type Prover interface {
	// Key is the public key that checkpoints are verified with.
	Key() string
	// Checkpoint is a signed checkpoint of a tenant's log, at most a moment old.
	Checkpoint(ctx context.Context, tenant string) (domain.Checkpoint, error)
	// Entry looks an event up; the error matches domain.ErrNotFound if there is none.
	Entry(ctx context.Context, tenant, eventID string) (domain.Entry, error)
	// Inclusion proves that an event is in the log that a checkpoint describes.
	Inclusion(ctx context.Context, tenant string, entry domain.Entry) (domain.Inclusion, error)
	// Consistency proves that the log with to events begins with the log that had from; 0 means
	// what the newest checkpoint has.
	Consistency(ctx context.Context, tenant string, from, to int64) (domain.Consistency, error)
	// Export writes a tenant's records as they are stored, and at the end what proves them.
	Export(ctx context.Context, export domain.Export, out io.Writer) error
	// Status tells how far the proof has come.
	Status(ctx context.Context, tenant string) (domain.ProjectionStatus, error)
}

// Probe is one condition of readiness.
type Probe struct {
	Name  string                      // such as "database"
	Check func(context.Context) error // nil when all is well; the text is shown to the caller
	// Beside says that the server is ready without it, and only does less.
	Beside bool
}
