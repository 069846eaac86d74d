package domain

import "encoding/json"

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
	DecideVote      Decision = "vote"      // the target is said once more, which is a voice for it
	DecideSkip      Decision = "skip"      // it is known already, or worth nothing
)

// Decisions are all of them.
var Decisions = []Decision{DecideCreate, DecideMerge, DecideSupersede, DecideVote, DecideSkip}

// Trigger is what made somebody commit a session.
type Trigger string

// The triggers.
const (
	TriggerStated     Trigger = "stated"     // somebody said what is to be remembered
	TriggerTaskDone   Trigger = "task_done"  // a task was completed
	TriggerCompaction Trigger = "compaction" // messages were about to be compressed
	TriggerFeedback   Trigger = "feedback"   // somebody judged a result
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
