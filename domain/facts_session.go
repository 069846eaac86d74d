package domain

import (
	"encoding/json"
	"slices"
	"time"
)

// SessionOpened began a session, or began it anew after it was deleted.
type SessionOpened struct {
	Owner Entity `data:"owner"`           // whose session it is
	Agent string `data:"agent,omitempty"` // the id of the agent in the conversation; empty if unknown
}

// MessageAdded is something that was said in a session.
type MessageAdded struct {
	Number  int64     `data:"number"` // among all that were ever said in the session: 1, 2, 3 …
	Role    string    `data:"role"`
	Tokens  int       `data:"tokens"`      // an estimate
	At      time.Time `data:"at,omitzero"` // when it was said, if the caller knows
	Message Message
}

// Message is what was said. All of it is text.
type Message struct {
	Parts []Part `text:"parts,omitempty"`
	Peer  string `text:"peer,omitempty"` // who the counterpart was; may be empty
	Turn  string `text:"turn,omitempty"` // which messages belong together; may be empty
	Kind  string `text:"kind,omitempty"` // the caller's own
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
	Type             string          `text:"type,omitempty"`
	Text             string          `text:"text,omitempty"`
	URI              string          `text:"uri,omitempty"` // of a context or an image
	ContextType      string          `text:"context_type,omitempty"`
	Abstract         string          `text:"abstract,omitempty"`
	ToolID           string          `text:"tool_id,omitempty"`
	ToolName         string          `text:"tool_name,omitempty"`
	ToolURI          string          `text:"tool_uri,omitempty"`
	SkillURI         string          `text:"skill_uri,omitempty"`
	ToolInput        json.RawMessage `text:"tool_input,omitempty"` // an object in compact form; nil for none
	ToolOutput       string          `text:"tool_output,omitempty"`
	ToolStatus       string          `text:"tool_status,omitempty"` // pending, running, completed or error
	DurationMS       float64         `text:"duration_ms,omitempty"`
	PromptTokens     int             `text:"prompt_tokens,omitempty"`
	CompletionTokens int             `text:"completion_tokens,omitempty"`
}

// ContextUsed says which contexts, and which skill, really helped in a session.
type ContextUsed struct {
	Contexts int       `data:"contexts"` // how many
	Skills   int       `data:"skills"`
	URIs     []string  `text:"contexts,omitempty"`
	Skill    *SkillUse `text:"skill,omitempty"` // nil for none, or if it was erased
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
	URI     string `text:"uri"`
	Input   string `text:"input,omitempty"`
	Output  string `text:"output,omitempty"`
	Success bool   `text:"success"`
}

// SessionCommitted put messages of a session into an archive, from which knowledge is to be extracted.
// The event's id is that of the task.
type SessionCommitted struct {
	Archive  int     `data:"archive"`        // 1, 2, 3 … within the session
	First    int64   `data:"first"`          // number of the first message in it
	Last     int64   `data:"last"`           // of the last one
	Kept     int     `data:"kept,omitempty"` // newer messages that stay with the session
	Tokens   int     `data:"tokens"`         // of those archived, an estimate
	Trigger  Trigger `data:"trigger,omitempty"`
	Audience []Scope `data:"audience"` // for whom is what is learned about work; what is learned about the owner is his own
}

// Messages are how many are in the archive.
func (f SessionCommitted) Messages() int { return int(f.Last - f.First + 1) }

// SessionExtracted says what was made of an archive. It is recorded before the items are: a process that is
// interrupted in between goes on with what it says.
type SessionExtracted struct {
	Task      string        `data:"task"` // id of the event of the archive's commit
	Archive   int           `data:"archive"`
	Extractor string        `data:"extractor"` // such as "built-in 1" or "model gpt-x"
	Usage     ModelUsage    `data:"usage,omitzero"`
	Took      time.Duration `data:"seconds"`
	Retry     int           `data:"retry,omitempty"` // 0 for the first attempt, else as it was asked for
	Lessons   []Lesson      `data:"candidates,list" text:"candidates,omitempty"`
	Summary   Summary
}

// Summary is what an archive is about, in short.
type Summary struct {
	Abstract string `text:"abstract,omitempty"` // a sentence
	Overview string `text:"overview,omitempty"` // Markdown
}

// ModelUsage is what a language model has read and written.
type ModelUsage struct {
	PromptTokens     int `data:"prompt_tokens"`
	CompletionTokens int `data:"completion_tokens"`
}

// ExtractionFailed says that nothing could be made of an archive, and why.
type ExtractionFailed struct {
	Task     string `data:"task"`
	Archive  int    `data:"archive"`
	Attempts int    `data:"attempts"`
	Retry    int    `data:"retry,omitempty"` // as in [SessionExtracted]
	Lost     bool   `data:"lost,omitempty"`  // nothing is left of what was said: there is nothing to try again
	Reason   string `text:"reason,omitempty"`
}

// ExtractionRequested asks to try an archive again of which nothing could be made.
type ExtractionRequested struct {
	Task    string `data:"task"`
	Archive int    `data:"archive"`
	Retry   int    `data:"retry"` // 1, 2, 3 …
}

// SessionDeleted took a session out of every list. What was made of it stays.
type SessionDeleted struct {
	Reason string `text:"reason,omitempty"`
}

// SessionErased destroyed what people wrote in a session, for good.
type SessionErased struct {
	ReasonCode  string   `data:"reason_code"`
	LegalBasis  string   `data:"legal_basis,omitempty"`
	RequestedBy string   `data:"requested_by,omitempty"`
	Ticket      string   `data:"ticket,omitempty"`
	Events      []string `data:"events,list"` // ids of the events that lost their text
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
