package follow

import "github.com/annals-kb/annals/domain"

// Page is the next piece of one tenant's log for one projection, in order and without a gap.
type Page struct {
	Tenant  string
	After   int64          // the position up to which the projection has read
	AfterID string         // the id of the event there; empty at 0
	Events  []domain.Event // 1 to 500; up to 5,000 with [Followers.AddWhole]

	followed   bool        // a follower read it, and delivers it again if the transaction is lost
	quarantine *quarantine // as of the reading of the page; nil for none
	unreadable error       // why its one event cannot be decoded
	erasures   *int64      // newest erasure before the reading; nil if the page is read in its own transaction
	late       bool        // it waited in quarantine: its events are before the checkpoint
}

// OrderChanges counts how often the projection had left the order of the log before the page was read: by a
// quarantine, a release or a reset. Work that remembers pages must compare it, since positions alone then mislead.
// counted is false if it is unknown.
func (p Page) OrderChanges() (turns int64, counted bool) {
	if p.quarantine == nil {
		return 0, false
	}
	return p.quarantine.changes, true
}

// Late tells whether the page waited in quarantine, so that its events are before the projection's checkpoint.
func (p Page) Late() bool { return p.late }

// Last is the newest event of the page.
func (p Page) Last() domain.Event { return p.Events[len(p.Events)-1] }

// halves splits the page in two.
func (p Page) halves() (first, second Page) {
	first, second = p, p
	middle := len(p.Events) / 2
	first.Events, second.Events = p.Events[:middle], p.Events[middle:]
	second.After, second.AfterID = first.Last().Position, first.Last().EventID
	return first, second
}
