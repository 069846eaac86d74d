package domain

import (
	"encoding/json"
	"slices"
	"time"
)

// SessionOpened began a session, or began a deleted one again.
type SessionOpened struct {
	Owner Entity `data:"owner"`           // whose session it is
	Agent string `data:"agent,omitempty"` // the id of the agent in the conversation; empty if unknown
}

// MessageAdded is one message of a session.
type MessageAdded struct {
	Number  int64     `data:"number"` // 1, 2, 3 … over the whole life of the session
	Role    string    `data:"role"`
	Tokens  int       `data:"tokens"`      // an estimate
	At      time.Time `data:"at,omitzero"` // when it was said, if the caller knows
	Message Message
}

// Message is the text of a message. All of it can be erased.
type Message struct {
	Parts []Part `text:"parts,omitempty"`
	Peer  string `text:"peer,omitempty"` // the other speaker; may be empty
	Turn  string `text:"turn,omitempty"` // the turn to which the message belongs; may be empty
	Kind  string `text:"kind,omitempty"` // chosen by the caller
}

// The types of parts.
const (
	PartText    = "text"
	PartContext = "context"
	PartTool    = "tool"
	PartImage   = "image_url"
)

// Part is a piece of a message: a text, a context, or the use of a tool.
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

// ContextUsed says which contexts, and which skill, helped in a session.
type ContextUsed struct {
	Contexts int       `data:"contexts"` // how many
	Skills   int       `data:"skills"`
	URIs     []string  `text:"contexts,omitempty"`
	Skill    *SkillUse `text:"skill,omitempty"` // nil for none, or if it was erased
}

// Helped are the URIs of what helped. A skill counts only if its run succeeded.
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

// SessionCommitted archived messages of a session for extraction. The event's id is the id of the task.
type SessionCommitted struct {
	Archive  int     `data:"archive"`        // 1, 2, 3 … within the session
	First    int64   `data:"first"`          // number of the first message in it
	Last     int64   `data:"last"`           // of the last one
	Kept     int     `data:"kept,omitempty"` // newer messages that stay in the session
	Tokens   int     `data:"tokens"`         // of those archived, an estimate
	Trigger  Trigger `data:"trigger,omitempty"`
	Audience []Scope `data:"audience"` // of lessons about work; lessons about the owner are for the owner alone
	// Learned is the audience of lessons about tools, skills, patterns and antipatterns; empty for Audience.
	Learned []Scope `data:"learned_for,omitempty"`
}

// Messages is the number of messages in the archive.
func (f SessionCommitted) Messages() int { return int(f.Last - f.First + 1) }

// SessionExtracted is the result of an extraction. It is recorded before the items: an interrupted process continues
// from it.
type SessionExtracted struct {
	Task      string        `data:"task"` // id of the event of the archive's commit
	Archive   int           `data:"archive"`
	Extractor string        `data:"extractor"` // such as "built-in 1" or "model gpt-x"
	Usage     ModelUsage    `data:"usage,omitzero"`
	Took      time.Duration `data:"seconds"`
	Retry     int           `data:"retry,omitempty"` // 0 for the first attempt, else the number of the requested retry
	Lessons   []Lesson      `data:"candidates,list" text:"candidates,omitempty"`
	Summary   Summary
}

// Summary is what an archive is about, in short.
type Summary struct {
	Abstract string `text:"abstract,omitempty"` // a sentence
	Overview string `text:"overview,omitempty"` // Markdown
}

// ModelUsage counts the tokens that a language model read and wrote.
type ModelUsage struct {
	PromptTokens     int `data:"prompt_tokens"`
	CompletionTokens int `data:"completion_tokens"`
}

// ExtractionFailed says that an extraction failed, and why.
type ExtractionFailed struct {
	Task     string `data:"task"`
	Archive  int    `data:"archive"`
	Attempts int    `data:"attempts"`
	Retry    int    `data:"retry,omitempty"` // as in [SessionExtracted]
	Lost     bool   `data:"lost,omitempty"`  // the texts of the archive are gone: a retry cannot succeed
	Reason   string `text:"reason,omitempty"`
}

// ExtractionRequested asks to retry a failed extraction.
type ExtractionRequested struct {
	Task    string `data:"task"`
	Archive int    `data:"archive"`
	Retry   int    `data:"retry"` // 1, 2, 3 …
}

// SessionDeleted removed a session from every list. The items made from it stay.
type SessionDeleted struct {
	Reason string `text:"reason,omitempty"`
}

// SessionErased destroyed the texts of a session for good.
type SessionErased struct {
	ReasonCode  string   `data:"reason_code"`
	LegalBasis  string   `data:"legal_basis,omitempty"`
	RequestedBy string   `data:"requested_by,omitempty"`
	Ticket      string   `data:"ticket,omitempty"`
	Events      []string `data:"events,list"` // ids of the events that lost their text
}

func (SessionOpened) Name() string       { return "session.opened" }
func (MessageAdded) Name() string        { return "session.message_added" }
func (ContextUsed) Name() string         { return "session.context_used" }
func (SessionCommitted) Name() string    { return "session.committed" }
func (SessionExtracted) Name() string    { return "session.extracted" }
func (ExtractionFailed) Name() string    { return "session.extraction_failed" }
func (ExtractionRequested) Name() string { return "session.extraction_requested" }
func (SessionDeleted) Name() string      { return "session.deleted" }
func (SessionErased) Name() string       { return "session.erased" }
