package viking

import (
	"context"
	"time"

	"github.com/annals-kb/annals/domain"
)

// Writer takes commands to the log.
type Writer interface {
	// Submit returns the receipt, or an error that matches one of domain's sentinels.
	Submit(ctx context.Context, submission domain.Submission) (domain.Receipt, error)
	// SubmitAll answers each submission, in order; one failure never spoils the others.
	SubmitAll(ctx context.Context, submissions []domain.Submission) []domain.Result
}

// Reader answers questions about the present.
type Reader interface {
	// Search finds by meaning and by words. The search is complete (domain.Search.Complete).
	Search(ctx context.Context, search domain.Search) (domain.Answer, error)
	// At is the live item with this URI, or a refusal that matches domain.ErrNotFound. The caller decides who
	// may see it.
	At(ctx context.Context, tenant string, uri domain.URI) (*domain.Knowledge, error)
	// Live are those of these items that are neither forgotten nor erased, and that the principal may see, by id.
	Live(ctx context.Context, by domain.Principal, ids []string) (map[string]*domain.Knowledge, error)
	// Places reads what lies directly in a directory, in the order of names, as far as its principal sees it.
	Places(ctx context.Context, directory domain.Directory) ([]domain.DirectoryEntry, error)
	// Below reads the items below a directory, in the order of URIs, as far as its principal sees them.
	Below(ctx context.Context, walk domain.Walk) ([]*domain.Knowledge, error)
	// Leaves reads where the items below a directory lie, and with contents what they say, in the order of URIs, as
	// far as its principal sees them: at most as many as the limit, and fewer where they say much. More tells whether
	// there are others.
	Leaves(ctx context.Context, walk domain.Walk, contents bool) (leaves []domain.Leaf, more bool, err error)
	// Began is when the tenant's log begins; zero if it is empty.
	Began(ctx context.Context, tenant string) (time.Time, error)
	// Memories tells of the use of every memory that the principal sees; of one category, unless that is empty.
	Memories(ctx context.Context, by domain.Principal, category domain.Category, each func(domain.MemoryUse)) error
	// Status tells how each projection of the tenant does.
	Status(ctx context.Context, tenant string) ([]domain.ProjectionStatus, error)
	// Await returns when an answer is as new as a position of the log. The error matches domain.ErrBehind if
	// ctx ends first.
	Await(ctx context.Context, tenant string, position int64, search bool) error
}

// Recorder keeps a log of who was given which knowledge.
type Recorder interface {
	// Wants tells whether this retrieval is to be recorded.
	Wants() bool
	// Record takes an access. It never waits.
	Record(access domain.Access)
}

// Keyring knows who was given keys.
type Keyring interface {
	// Any tells whether a key was ever issued.
	Any(ctx context.Context) (bool, error)
	// Given lists the keys of any tenant.
	Given(ctx context.Context, tenant string) ([]domain.IssuedKey, error)
	// Everywhere lists the keys of all tenants, by tenant.
	Everywhere(ctx context.Context) (map[string][]domain.IssuedKey, error)
	// Tenants lists the tenants there are, by name.
	Tenants(ctx context.Context) ([]domain.NamedTenant, error)
	// HasTenant tells whether there is a tenant of this name.
	HasTenant(ctx context.Context, name string) (bool, error)
}

// Eraser carries out what is ordered to be erased.
type Eraser interface {
	// Begin lets it be carried out at once. It never waits.
	Begin()
	// Doomed lists what an order would erase.
	Doomed(ctx context.Context, tenant, of string, lineage domain.LineageMode) ([]domain.ErasureTarget, error)
}

// Files keeps bytes that are no text.
type Files interface {
	// Keep keeps a file, and throws away uploads that have waited for too long.
	Keep(ctx context.Context, tenant string, file domain.File) error
	// File reads a file. The error matches domain.ErrNotFound if there is none.
	File(ctx context.Context, tenant, id string) (domain.File, error)
	// Drop throws a file away that no item has.
	Drop(ctx context.Context, tenant, id string) error
}

// Directories knows what a model said of directories.
type Directories interface {
	// Said is what was said of these directories of a tenant, of those of which something was. Who may hear it is
	// for the caller to decide.
	Said(ctx context.Context, tenant string, uris []domain.URI) (map[domain.URI]domain.DirectorySummary, error)
}

// Sessions answers questions about sessions, and about the tasks that their commits began.
type Sessions interface {
	// Find is a session of an owner; the error matches [domain.ErrNotFound] if there is none, or none to see.
	Find(ctx context.Context, by domain.Principal, owner domain.Entity, id string) (domain.Stream, domain.Session, error)
	// List is up to limit of an owner's sessions, in the order of their ids, after one; those that were deleted and
	// not erased only if asked for.
	List(
		ctx context.Context, by domain.Principal, owner domain.Entity, after string, limit int, deleted bool,
	) (list []domain.Stream, more bool, err error)
	// Messages are those that are in no archive yet.
	Messages(ctx context.Context, tenant string, stream domain.Stream) ([]domain.Event, error)
	// Archive is one of a session's archives; the error matches [domain.ErrNotFound] if it has none of this number.
	Archive(ctx context.Context, tenant string, stream domain.Stream, number int) (domain.SessionArchive, error)
	// Summaries are what was made of a session's archives, the newest first.
	Summaries(ctx context.Context, tenant string, stream domain.Stream, limit int) ([]domain.SessionExtracted, error)
	// Task is an extraction; the error matches [domain.ErrNotFound] if there is none, or none to see.
	Task(ctx context.Context, by domain.Principal, id string) (domain.Task, error)
	// Tasks lists extractions, the newest first.
	Tasks(ctx context.Context, q domain.TaskQuery) ([]domain.Task, error)
	// AwaitExtraction returns when everything that was committed up to a position is done.
	AwaitExtraction(ctx context.Context, tenant string, position int64) error
}
