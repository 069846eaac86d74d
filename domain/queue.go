package domain

import "time"

// The queues of a review. An item may wait in several.
const (
	QueueStale          = "stale"           // reported stale since its last confirmation
	QueueExpired        = "expired"         // its confirmation has expired
	QueueContested      = "contested"       // see [Rating.Contested], without those of the queue contradiction
	QueueDivided        = "divided"         // at least two votes of each kind
	QueueLowConfidence  = "low_confidence"  // below [LowConfidence], with a vote against it
	QueueSupersededUsed = "superseded_used" // given to callers after it was superseded
	QueueDuplicate      = "duplicate"       // a proposal says that it says the same as another item
	QueueContradiction  = "contradiction"   // a proposal says that it contradicts another item

	QueueVerificationDue  = "verification_due"  // a verification policy asks for another confirmation
	QueueOwnerDeactivated = "owner_deactivated" // its owner is a member that was deactivated
	QueueProposed         = "proposed"          // it waits for the approval of a steward
	QueueUnused           = "unused"            // neither used nor confirmed for a year, where retrievals are recorded
)

// Queues are the names of all queues.
func Queues() []string {
	return []string{
		QueueStale, QueueExpired, QueueContested, QueueDivided, QueueLowConfidence, QueueSupersededUsed,
		QueueDuplicate, QueueContradiction, QueueVerificationDue, QueueOwnerDeactivated, QueueUnused,
		QueueProposed,
	}
}

// LowConfidence is the confidence below which an item with a vote against it waits for a review.
const LowConfidence = 0.3

// ReviewQuery asks which items wait for a review.
type ReviewQuery struct {
	Tenant string
	Only   *Principal // only items that it may see; nil for all
	Scope  Scope
	Owner  Entity
	Queue  string // empty for all
	Skip   int64
	Limit  int

	Assigned Entity     // only items that are assigned to it
	Mine     *Principal // only items that it owns, or that are assigned to it or to a group that it maintains
}

// ReviewPage is a page of items that wait for a review.
type ReviewPage struct {
	Items  []Review
	Total  int // of all pages
	Queues map[string]QueueLength

	ByAssignee, ByScope []ReviewLoad // of all pages, the longest first, at most [MostLoads]
}

// MostLoads is how many assignees and scopes a page of reviews counts.
const MostLoads = 20

// ReviewLoad is how many items wait for an assignee, or reach a scope.
type ReviewLoad struct {
	Of    Entity // empty for what is assigned to nobody
	Items int
	Since time.Time // the oldest reason of its items
}

// QueueLength is the number of items in a queue.
type QueueLength struct {
	Items int
	More  bool // there are more than were counted
}

// Review is an item that waits for a review, and why.
type Review struct {
	Item    *Knowledge
	Reasons []ReviewReason

	Assigned Assignment
	Uses     int       // in the last 90 days, where retrievals are recorded; at most 100 are counted
	Used     time.Time // the last time
	Pair     *ReviewPair
}

// ReviewPair is an open proposal to review an item together with others.
type ReviewPair struct {
	Proposal string // its id
	Kind     ProposalKind
	Score    float64
	Rule     string
	By       Entity       // who proposed it
	Reason   string       // empty if none was given, or if it was erased
	Items    []*Knowledge // the others, at most [MostMerged]
	All      []string     // the ids of all open proposals about these items; contradictions that share items are one
}

// ReviewReason is why an item is in a queue.
type ReviewReason struct {
	Queue string
	Since time.Time // of the first report or proposal, the expiry, the newest vote against it, the supersession, and so on
	Count int       // of reports, votes against it or proposals; 0 in other queues
	Text  string    // the newest reason of a report, or the id of the item that supersedes it
}
