package domain

import (
	"encoding/json"
	"slices"
	"time"
)

// Command is a request to change one thing. A command is decided under the tenant's
// lock, so its decision sees everything decided before it.
type Command interface {
	// Stream is the stream of what the facts will be about, such as "knowledge:ID".
	Stream() string
	// Reads names what Decide will look up besides that.
	Reads() Reads
	// Decide answers with what follows: facts to record, none if nothing changes, or a
	// refusal. It has no side effects; now is the time of recording.
	Decide(dc DecisionContext, now time.Time) ([]Fact, error)
}

// Reads says what a decision needs to know. What the command is about is always there. Voices, votes and
// reports are those of the command's own item.
type Reads struct {
	Items   []string    // ids of other items
	URIs    []string    // whose holders matter
	Ballots []BallotKey // votes found by ballot
	Votes   []string    // votes of the item found by event id
	Reports bool        // the item's reports of staleness
	Streams []string    // what other streams have come to, of things other than knowledge
}

// BallotKey finds one vote of a voter on the command's item, and the voter's other votes since a time.
type BallotKey struct {
	Voter Entity
	Key   string    // see [BallotOf]
	Since time.Time // zero for no others
}

// DecisionContext is what a decision may look up.
type DecisionContext interface {
	ItemReader
	// Stream is a stream of something other than knowledge, as it is by now. One that Reads did
	// not name costs a look-up of its own.
	Stream(name string) Stream
	LogReader
}

// LogReader is the part of a book that few decisions need: each answer costs a look-up of its own.
type LogReader interface {
	// TextsOf are the texts of a stream that are there, the oldest first.
	TextsOf(stream string) []RecordedText
	// NewestFact is a stream's newest fact of this name, of those whose actor was authenticated like that unless that
	// is empty; nil if there is none.
	NewestFact(stream, name, authentication string) Fact
	// ItemsWithContent are the ids of the items into which this content was written after a position, the oldest first.
	// There may be others among them, and they may say something else by now.
	ItemsWithContent(content string, after int64) []string
	// Head is the newest position of the log.
	Head() int64
}

// RecordedText is a text beside an event.
type RecordedText struct {
	EventID  string
	Position int64
	Name     string
	Text     json.RawMessage
	Instead  []string // ids of the events that it is read for, if the event is a redaction
}

// ItemReader are the part of a book that is about knowledge.
type ItemReader interface {
	// Knowledge is the item's state, never nil; it does not exist if nothing was remembered. One that Reads
	// did not name costs a look-up of its own.
	Knowledge(id string) *Knowledge
	// Holder is the id of the live item with this URI, or empty. A URI that Reads did not
	// name costs a look-up of its own.
	Holder(uri string) string
}

// Target is the item a command is about, and who asks.
type Target struct {
	By        Principal
	ID        string
	Revisions []int64 // of which one is expected (If-Match); nil for any
}

// Stream implements [Command].
func (t Target) Stream() string { return KnowledgeStream(t.ID) }

// Reads implements [Command]: nothing but the item.
func (t Target) Reads() Reads { return Reads{} }

// visible finds the item if the caller may see it and it is not gone.
func (t Target) visible(dc DecisionContext) (*Knowledge, error) {
	k := dc.Knowledge(t.ID)
	if !t.By.MaySee(k) {
		return nil, NotFound(t.ID)
	}
	return k, Gone(k)
}

// usable finds an item that the caller may judge, in the revision expected. Every principal that may read
// an item may vote and report, except auditors, who change nothing.
func (t Target) usable(dc DecisionContext) (*Knowledge, error) {
	k, err := t.visible(dc)
	if err != nil {
		return nil, err
	}
	if t.By.Role == Auditor {
		return nil, errAuditor()
	}
	return k, t.expected(k)
}

func errAuditor() error {
	return Refuse(ErrForbidden, "auditors change nothing").WithFix("ask an admin, or use a key of another role")
}

// changeable finds the item if the caller may change it, in the revision expected.
func (t Target) changeable(dc DecisionContext) (*Knowledge, error) {
	k, err := t.visible(dc)
	if err != nil {
		return nil, err
	}
	return k, t.permitted(k)
}

// permitted refuses changes to those who do not own k, and in another revision than expected.
func (t Target) permitted(k *Knowledge) error {
	if t.By.Role == Auditor {
		return errAuditor()
	}
	if !t.By.MayChange(k) {
		return Refuse(ErrForbidden, "%s belongs to %s", k.ID, k.Owner).
			WithFix("ask its owner or an admin")
	}
	return t.expected(k)
}

func (t Target) expected(k *Knowledge) error {
	if t.Revisions == nil || slices.Contains(t.Revisions, k.Revision) {
		return nil
	}
	const again = "read it again and decide anew"
	switch len(t.Revisions) {
	case 0: // no tag named one
		return Refuse(ErrPrecondition, "%s is at revision %d", k.ID, k.Revision).
			WithFix("send the ETag as it came: a weak one never matches")
	case 1:
		return Refuse(ErrPrecondition, "%s is at revision %d, not %d", k.ID, k.Revision, t.Revisions[0]).WithFix(again)
	}
	return Refuse(ErrPrecondition, "%s is at revision %d", k.ID, k.Revision).WithFix(again)
}

// NotFound is the answer for what does not exist and for what may not be seen: always the same.
func NotFound(id string) error { return Refuse(ErrNotFound, "no knowledge with id %s", id) }

// Unprivileged is the refusal of what the database denies to the server's role, in the database's words.
func Unprivileged(denied string) *Refusal {
	return Refuse(ErrUnprivileged, "the database refuses it to the server's role: %s", denied).
		WithFix("let the owner of the tables run annals migrate --role ROLE, naming that role")
}

// Full is the refusal of what the database's disk has no room for; undone says what was not done, such as recorded.
func Full(undone string) *Refusal {
	return Refuse(ErrFull, "the database's disk is full, and nothing was %s", undone).
		WithFix("make room on that disk, then try again")
}

// ReadOnly is the refusal of what changes a database that takes no writes for now; undone says what was not done.
func ReadOnly(undone string) *Refusal {
	return Refuse(ErrUnavailable, "the database is read-only just now, and nothing was %s", undone)
}

// Gone is the refusal that a deleted or erased item answers with; nil while it is alive.
func Gone(k *Knowledge) error {
	switch k.Status {
	case IsDeleted:
		return Refuse(ErrDeleted, "%s was forgotten", k.ID).WithFix("restore it, or read its history")
	case IsErased:
		return Refuse(ErrErased, "%s was erased for good", k.ID)
	}
	return nil
}

var (
	_ Command = Remember{}
	_ Command = Revise{}
	_ Command = GiveFeedback{}
	_ Command = RetractFeedback{}
	_ Command = ReportStale{}
	_ Command = Confirm{}
	_ Command = Supersede{}
	_ Command = Delete{}
	_ Command = Restore{}
)
