package events

import (
	"encoding/json"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

type sessionOpenedData struct {
	Owner domain.Entity `json:"owner"`
	Agent string        `json:"agent,omitempty"`
}

func splitSessionOpened(f domain.SessionOpened) sessionOpenedData { return sessionOpenedData(f) }
func joinSessionOpened(d sessionOpenedData) domain.SessionOpened  { return domain.SessionOpened(d) }

type messageData struct {
	Number int64         `json:"number"`
	Role   string        `json:"role"`
	Tokens int           `json:"tokens"`
	At     database.Time `json:"at,omitzero"`
}

type messageText struct {
	Parts []partText `json:"parts,omitempty"`
	Peer  string     `json:"peer,omitempty"`
	Turn  string     `json:"turn,omitempty"`
	Kind  string     `json:"kind,omitempty"`
}

type partText struct {
	Type             string          `json:"type,omitempty"`
	Text             string          `json:"text,omitempty"`
	URI              string          `json:"uri,omitempty"`
	ContextType      string          `json:"context_type,omitempty"`
	Abstract         string          `json:"abstract,omitempty"`
	ToolID           string          `json:"tool_id,omitempty"`
	ToolName         string          `json:"tool_name,omitempty"`
	ToolURI          string          `json:"tool_uri,omitempty"`
	SkillURI         string          `json:"skill_uri,omitempty"`
	ToolInput        json.RawMessage `json:"tool_input,omitempty"`
	ToolOutput       string          `json:"tool_output,omitempty"`
	ToolStatus       string          `json:"tool_status,omitempty"`
	DurationMS       float64         `json:"duration_ms,omitempty"`
	PromptTokens     int             `json:"prompt_tokens,omitempty"`
	CompletionTokens int             `json:"completion_tokens,omitempty"`
}

func splitMessage(f domain.MessageAdded) (messageData, messageText) {
	text := messageText{Peer: f.Message.Peer, Turn: f.Message.Turn, Kind: f.Message.Kind}
	for _, part := range f.Message.Parts {
		text.Parts = append(text.Parts, partText(part))
	}
	return messageData{Number: f.Number, Role: f.Role, Tokens: f.Tokens, At: database.At(f.At)}, text
}

func joinMessage(d messageData, t messageText) domain.MessageAdded {
	f := domain.MessageAdded{
		Number: d.Number, Role: d.Role, Tokens: d.Tokens, At: d.At.Time,
		Message: domain.Message{Peer: t.Peer, Turn: t.Turn, Kind: t.Kind},
	}
	for _, part := range t.Parts {
		f.Message.Parts = append(f.Message.Parts, domain.Part(part))
	}
	return f
}

type usedData struct {
	Contexts int `json:"contexts"`
	Skills   int `json:"skills"`
}

type usedText struct {
	Contexts []string      `json:"contexts,omitempty"`
	Skill    *skillUseText `json:"skill,omitempty"`
}

type skillUseText struct {
	URI     string `json:"uri"`
	Input   string `json:"input,omitempty"`
	Output  string `json:"output,omitempty"`
	Success bool   `json:"success"`
}

func splitUsed(f domain.ContextUsed) (usedData, usedText) {
	return usedData{Contexts: f.Contexts, Skills: f.Skills}, usedText{Contexts: f.URIs, Skill: (*skillUseText)(f.Skill)}
}

func joinUsed(d usedData, t usedText) domain.ContextUsed {
	return domain.ContextUsed{Contexts: d.Contexts, Skills: d.Skills, URIs: t.Contexts, Skill: (*domain.SkillUse)(t.Skill)}
}

type committedData struct {
	Archive  int            `json:"archive"`
	First    int64          `json:"first"`
	Last     int64          `json:"last"`
	Kept     int            `json:"kept,omitempty"`
	Tokens   int            `json:"tokens"`
	Trigger  domain.Trigger `json:"trigger,omitempty"`
	Audience []domain.Scope `json:"audience"`
}

func splitCommitted(f domain.SessionCommitted) committedData { return committedData(f) }
func joinCommitted(d committedData) domain.SessionCommitted  { return domain.SessionCommitted(d) }

func splitSessionDeleted(f domain.SessionDeleted) (nothing, reasonText) {
	return nothing{}, reasonText(f)
}

func joinSessionDeleted(_ nothing, t reasonText) domain.SessionDeleted {
	return domain.SessionDeleted(t)
}

func splitSessionErased(f domain.SessionErased) erasedData { return splitErased(domain.Erased(f)) }
func joinSessionErased(d erasedData) domain.SessionErased  { return domain.SessionErased(d) }
