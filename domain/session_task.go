package domain

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Extraction is the name of the background projection that extracts knowledge from sessions.
const Extraction = "extraction"

// Summaries is the name of the background projection that summarises long items.
const Summaries = "summaries"

// Directories is the name of the lease of the process that summarises directories.
const Directories = "directories"

// SessionArchive is one archive of a session with its messages.
type SessionArchive struct {
	Number    int
	Committed Event   // a [SessionCommitted]
	Messages  []Event // [MessageAdded] each, the oldest first; of erased ones the text is missing
	Outcome   *Event  // a [SessionExtracted] or an [ExtractionFailed]; nil if pending
}

// ArchiveName is the name of an archive within its session.
func ArchiveName(number int) string { return fmt.Sprintf("archive_%03d", number) }

// ArchiveURI is the URI of an archive.
func ArchiveURI(owner Entity, session string, number int) string {
	return SessionURI(owner, session) + "/history/" + ArchiveName(number)
}

// ArchiveItem is the id of the item that contains an archive of a session.
func ArchiveItem(stream string, number int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", stream, number))
	return ArchivePrefix + hex.EncodeToString(sum[:12])
}

// Common to all items of archives: the prefix and the length of their ids, and a tag under "category".
const (
	ArchivePrefix = "archive_"
	ArchiveLength = len(ArchivePrefix) + 24
	ArchiveTag    = "archive"
)

// IsArchive tells whether an item's id is that of an archive.
func IsArchive(id string) bool {
	return strings.HasPrefix(id, ArchivePrefix) && len(id) == ArchiveLength
}

// ArchiveItems are the ids of the items of a session's archives, those from before a deletion included. An archive
// that was not extracted yet has no item.
func (s Session) ArchiveItems(stream string) []string {
	ids := make([]string, s.Archives)
	for i := range ids {
		ids[i] = ArchiveItem(stream, i+1)
	}
	return ids
}

// SessionURI is the URI of a session. A user's sessions share a directory; an agent's sessions are in its own space.
func SessionURI(owner Entity, session string) string {
	if owner.Kind() == Agent {
		return string(URIOfNames(Agent, owner.ID(), "sessions", session))
	}
	return string(URIOfNames("session", owner.ID(), session))
}

// TaskStatus is the progress of a task.
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
	Helped    []Help            // since the previous commit; only for a single task, not in a list
}

// Help says that something helped in a session.
type Help struct {
	URI     string // of a context or a skill, as reported
	EventID string // of the event that reported it
}

// TaskQuery selects tasks, the newest first.
type TaskQuery struct {
	By      Principal // only tasks of sessions that it may see
	Session string    // the stream; empty for all
	Status  TaskStatus
	Limit   int
}

// Lesson is a finding of an extractor in an archive, with similar items and the decision about it.
type Lesson struct {
	Category   Category    `data:"category"`
	Polarity   Polarity    `data:"polarity,omitempty"`
	Sources    []string    `data:"sources"` // ids of the message events that it was found in
	Neighbours []Neighbour `data:"neighbours,omitempty"`
	Doubts     []string    `data:"doubts,omitempty"` // ids of items that may no longer hold, for people to review
	Decision   Decision    `data:"decision"`
	Item       string      `data:"item,omitempty"`    // id of the item that it became; empty if none
	Target     string      `data:"target,omitempty"`  // id of the item that it repeats, extends or replaces; may be empty
	Scopes     []Scope     `data:"scopes,omitempty"`  // scopes of the item that it became or repeats; empty if none
	Private    string      `data:"private,omitempty"` // why this item is for the owner alone; empty if it is not
	Text       LessonText
}

// LearnedFor are the audiences that the lessons of a finished task reached, without the owner of the session.
func (t Task) LearnedFor() []Scope {
	owner, _, _ := SessionOf(t.Session)
	reached := []Scope{}
	if t.Extracted == nil {
		return reached
	}
	for _, lesson := range t.Extracted.Lessons {
		for _, scope := range lesson.Scopes {
			if scope != owner.Scope() && !slices.Contains(reached, scope) {
				reached = append(reached, scope)
			}
		}
	}
	return reached
}

// LessonText is the text of a lesson, written by people or by an extractor.
type LessonText struct {
	Key      string          `text:"key,omitempty"` // the topic, such as "indentation" or the name of a tool; may be empty
	Task     string          `text:"task,omitempty"`
	Content  string          `text:"content,omitempty"`
	Abstract string          `text:"abstract,omitempty"`
	Overview string          `text:"overview,omitempty"`
	Tags     Tags            `text:"tags,omitempty"`
	Meta     json.RawMessage `text:"meta,omitempty"`
	URI      string          `text:"uri,omitempty"`    // URI of the future item; empty to derive it
	Reason   string          `text:"reason,omitempty"` // why this decision was made
}

// Neighbour is an item that is similar to a lesson.
type Neighbour struct {
	ID    string  `data:"id"`
	Score float64 `data:"score"` // 0…1
}

// Decision says what happens to a lesson.
type Decision string

// The decisions. Merged and superseded items stay in the record, with what took their place.
const (
	DecideCreate    Decision = "create"    // a new item; a target is newer, and replaces it at once
	DecideMerge     Decision = "merge"     // a new item with both contents replaces the target
	DecideSupersede Decision = "supersede" // a new item with another content replaces the target
	DecideVote      Decision = "vote"      // the lesson repeats the target and counts as a vote for it
	DecideSkip      Decision = "skip"      // the lesson is known already, or not worth an item
)

// Decisions lists all decisions.
var Decisions = []Decision{DecideCreate, DecideMerge, DecideSupersede, DecideVote, DecideSkip}

// Trigger is why a session was committed.
type Trigger string

// The triggers.
const (
	TriggerStated     Trigger = "stated"     // the user asked to remember something
	TriggerTaskDone   Trigger = "task_done"  // a task was completed
	TriggerCompaction Trigger = "compaction" // messages were about to be compressed
	TriggerFeedback   Trigger = "feedback"   // a result was judged
	TriggerPeriodic   Trigger = "periodic"   // at regular intervals
)

// Triggers lists all triggers.
var Triggers = []Trigger{TriggerStated, TriggerTaskDone, TriggerCompaction, TriggerFeedback, TriggerPeriodic}

// Immutable tells whether items of a category are never merged, since they record past events.
func (c Category) Immutable() bool {
	return c == CategoryEvents || c == CategoryCases || c == CategoryAntipatterns
}

// IsLesson tells whether items of a category are lessons, which a tenant may share.
func (c Category) IsLesson() bool {
	return c != "" && c != CategoryCases && !c.AboutUser()
}

// AboutUser tells whether items of a category are about the user and the user's surroundings, not about work.
func (c Category) AboutUser() bool {
	switch c {
	case CategoryProfile, CategoryPreferences, CategoryEntities, CategoryEvents:
		return true
	}
	return false
}
