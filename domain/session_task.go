package domain

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Extraction is the name under which the extraction of knowledge from sessions follows the log.
const Extraction = "extraction"

// Summaries is the name under which long items are summarised, as that of a projection.
const Summaries = "summaries"

// Directories is the name under which one process at a time summarises directories.
const Directories = "directories"

// SessionArchive is what was said in a session up to one of its commits.
type SessionArchive struct {
	Number    int
	Committed Event   // a [SessionCommitted]
	Messages  []Event // [MessageAdded] each, the oldest first; of erased ones the text is missing
	Outcome   *Event  // a [SessionExtracted] or an [ExtractionFailed]; nil if it is still to come
}

// ArchiveName is how an archive is called within its session.
func ArchiveName(number int) string { return fmt.Sprintf("archive_%03d", number) }

// ArchiveURI is where an archive lies.
func ArchiveURI(owner Entity, session string, number int) string {
	return SessionURI(owner, session) + "/history/" + ArchiveName(number)
}

// ArchiveItem is the id of the item that says what an archive of a session says.
func ArchiveItem(stream string, number int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", stream, number))
	return ArchivePrefix + hex.EncodeToString(sum[:12])
}

// What the items of archives have in common: how their ids begin, how long those are, and a tag under "category".
const (
	ArchivePrefix = "archive_"
	ArchiveLength = len(ArchivePrefix) + 24
	ArchiveTag    = "archive"
)

// IsArchive tells whether an item's id is that of an archive.
func IsArchive(id string) bool {
	return strings.HasPrefix(id, ArchivePrefix) && len(id) == ArchiveLength
}

// ArchiveItems are the ids of the items that say what a session's archives say, those of before a deletion, too.
// An archive that was not extracted yet has none.
func (s Session) ArchiveItems(stream string) []string {
	ids := make([]string, s.Archives)
	for i := range ids {
		ids[i] = ArchiveItem(stream, i+1)
	}
	return ids
}

// SessionURI is where a session lies: a user's among the sessions of users, an agent's in its own space.
func SessionURI(owner Entity, session string) string {
	if owner.Kind() == Agent {
		return string(URIOfNames(Agent, owner.ID(), "sessions", session))
	}
	return string(URIOfNames("session", owner.ID(), session))
}

// TaskStatus is how far a task has come.
type TaskStatus string

// The statuses of tasks.
const (
	TaskPending   TaskStatus = "pending"
	TaskRunning   TaskStatus = "running"
	TaskCompleted TaskStatus = "completed"
	TaskFailed    TaskStatus = "failed"
)

// Task is the extraction of an archive.
type Task struct {
	ID        string // of the event of the commit
	Session   string // the stream
	Archive   SessionCommitted
	Position  int64 // of the commit
	Status    TaskStatus
	CreatedAt time.Time
	UpdatedAt time.Time
	Extracted *SessionExtracted // when it is completed
	Failed    *ExtractionFailed // when it failed
	Helped    []Help            // since the commit before; of a task by itself, not of one in a list
}

// Help is that something is said to have helped in a session.
type Help struct {
	URI     string // where it lies, or a skill; as it was said
	EventID string // of who said it
}

// TaskQuery selects tasks, the newest first.
type TaskQuery struct {
	By      Principal // of sessions that it may see
	Session string    // the stream; empty for all
	Status  TaskStatus
	Limit   int
}

// Lesson is something that an extractor found in an archive, what is known that is like it, and what
// was decided.
type Lesson struct {
	Category   Category    `data:"category"`
	Polarity   Polarity    `data:"polarity,omitempty"`
	Sources    []string    `data:"sources"` // ids of the events of the messages that it was found in
	Neighbours []Neighbour `data:"neighbours,omitempty"`
	Decision   Decision    `data:"decision"`
	Item       string      `data:"item,omitempty"`   // id of the item that it became; empty if it became none
	Target     string      `data:"target,omitempty"` // id of the item that it restates, goes into or replaces; may be empty
	Scopes     []Scope     `data:"scopes,omitempty"` // of the item that it became, or restates; empty if it became none
	Text       LessonText
}

// LessonText is what people wrote about a lesson, or what was written by an extractor.
type LessonText struct {
	Key      string          `text:"key,omitempty"` // what it is about, such as "indentation" or the name of a tool; may be empty
	Task     string          `text:"task,omitempty"`
	Content  string          `text:"content,omitempty"`
	Abstract string          `text:"abstract,omitempty"`
	Overview string          `text:"overview,omitempty"`
	Tags     Tags            `text:"tags,omitempty"`
	Meta     json.RawMessage `text:"meta,omitempty"`
	URI      string          `text:"uri,omitempty"`    // where the item is to lie; empty for where it follows from the rest
	Reason   string          `text:"reason,omitempty"` // why it was decided so
}

// Neighbour is an item that says something like a lesson.
type Neighbour struct {
	ID    string  `data:"id"`
	Score float64 `data:"score"` // 0…1
}

// Decision is what becomes of a lesson.
type Decision string

// The decisions. Merged and superseded items stay in the record, with what took their place.
const (
	DecideCreate    Decision = "create"    // a new item
	DecideMerge     Decision = "merge"     // an item takes the target's place that says what both say
	DecideSupersede Decision = "supersede" // an item takes the target's place that says something else
	DecideVote      Decision = "vote"      // the target is said once more, which is a vote for it
	DecideSkip      Decision = "skip"      // it is known already, or worth nothing
)

// Decisions are all of them.
var Decisions = []Decision{DecideCreate, DecideMerge, DecideSupersede, DecideVote, DecideSkip}

// Trigger is why a session was committed.
type Trigger string

// The triggers.
const (
	TriggerStated     Trigger = "stated"     // the user said what is to be remembered
	TriggerTaskDone   Trigger = "task_done"  // a task was completed
	TriggerCompaction Trigger = "compaction" // messages were about to be compressed
	TriggerFeedback   Trigger = "feedback"   // a result was judged
	TriggerPeriodic   Trigger = "periodic"   // it was time
)

// Triggers are all of them.
var Triggers = []Trigger{TriggerStated, TriggerTaskDone, TriggerCompaction, TriggerFeedback, TriggerPeriodic}

// Immutable tells whether items of a category are never merged: what happened, happened so.
func (c Category) Immutable() bool {
	return c == CategoryEvents || c == CategoryCases || c == CategoryAntipatterns
}

// AboutUser tells whether items of a category are about the user and his own, rather than about work.
func (c Category) AboutUser() bool {
	switch c {
	case CategoryProfile, CategoryPreferences, CategoryEntities, CategoryEvents:
		return true
	}
	return false
}
