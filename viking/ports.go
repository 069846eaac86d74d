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
	Places(ctx context.Context, directory domain.Directory) ([]domain.Place, error)
	// Below reads the items below a directory, in the order of URIs, as far as its principal sees them.
	Below(ctx context.Context, walk domain.Walk) ([]*domain.Knowledge, error)
	// Leaves reads where the items below a directory lie, and with contents what they say, in the order of URIs, as far as its
	// principal sees them: at most as many as the limit, and fewer where they say much. More tells whether there are others.
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
