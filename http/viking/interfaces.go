package viking

import (
	"context"
	"time"

	"github.com/annals-kb/annals/domain"
)

// Writer writes commands to the log.
type Writer interface {
	// Submit returns the receipt, or an error that matches one of domain's sentinels.
	Submit(ctx context.Context, submission domain.Submission) (domain.Receipt, error)
	// SubmitAll answers each submission, in order. A failed submission does not affect the others.
	SubmitAll(ctx context.Context, submissions []domain.Submission) []domain.Result
}

// Browser reads items and directories, and how memories are used.
type Browser interface {
	TreeReader
	MemoryReader
}

// Reader answers questions about the present.
type Reader interface {
	SearchReader
	IndexReader
}

// TreeReader reads items and directories.
type TreeReader interface {
	// At is the live item with this URI. The error matches domain.ErrNotFound if there is none. The caller decides
	// who may see it.
	At(ctx context.Context, tenant string, uri domain.URI) (*domain.Knowledge, error)
	// Live are, by id, those of these items that are live and visible to the principal.
	Live(ctx context.Context, by domain.Principal, ids []string) (map[string]*domain.Knowledge, error)
	// Places lists the direct contents of a directory that its principal may see, by name.
	Places(ctx context.Context, directory domain.Directory) ([]domain.DirectoryEntry, error)
	// Below reads the items below a directory that its principal may see, in the order of URIs.
	Below(ctx context.Context, walk domain.Walk) ([]*domain.Knowledge, error)
	// Leaves reads the URIs of the items below a directory that its principal may see, in the order of URIs, and with
	// contents their contents. It returns at most the limit, and fewer if the contents are long. More tells whether
	// others follow.
	Leaves(ctx context.Context, walk domain.Walk, contents bool) (leaves []domain.Leaf, more bool, err error)
	// Dispute sets by which items others are disputed, as far as a principal may see these. It also hides their
	// references to what the principal may not see.
	Dispute(ctx context.Context, by domain.Principal, items ...*domain.Knowledge) error
	// Began is the time of the first event of the tenant; zero if there is none.
	Began(ctx context.Context, tenant string) (time.Time, error)
}

// SearchReader finds items.
type SearchReader interface {
	// Search finds by meaning and by words. The search is complete (domain.Search.Complete).
	Search(ctx context.Context, search domain.Search) (domain.Answer, error)
}

// IndexReader tells how far the projections of a tenant are.
type IndexReader interface {
	// Status returns the state of each projection of the tenant.
	Status(ctx context.Context, tenant string) ([]domain.ProjectionStatus, error)
	// Await returns when an answer is as new as a position of the log. The error matches domain.ErrBehind if
	// ctx ends first.
	Await(ctx context.Context, tenant string, position int64, search bool) error
}

// MemoryReader reads how memories are used.
type MemoryReader interface {
	// Memories calls each with the use of every memory of a category that the principal may see. An empty category
	// means all.
	Memories(ctx context.Context, by domain.Principal, category domain.Category, each func(domain.MemoryUse)) error
}

// Members lists members of a kind after a member.
type Members func(
	ctx context.Context, tenant, kind string, after domain.Entity, limit int,
) ([]domain.DirectoryMember, error)

// Recorder records who was given which knowledge.
type Recorder interface {
	// Give records an answer, and returns the id of its receipt: empty if there is none. It never blocks.
	Give(given domain.Given) (receipt string)
}

// Keyring lists keys and tenants.
type Keyring interface {
	// Any tells whether a key was ever issued.
	Any(ctx context.Context) (bool, error)
	// Issued lists the issued keys of a tenant.
	Issued(ctx context.Context, tenant string) ([]domain.IssuedKey, error)
	// Everywhere lists the keys of all tenants and the users of their directories, by tenant.
	Everywhere(ctx context.Context) (map[string][]domain.IssuedKey, map[string][]domain.MemberEntry, error)
	// Tenants lists the tenants by name.
	Tenants(ctx context.Context) ([]domain.NamedTenant, error)
	// HasTenant tells whether a tenant of this name exists.
	HasTenant(ctx context.Context, name string) (bool, error)
}

// Eraser carries out erasure orders.
type Eraser interface {
	// Begin starts to carry out orders. It never blocks.
	Begin()
	// Doomed lists what an order would erase.
	Doomed(ctx context.Context, tenant, of string, lineage domain.LineageMode) ([]domain.ErasureTarget, error)
}

// Files stores files that are not text.
type Files interface {
	// Keep stores a file, and deletes uploads that were not used in time.
	Keep(ctx context.Context, tenant string, file domain.File) error
	// File reads a file. The error matches domain.ErrNotFound if there is none.
	File(ctx context.Context, tenant, id string) (domain.File, error)
	// Drop deletes a file that no item uses.
	Drop(ctx context.Context, tenant, id string) error
}

// Directories holds a model's summaries of directories.
type Directories interface {
	// Summaries returns the summaries of those of these directories that have one. The caller decides who may see them.
	Summaries(ctx context.Context, tenant string, uris []domain.URI) (map[domain.URI]domain.DirectorySummary, error)
}

// Sessions answers questions about sessions, and about the tasks that their commits start.
type Sessions interface {
	// Find is a session of an owner. The error matches [domain.ErrNotFound] if there is none that the principal may
	// see.
	Find(ctx context.Context, by domain.Principal, owner domain.Entity, id string) (domain.Stream, domain.Session, error)
	// List is up to limit sessions of an owner after an id, in the order of their ids. It includes deleted sessions
	// that were not erased only if asked for.
	List(
		ctx context.Context, by domain.Principal, owner domain.Entity, after string, limit int, deleted bool,
	) (list []domain.Stream, more bool, err error)
	// Messages are the messages that no archive has yet.
	Messages(ctx context.Context, tenant string, stream domain.Stream) ([]domain.Event, error)
	// Archive is one of a session's archives. The error matches [domain.ErrNotFound] if there is none of this number.
	Archive(ctx context.Context, tenant string, stream domain.Stream, number int) (domain.SessionArchive, error)
	// Summaries are the summaries of a session's archives, newest first.
	Summaries(ctx context.Context, tenant string, stream domain.Stream, limit int) ([]domain.SessionExtracted, error)
	// Task is an extraction. The error matches [domain.ErrNotFound] if there is none that the principal may see.
	Task(ctx context.Context, by domain.Principal, id string) (domain.Task, error)
	// Tasks lists extractions, newest first.
	Tasks(ctx context.Context, q domain.TaskQuery) ([]domain.Task, error)
	// AwaitExtraction returns when everything that was committed up to a position is extracted.
	AwaitExtraction(ctx context.Context, tenant string, position int64) error
}
