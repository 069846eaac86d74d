package http

import (
	"context"
	"io"
	"time"

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
	// Beside means that the server is ready without it, and only does less.
	Beside bool
}

// Recorder keeps a log of who was given which knowledge, and who was denied what.
type Recorder interface {
	// Wants tells whether this retrieval is to be recorded.
	Wants() bool
	// Record takes an access. It never waits.
	Record(access domain.Access)
}

// Keyring answers whose key it is.
type Keyring interface {
	// Key finds a key by its prefix. The error matches domain.ErrNotFound if there is none.
	Key(ctx context.Context, prefix string) (tenant string, key domain.Key, err error)
	// Any tells whether a key was ever issued.
	Any(ctx context.Context) (bool, error)
	// Given lists the keys of a tenant.
	Given(ctx context.Context, tenant string) ([]domain.IssuedKey, error)
	// Used notes that a key was used.
	Used(tenant, prefix string, at time.Time)
	// Tenants lists the tenants there are, by name.
	Tenants(ctx context.Context) ([]domain.NamedTenant, error)
	// HasTenant tells whether there is a tenant of this name.
	HasTenant(ctx context.Context, name string) (bool, error)
	// Lives tells whether there is a tenant of this name that was not erased.
	Lives(ctx context.Context, tenant string) (bool, error)
}

// Tokens answers whom an issuer of tokens has given one.
type Tokens interface {
	// Principal is the holder of the token. The error matches domain.ErrUnauthenticated if it is not to be
	// trusted.
	Principal(ctx context.Context, token string) (domain.Principal, error)
}

// Eraser knows what goes with an erasure.
type Eraser interface {
	// Lineage lists what an item goes back to, and what goes back to it.
	Lineage(ctx context.Context, tenant, id string) ([]domain.LineageRelation, error)
	// Doomed lists what an order would erase, and what is related to it.
	Doomed(ctx context.Context, tenant, of string, lineage domain.LineageMode) ([]domain.ErasureTarget, error)
	// Begin lets what was ordered be carried out at once.
	Begin()
	// Closing counts the keys that an order would revoke.
	Closing(ctx context.Context, tenant, of string) (keys int64, err error)
	// Erasure is an order, and how far it has come; the error matches domain.ErrNotFound if there is none.
	Erasure(ctx context.Context, tenant, id string) (domain.ErasureProgress, error)
	// OrderedBy tells whether p ordered an erasure, in person or for the same one as now.
	OrderedBy(ctx context.Context, p domain.Principal, id string) (bool, error)
	// Erasures tells what was erased of p's tenant, and whether files still hold some of it; to an operator of the
	// server, whether they do of any tenant.
	Erasures(ctx context.Context, p domain.Principal) (domain.ErasureStatus, error)
	// PurgeFiles rewrites the files, so that they hold nothing of what was erased.
	PurgeFiles(ctx context.Context) (domain.Purge, error)
}

// Background looks after the projections that follow the log. A name that it does not know gives an error
// that matches domain.ErrNotFound.
type Background interface {
	// Quarantined lists the streams that a projection passes over.
	Quarantined(ctx context.Context, name, tenant string) ([]domain.Quarantined, error)
	// Replay lets it take in what waits of one of them; the error matches domain.ErrNotFound if it is
	// none of them.
	Replay(ctx context.Context, name, tenant, stream string) (domain.Replayed, error)
	// Skip forgets what waits of one of them; the error matches domain.ErrNotFound if it is none of
	// them.
	Skip(ctx context.Context, name, tenant, stream string) (domain.Skipped, error)
	// ReplayAll lets a projection begin anew; the error matches domain.ErrConflict if it must not.
	ReplayAll(ctx context.Context, name, tenant string) error
}

// Reporter answers which knowledge stands out, and who used it.
type Reporter interface {
	// Harm ranks items by the voices against them.
	Harm(ctx context.Context, q domain.ReportQuery) ([]domain.ReportItem, error)
	// Stale ranks items by the reports of staleness since they were last confirmed.
	Stale(ctx context.Context, q domain.ReportQuery) ([]domain.ReportItem, error)
	// Declining ranks items by how far their confidence fell.
	Declining(ctx context.Context, q domain.ReportQuery) ([]domain.ReportItem, error)
	// Accesses lists who was given an item or found it helpful, or what was denied, the newest first.
	Accesses(ctx context.Context, q domain.AccessQuery) ([]domain.Usage, error)
}

// Scrubbing tells by which rules what people write is scrubbed.
type Scrubbing interface {
	// Scrubs tells whether anything is scrubbed here at all.
	Scrubs() bool
	// Rules are what a tenant changed about that.
	Rules(ctx context.Context, tenant string) (domain.Scrubbing, error)
}

// Recorded finds and redacts what is recorded already.
type Recorded interface {
	// Span turns moments, or positions, into positions; from is after to if nothing was recorded then.
	Span(ctx context.Context, tenant string, since, until domain.AsOf) (from, to int64, err error)
	// Recorded finds what the rules of today would have redacted, and tells through which position it looked.
	Recorded(ctx context.Context, tenant string, from, to int64) (found []domain.Detection, through int64, err error)
	// Redact redacts streams, each of which may fail alone. The submission has no command.
	Redact(ctx context.Context, s domain.Submission, streams []string, from, to int64) ([]domain.Redaction, error)
}

// Sessions answers questions about sessions, and about the tasks that their commits start.
type Sessions interface {
	// Find returns a session; the error matches domain.ErrNotFound if there is none that the principal may see.
	Find(ctx context.Context, by domain.Principal, owner domain.Entity, id string) (domain.Stream, domain.Session, error)
	// List returns up to limit sessions of an owner after an id, in the order of their ids.
	List(
		ctx context.Context, by domain.Principal, owner domain.Entity, after string, limit int, deleted bool,
	) (list []domain.Stream, more bool, err error)
	// Messages returns the messages that no archive has yet, oldest first.
	Messages(ctx context.Context, tenant string, stream domain.Stream) ([]domain.Event, error)
	// Task returns an extraction; the error matches domain.ErrNotFound if there is none that the principal may see.
	Task(ctx context.Context, by domain.Principal, id string) (domain.Task, error)
	// Tasks lists extractions, newest first.
	Tasks(ctx context.Context, q domain.TaskQuery) ([]domain.Task, error)
}
