package http

import (
	"context"
	"io"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

// Reader answers questions about the present.
type Reader interface {
	// Find returns the item, even if it is deleted or erased. The error matches domain.ErrNotFound if there is none.
	// The caller decides who may see it.
	Find(ctx context.Context, tenant, id string) (*domain.Knowledge, error)
	// Items returns items by their ids, as Find does. It leaves out those that cannot be read.
	Items(ctx context.Context, tenant string, ids []string) (map[string]*domain.Knowledge, error)
	// Feedback returns the newest 50 votes on an item.
	Feedback(ctx context.Context, tenant, id string) (domain.Feedback, error)
	// AsOf returns an item as it was at a position of the log, with all of its votes. An item that was not yet
	// remembered does not exist. The caller decides who may see it, by its present state.
	AsOf(ctx context.Context, tenant, id string, position int64) (*domain.Knowledge, error)
	// List returns the items that its principal may see, newest first.
	List(ctx context.Context, list domain.List) (domain.ListPage, error)
	// Count counts the items that a principal may see and that pass a filter.
	Count(ctx context.Context, by domain.Principal, filter domain.Filter) (domain.Counts, error)
	// Search finds by meaning and by words. The search is complete (domain.Search.Complete).
	Search(ctx context.Context, search domain.Search) (domain.Answer, error)
	// SearchAll answers several searches of the present, in order. It embeds equal texts once.
	SearchAll(ctx context.Context, searches []domain.Search) ([]domain.Answer, error)
	// Live returns, by id, those of some items that are live and visible to a principal.
	Live(ctx context.Context, by domain.Principal, ids []string) (map[string]*domain.Knowledge, error)
	// Dispute sets by which items others are disputed, as far as a principal may see these.
	Dispute(ctx context.Context, by domain.Principal, items ...*domain.Knowledge) error
	// Similar finds items that equal, contradict or resemble an item, where its audience and the caller may read.
	Similar(ctx context.Context, by domain.Principal, item *domain.Knowledge) ([]domain.SimilarItem, error)
	// Await returns when an answer, of a search or of any other read, is as new as a position of the
	// log. The error matches domain.ErrBehind if ctx ends first.
	Await(ctx context.Context, tenant string, position int64, search bool) error
	// Status returns the state of each projection of the tenant.
	Status(ctx context.Context, tenant string) ([]domain.ProjectionStatus, error)
}

// Historian reads the log.
type Historian interface {
	// Stream returns every event of a stream, oldest first; none if there is no such stream.
	Stream(ctx context.Context, tenant, stream string) ([]domain.Event, error)
	// Head is the newest position of the tenant's log, and the id of the event there.
	Head(ctx context.Context, tenant string) (position int64, eventID string, err error)
	// Watch signals when the tenant's log may have grown. Call it before reading, and call leave when done.
	Watch(tenant string) (grown <-chan struct{}, leave func())
}

// Finder finds events by what they are about, and by time.
type Finder interface {
	// Find returns a page of the log and where the following page begins (domain.EventQuery.After), 0 at the end.
	Find(ctx context.Context, query domain.EventQuery) (events []domain.Event, next int64, err error)
	// Histogram counts selected events in buckets of equal time, of the whole log without From and To. It ignores Words.
	Histogram(ctx context.Context, query domain.EventQuery, buckets int) (domain.EventHistogram, error)
	// Resolve returns the position of a log at a time in the past, or a refusal that names the field as_of.
	Resolve(ctx context.Context, tenant string, at domain.AsOf) (domain.AsOf, error)
	// Causes returns, by id, the events with these ids, their causes, the causes of those, and so on, if they exist.
	Causes(ctx context.Context, tenant string, ids []string) (map[string]domain.Event, error)
}

// Subscriptions delivers events to subscribers.
type Subscriptions interface {
	// Find is a subscription of a tenant. The error matches domain.ErrNotFound if there is none.
	Find(ctx context.Context, tenant, id string) (domain.Subscribed, error)
	// List lists the subscriptions of a tenant, or of one subscriber, oldest first.
	List(ctx context.Context, tenant string, of domain.Entity) ([]domain.Subscribed, error)
	// Choose are those of some events that a subscription delivers to p, as p may read them now. It reads the items that
	// it is not given.
	Choose(
		ctx context.Context, p domain.Principal, to domain.Subscribed, from []domain.Event,
		items map[string]*domain.Knowledge,
	) ([]domain.Event, error)
	// CheckURL describes why nothing is posted to a URL; empty if it can be tried.
	CheckURL(address string) string
	// Secret makes a secret for a webhook, and keeps it. The one before it stays valid for the overlap.
	Secret(ctx context.Context, tenant, id string, overlap time.Duration) (secret string, err error)
	// Forget drops the secret and the pending deliveries of a subscription.
	Forget(ctx context.Context, tenant, id string) error
	// Ping posts an event without contents to a webhook now.
	Ping(ctx context.Context, tenant string, to domain.Subscribed) (domain.Pong, error)
	// Deliveries lists deliveries of a subscription.
	Deliveries(ctx context.Context, tenant, id string, q domain.DeliveryQuery) ([]domain.Delivery, error)
	// Counts are the numbers of a subscription's deliveries, by state.
	Counts(ctx context.Context, tenant, id string) (map[string]int64, error)
	// Replay makes deliveries again: that of an event, whatever its state, or all dead ones.
	Replay(ctx context.Context, tenant, id, eventID string) (replayed int64, err error)
	// Digest counts what happened in a scope, as far as the caller may read it.
	Digest(ctx context.Context, q domain.DigestQuery) (domain.ScopeDigest, error)
	// Resume lets pending deliveries be posted at once.
	Resume(ctx context.Context, tenant, id string) error
}

// Prover proves that the log was not changed.
type Prover interface {
	// Key is the public key that checkpoints are verified with.
	Key() string
	// Checkpoint is a recent signed checkpoint of a tenant's log.
	Checkpoint(ctx context.Context, tenant string) (domain.Checkpoint, error)
	// Entry looks an event up; the error matches domain.ErrNotFound if there is none.
	Entry(ctx context.Context, tenant, eventID string) (domain.Entry, error)
	// Inclusion proves that the log of a checkpoint contains an event.
	Inclusion(ctx context.Context, tenant string, entry domain.Entry) (domain.Inclusion, error)
	// Consistency proves that the log of to events begins with the log of from events; 0 means the size of the newest
	// checkpoint.
	Consistency(ctx context.Context, tenant string, from, to int64) (domain.Consistency, error)
	// Export writes a tenant's records as they are stored, and then their proof.
	Export(ctx context.Context, export domain.Export, out io.Writer) error
	// Status tells up to which position the proof has come.
	Status(ctx context.Context, tenant string) (domain.ProjectionStatus, error)
}

// Probe is one condition of readiness.
type Probe struct {
	Name  string                      // such as "database"
	Check func(context.Context) error // nil when all is well; the text is shown to the caller
	// Beside means that the server is ready without it, with fewer functions.
	Beside bool
}

// Model is a model that the server asks.
type Model struct {
	api.Model
	// Try asks a short text, and returns the length of its vector. Nil if there is nothing to ask.
	Try func(context.Context) (dims int, err error)
}

// Recorder records who was given which knowledge, and who was denied what.
type Recorder interface {
	// Wants tells whether this retrieval is to be recorded.
	Wants() bool
	// Record takes an access. It never blocks.
	Record(access domain.Access)
}

// Keyring finds the holders of keys, and tenants.
type Keyring interface {
	// Key finds a key by its prefix. The error matches domain.ErrNotFound if there is none.
	Key(ctx context.Context, prefix string) (tenant string, key domain.Key, err error)
	// Any tells whether a key was ever issued.
	Any(ctx context.Context) (bool, error)
	// Given lists the issued keys of a tenant.
	Given(ctx context.Context, tenant string) ([]domain.IssuedKey, error)
	// Used notes that a key was used.
	Used(tenant, prefix string, at time.Time)
	// Tenants lists the tenants by name.
	Tenants(ctx context.Context) ([]domain.NamedTenant, error)
	// HasTenant tells whether a tenant of this name exists.
	HasTenant(ctx context.Context, name string) (bool, error)
	// Lives tells whether a tenant of this name exists and was not erased.
	Lives(ctx context.Context, tenant string) (bool, error)
}

// Tokens finds the holders of an issuer's tokens.
type Tokens interface {
	// Principal is the holder of the token. The error matches domain.ErrUnauthenticated if the token is not valid.
	Principal(ctx context.Context, token string) (domain.Principal, error)
}

// Eraser plans erasures and reports on them.
type Eraser interface {
	// Lineage lists the items that an item is derived from, and those that are derived from it.
	Lineage(ctx context.Context, tenant, id string) ([]domain.LineageRelation, error)
	// Doomed lists what an order would erase, and what is related to it.
	Doomed(ctx context.Context, tenant, of string, lineage domain.LineageMode) ([]domain.ErasureTarget, error)
	// Begin starts to carry out ordered erasures at once.
	Begin()
	// Access are the prefixes of the keys, and the memberships, that an order would end.
	Access(ctx context.Context, tenant, of string) (keys []string, groups []domain.Entity, err error)
	// Erasure is an order with its progress. The error matches domain.ErrNotFound if there is none.
	Erasure(ctx context.Context, tenant, id string) (domain.ErasureProgress, error)
	// OrderedBy tells whether p ordered an erasure, as itself or on behalf of the same subject as now.
	OrderedBy(ctx context.Context, p domain.Principal, id string) (bool, error)
	// Erasures reports the erasures of p's tenant, and whether files still hold erased text. For an operator, the
	// files are those of all tenants.
	Erasures(ctx context.Context, p domain.Principal) (domain.ErasureStatus, error)
	// PurgeFiles rewrites the files without the erased text.
	PurgeFiles(ctx context.Context) (domain.Purge, error)
}

// Reporter reports on the quality and the use of knowledge.
type Reporter interface {
	// Harm ranks items by the votes against them.
	Harm(ctx context.Context, q domain.ReportQuery) ([]domain.ReportItem, error)
	// Stale ranks items by the reports of staleness since they were last confirmed.
	Stale(ctx context.Context, q domain.ReportQuery) ([]domain.ReportItem, error)
	// Declining ranks items by the loss of their confidence.
	Declining(ctx context.Context, q domain.ReportQuery) ([]domain.ReportItem, error)
	// Health says how well the scopes are looked after, the largest first. It examines the newest 100,000 items.
	Health(ctx context.Context, q domain.ReportQuery) ([]domain.ScopeHealth, error)
	// Review lists the items that wait for a review.
	Review(ctx context.Context, q domain.ReviewQuery) (domain.ReviewPage, error)
	// OpenProposals are the ids of the open proposals that are about no other items than these.
	OpenProposals(ctx context.Context, tenant string, items []string) ([]string, error)
	// Accesses lists who was given an item or found it helpful, or what was denied, newest first.
	Accesses(ctx context.Context, q domain.AccessQuery) ([]domain.Usage, error)
}

// Verification tells by which policies items are verified, and who confirmed them.
type Verification interface {
	// Policies are the policies of a tenant, as they were a second ago or later.
	Policies(ctx context.Context, tenant string) (domain.Verification, error)
	// Forget lets the next question read the policies of a tenant again.
	Forget(tenant string)
	// ConfirmedBy is who confirmed items last, by their ids, and whether as the verifier.
	ConfirmedBy(ctx context.Context, tenant string, ids []string) (map[string]domain.Verified, error)
}
