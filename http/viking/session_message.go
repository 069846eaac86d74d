package viking

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
)

// sentMessage is a message from a client.
type sentMessage struct {
	Role      string        `json:"role"`
	Content   *string       `json:"content"`
	Parts     []messagePart `json:"parts"`
	CreatedAt string        `json:"created_at"`
	Peer      string        `json:"peer_id"`
	Turn      string        `json:"turn_id"`
	Kind      string        `json:"message_kind"`
}

// messagePart is a part of a message, in requests and answers.
type messagePart struct {
	partFields
	ToolOutput flexible `json:"tool_output,omitempty"`
	Image      flexible `json:"image_url,omitempty"`
}

// partFields are the fields of a [domain.Part].
type partFields struct {
	Type             string          `json:"type"`
	Text             string          `json:"text,omitempty"`
	URI              string          `json:"uri,omitempty"`
	ContextType      string          `json:"context_type,omitempty"`
	Abstract         string          `json:"abstract,omitempty"`
	ToolID           string          `json:"tool_id,omitempty"`
	ToolName         string          `json:"tool_name,omitempty"`
	ToolURI          string          `json:"tool_uri,omitempty"`
	SkillURI         string          `json:"skill_uri,omitempty"`
	ToolInput        json.RawMessage `json:"tool_input,omitempty"`
	ToolOutput       string          `json:"-"`
	ToolStatus       string          `json:"tool_status,omitempty"`
	DurationMS       float64         `json:"duration_ms,omitempty"`
	PromptTokens     int             `json:"prompt_tokens,omitempty"`
	CompletionTokens int             `json:"completion_tokens,omitempty"`
}

// flexible is a string. Any other JSON value is kept as JSON.
type flexible string

func (f *flexible) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*f = flexible(s)
		return nil
	}
	var named struct {
		URL string `json:"url"`
	}
	if json.Unmarshal(raw, &named) == nil && named.URL != "" {
		*f = flexible(named.URL)
		return nil
	}
	*f = flexible(raw)
	return nil
}

func (p messagePart) domain() domain.Part {
	part := domain.Part(p.partFields)
	part.ToolOutput = string(p.ToolOutput)
	switch {
	case part.Type == "" && part.ToolName != "":
		part.Type = domain.PartTool
	case part.Type == "":
		part.Type = domain.PartText
	}
	if p.Image != "" {
		part.URI = string(p.Image)
	}
	if part.Type == domain.PartTool && part.ToolStatus == "" {
		part.ToolStatus = "pending"
	}
	if part.Type == domain.PartContext && part.ContextType == "" {
		part.ContextType = "memory"
	}
	return part
}

func partOf(p domain.Part) messagePart {
	part := messagePart{partFields: partFields(p), ToolOutput: flexible(p.ToolOutput)}
	if p.Type == domain.PartImage {
		part.URI, part.Image = "", flexible(p.URI)
	}
	return part
}

// domain converts the message for a command. Problems name fields with the prefix.
func (m sentMessage) domain(q *query, prefix string) domain.NewMessage {
	message := domain.NewMessage{Role: m.Role, Message: domain.Message{Peer: m.Peer, Turn: m.Turn, Kind: m.Kind}}
	if m.Content == nil && m.Parts == nil {
		q.found.Add(prefix+"content", "is required, or parts are")
	}
	for i, part := range m.Parts {
		unnamed := part.Image == "" && part.URI == "" || strings.HasPrefix(string(part.Image), "{")
		if part.Type == domain.PartImage && unnamed {
			q.found.Add(fmt.Sprintf("%sparts[%d].image_url", prefix, i), "must be a URL, or an object with a url")
		}
		message.Message.Parts = append(message.Message.Parts, part.domain())
	}
	if m.Parts == nil && m.Content != nil {
		message.Message.Parts = []domain.Part{{Type: domain.PartText, Text: *m.Content}}
	}
	for _, part := range message.Message.Parts {
		message.Tokens += tokensOf(part.Text) + tokensOf(part.Abstract) + tokensOf(part.ToolOutput) +
			tokensOf(string(part.ToolInput))
	}
	if m.CreatedAt != "" {
		at, _, err := domain.ParseTime(m.CreatedAt, time.Now().UTC())
		if err != nil {
			q.found.Add(prefix+"created_at", "must be a time, as in 2026-03-12T08:00:00Z")
		}
		message.At = at.UTC()
	}
	return message
}

// tokensOf estimates tokens like OpenViking's clients: at least 1.5 for a Chinese character.
func tokensOf(s string) int {
	const halves = 3
	han, rest := 0, strings.Builder{}
	for _, r := range s {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			han++
			continue
		}
		rest.WriteRune(r)
	}
	return (han*halves+1)/2 + text.Tokens(rest.String())
}

// received is the result of adding messages.
type received struct {
	ID       string `json:"session_id"`
	Messages int    `json:"message_count"`
	Added    int    `json:"added"`
	Newest   int64  `json:"newest_message"`
	Pending  int    `json:"pending_tokens"`
}

func (s sessions) addMessage(ctx context.Context, q *query) (any, error) {
	var in sentMessage
	if err := q.bind(&in); err != nil {
		return nil, err
	}
	added, err := s.appendMessages(ctx, q, 0, []domain.NewMessage{in.domain(q, "")})
	return added, fieldsOf(err, func(field string) string { return strings.TrimPrefix(field, "messages[0].") })
}

func (s sessions) addMessages(ctx context.Context, q *query) (any, error) {
	var in struct {
		Messages []sentMessage `json:"messages"`
		First    int64         `json:"first"`
	}
	if err := q.bind(&in); err != nil {
		return nil, err
	}
	messages := make([]domain.NewMessage, len(in.Messages))
	for i, m := range in.Messages {
		messages[i] = m.domain(q, fmt.Sprintf("messages[%d].", i))
	}
	return s.appendMessages(ctx, q, in.First, messages)
}

func (s sessions) appendMessages(
	ctx context.Context, q *query, first int64, messages []domain.NewMessage,
) (any, error) {
	if err := q.found.Err(); err != nil {
		return nil, err
	}
	target := q.session()
	receipt, err := s.editor.submitIdempotent(
		ctx, q, domain.AddMessages{SessionTarget: target, Agent: q.caller.agentID(), Messages: messages, First: first},
	)
	session, _ := receipt.Stream.State.(domain.Session)
	out := received{ID: target.ID, Messages: session.Live, Newest: session.Number, Pending: session.Tokens}
	for _, event := range receipt.Events {
		if _, is := event.Fact.(domain.MessageAdded); is {
			out.Added++
		}
	}
	return out, err
}

type used struct {
	ID       string `json:"session_id"`
	Contexts int    `json:"contexts_used"`
	Skills   int    `json:"skills_used"`
}

func (s sessions) useContexts(ctx context.Context, q *query) (any, error) {
	var in struct {
		Contexts []string `json:"contexts"`
		Skill    *struct {
			URI     string   `json:"uri"`
			Input   flexible `json:"input"`
			Output  flexible `json:"output"`
			Success bool     `json:"success"`
		} `json:"skill"`
	}
	if err := q.bind(&in); err != nil {
		return nil, err
	}
	command := domain.UseContexts{SessionTarget: q.session(), URIs: in.Contexts}
	if in.Skill != nil {
		command.Skill = &domain.SkillUse{
			URI: in.Skill.URI, Input: string(in.Skill.Input), Output: string(in.Skill.Output), Success: in.Skill.Success,
		}
	}
	receipt, err := s.editor.submitIdempotent(ctx, q, command)
	session, _ := receipt.Stream.State.(domain.Session)
	return used{ID: command.ID, Contexts: session.Contexts, Skills: session.Skills}, err
}
