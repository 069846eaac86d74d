package domain

import (
	"encoding/json"
	"slices"
	"time"
)

// SessionOpened began a session, or began it anew after it was deleted.
type SessionOpened struct {
	Owner Entity // whose session it is
	Agent string // the id of the agent that he talks to; empty if nobody said
}

// MessageAdded is something that was said in a session.
type MessageAdded struct {
	Number  int64 // among all that were ever said in the session: 1, 2, 3 …
	Role    string
	Tokens  int       // an estimate
	At      time.Time // when it was said, if the caller knows
	Message Message
}

// Message is what was said. All of it is text.
type Message struct {
	Parts []Part
	Peer  string // who the counterpart was; may be empty
	Turn  string // which messages belong together; may be empty
	Kind  string // the caller's own
}

// The types of parts.
const (
	PartText    = "text"
	PartContext = "context"
	PartTool    = "tool"
	PartImage   = "image_url"
)

// Part is a piece of a message: something that was written, a piece of context that was handed over, or
// the use of a tool.
type Part struct {
	Type             string
	Text             string
	URI              string // of a context or an image
	ContextType      string
	Abstract         string
	ToolID           string
	ToolName         string
	ToolURI          string
	SkillURI         string
	ToolInput        json.RawMessage // an object in compact form; nil for none
	ToolOutput       string
	ToolStatus       string // pending, running, completed or error
	DurationMS       float64
	PromptTokens     int
	CompletionTokens int
}

// ContextUsed says which contexts, and which skill, really helped in a session.
type ContextUsed struct {
	Contexts int // how many
	Skills   int
	URIs     []string
	Skill    *SkillUse // nil for none, or if it was erased
}

// Helped are the places of what helped, a skill's only if it did what it was to.
func (f ContextUsed) Helped() []string {
	if f.Skill == nil || !f.Skill.Success {
		return f.URIs
	}
	return append(slices.Clip(f.URIs), f.Skill.URI)
}

// SkillUse is a run of a skill.
type SkillUse struct {
	URI     string
	Input   string
	Output  string
	Success bool
}

// SessionCommitted put messages of a session into an archive, from which knowledge is to be extracted.
// The event's id is that of the task.
type SessionCommitted struct {
	Archive  int   // 1, 2, 3 … within the session
	First    int64 // number of the first message in it
	Last     int64 // of the last one
	Kept     int   // newer messages that stay with the session
	Tokens   int   // of those archived, an estimate
	Trigger  Trigger
	Audience []Scope // for whom is what is learned about work; what is learned about the owner is his own
}

// Messages are how many are in the archive.
func (f SessionCommitted) Messages() int { return int(f.Last - f.First + 1) }

// SessionExtracted says what was made of an archive. It is recorded before the items are: whoever is
// interrupted in between goes on with what it says.
type SessionExtracted struct {
	Task      string // id of the event of the archive's commit
	Archive   int
	Extractor string // such as "built-in 1" or "model gpt-x"
	Usage     ModelUsage
	Took      time.Duration
	Retry     int // 0 for the first attempt, else as it was asked for
	Lessons   []Lesson
	Summary   Summary
}

// Summary is what an archive is about, in short.
type Summary struct {
	Abstract string // a sentence
	Overview string // Markdown
}

// ModelUsage is what a language model has read and written.
type ModelUsage struct{ PromptTokens, CompletionTokens int }

// ExtractionFailed says that nothing could be made of an archive, and why.
type ExtractionFailed struct {
	Task     string
	Archive  int
	Attempts int
	Retry    int  // as in [SessionExtracted]
	Lost     bool // nothing is left of what was said: there is nothing to try again
	Reason   string
}

// ExtractionRequested asks to try an archive again of which nothing could be made.
type ExtractionRequested struct {
	Task    string
	Archive int
	Retry   int // 1, 2, 3 …
}

// SessionDeleted took a session out of every list. What was made of it stays.
type SessionDeleted struct{ Reason string }

// SessionErased destroyed what people wrote in a session, for good.
type SessionErased struct {
	ReasonCode  string
	LegalBasis  string
	RequestedBy string
	Ticket      string
	Events      []string // ids of the events that lost their text
}

// Name implements [Fact].
func (SessionOpened) Name() string       { return "session.opened" }
func (MessageAdded) Name() string        { return "session.message_added" }
func (ContextUsed) Name() string         { return "session.context_used" }
func (SessionCommitted) Name() string    { return "session.committed" }
func (SessionExtracted) Name() string    { return "session.extracted" }
func (ExtractionFailed) Name() string    { return "session.extraction_failed" }
func (ExtractionRequested) Name() string { return "session.extraction_requested" }
func (SessionDeleted) Name() string      { return "session.deleted" }
func (SessionErased) Name() string       { return "session.erased" }
