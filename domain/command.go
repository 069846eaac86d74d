package domain

import (
	"encoding/json"
	"slices"
	"time"
)

// Command is a request to change one thing. A command is decided under the tenant's
// lock, so its decision sees everything decided before it.
type Command interface {
	// Stream is the stream of the facts, such as "knowledge:ID".
	Stream() string
	// Reads names what Decide looks up besides that stream.
	Reads() Reads
	// Decide returns the facts to record, or a refusal; no facts if nothing changes. It has no side effects; now is
	// the time of recording.
	Decide(dc DecisionContext, now time.Time) ([]Fact, error)
}

// Reads names what a decision looks up. The command's own item or stream is always loaded, unless it is fresh. Voters
// and reports are those of the command's own item.
type Reads struct {
	Fresh   bool     // there is no item with the command's id
	Items   []string // ids of other items
	URIs    []string // look up the items that have these URIs
	Voters  []Entity // whose votes on the item are read
	VotesOf []string // ids of items all of whose votes are read
	Reports bool     // the item's reports of staleness
	Streams []string // the states of other streams that are not about knowledge
}

// DecisionContext is what a decision may look up.
type DecisionContext interface {
	ItemReader
	// Stream is the current state of a stream that is not about knowledge. If Reads did not name it, it costs one
	// more query.
	Stream(name string) Stream
	LogReader
}

// LogReader is the part of a [DecisionContext] that few decisions need. Each call costs a query.
type LogReader interface {
	// TextsOf are the remaining texts of a stream, the oldest first.
	TextsOf(stream string) []RecordedText
	// NewestFact is the newest fact of this name in a stream; nil if there is none. If authentication is not empty,
	// only facts of an actor that authenticated this way count.
	NewestFact(stream, name, authentication string) Fact
	// NewestID is the id of the newest event of a stream; empty if there is none.
	NewestID(stream string) string
	// OpenSubscriptions is how many subscriptions that have not ended an entity receives or made for others.
	OpenSubscriptions(of Entity) int
}

// RecordedText is the text of an event.
type RecordedText struct {
	EventID  string
	Position int64
	Name     string
	Text     json.RawMessage
	Instead  []string // if the event is a redaction: ids of the events whose text this one replaces
}

// ItemReader is the part of a [DecisionContext] about knowledge.
type ItemReader interface {
	// Knowledge is the state of an item, never nil. If Reads did not name the item, it costs one more query.
	Knowledge(id string) *Knowledge
	// Holder is the id of the live item with this URI, or empty. If Reads did not name the URI, it costs one more
	// query.
	Holder(uri string) string
	// ItemsSaying are the ids of the active items in any of the scopes that have the task and the content of a text. The
	// list may contain other items. Each call costs a query.
	ItemsSaying(text Text, scopes []Scope) []string
}

// Target is the item of a command, and its caller.
type Target struct {
	By        Principal
	ID        string
	Revisions []int64 // expected revisions (If-Match), of which the item must have one; nil for any
}

func (t Target) Stream() string { return KnowledgeStream(t.ID) }

// Reads implements [Command]: nothing but the item.
func (t Target) Reads() Reads { return Reads{} }

// visible finds the item if the caller may see it and it is neither deleted, erased nor quarantined.
func (t Target) visible(dc DecisionContext) (*Knowledge, error) {
	k := dc.Knowledge(t.ID)
	if !t.By.MaySee(k) {
		return nil, NotFound(t.ID)
	}
	if k.Status == IsQuarantined {
		return nil, contained(k)
	}
	return k, Gone(k)
}

// contained is the refusal to use or change a quarantined item.
func contained(k *Knowledge) error {
	return Refuse(ErrConflict, "%s is quarantined", k.ID).WithFix("release it first, supersede it, or erase it")
}

// usable finds an item that the caller may vote on or report, in an expected revision. Every principal that may read
// an item may do so, except auditors.
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

// changeable finds the item if the caller may change it, in an expected revision.
func (t Target) changeable(dc DecisionContext) (*Knowledge, error) {
	k, err := t.visible(dc)
	if err != nil {
		return nil, err
	}
	return k, t.permitted(k)
}

// permitted refuses callers that do not own k, and any revision that was not expected.
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

// NotFound is the refusal for an item that does not exist or that the caller may not see. Both read the same.
func NotFound(id string) error { return Refuse(ErrNotFound, "no knowledge with id %s", id) }

// Unprivileged is the refusal of an operation for which the server's database role lacks a privilege. denied is the
// database's message.
func Unprivileged(denied string) *Refusal {
	return Refuse(ErrUnprivileged, "the database refuses it to the server's role: %s", denied).
		WithFix("let the owner of the tables run annals migrate --role ROLE, naming that role")
}

// Full is the refusal of a write for which the database's disk has no space. undone is a participle, such as
// "recorded".
func Full(undone string) *Refusal {
	return Refuse(ErrFull, "the database's disk is full, and nothing was %s", undone).
		WithFix("make room on that disk, then try again")
}

// ReadOnly is the refusal of a write while the database accepts none. undone is a participle, such as "recorded".
func ReadOnly(undone string) *Refusal {
	return Refuse(ErrUnavailable, "the database is read-only just now, and nothing was %s", undone)
}

// Replaced is the refusal while a table of the database is missing.
func Replaced() *Refusal {
	return Refuse(ErrBusy, "a table of the database was replaced meanwhile, or is missing").
		WithFix("try again in a moment; annals doctor says what stays missing")
}

// Outdated is the refusal after a newer release has migrated the database.
func Outdated() *Refusal {
	return Refuse(ErrUnavailable, "a newer release has migrated the database, and this server is of an earlier one").
		WithFix("try again: a server of the newer release answers")
}

// Gone is the refusal for a deleted or erased item; nil if the item is alive.
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
