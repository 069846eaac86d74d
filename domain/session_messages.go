package domain

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// The roles in which somebody speaks.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleSystem    = "system"
	RoleTool      = "tool"
)

var roles = []string{RoleUser, RoleAssistant, RoleSystem, RoleTool}

var partTypes = []string{PartText, PartContext, PartTool, PartImage}

// Limits of what a session takes at once.
const (
	MaxMessages = 100     // in one command
	maxMessage  = 1 << 20 // bytes of everything that is written in a message
	maxParts    = 1000    // of a message
)

// NewMessage is a message on its way into a session.
type NewMessage struct {
	Role    string
	Tokens  int // an estimate
	At      time.Time
	Message Message
}

// AddMessages asks to note what was said, in this order. A session that does not exist begins with it.
type AddMessages struct {
	SessionTarget
	Agent    string       // see [OpenSession]
	Messages []NewMessage // 1…[MaxMessages]
}

// Validate names every bad field at once.
func (c AddMessages) Validate() error {
	var p Problems
	c.check(&p)
	checkAgent(&p, c.Agent)
	if len(c.Messages) < 1 || len(c.Messages) > MaxMessages {
		p.Add("messages", "must be 1 to %d, are %d", MaxMessages, len(c.Messages))
	}
	for i, said := range c.Messages {
		said.check(&p, fmt.Sprintf("messages[%d].", i))
	}
	return p.Err()
}

func (m NewMessage) check(p *Problems, prefix string) {
	switch {
	case m.Role == "":
		p.Add(prefix+"role", "is required: user, assistant, system or tool")
	case !slices.Contains(roles, m.Role):
		p.Add(prefix+"role", "must be user, assistant, system or tool")
	}
	atMost(p, prefix+"peer_id", m.Message.Peer, maxName)
	atMost(p, prefix+"turn_id", m.Message.Turn, maxName)
	atMost(p, prefix+"message_kind", m.Message.Kind, maxName)
	if len(m.Message.Parts) > maxParts {
		p.Add(prefix+"parts", "must be at most %d, are %d", maxParts, len(m.Message.Parts))
	}
	bytes := 0
	for i, part := range m.Message.Parts {
		at := fmt.Sprintf("%sparts[%d]", prefix, i)
		if !slices.Contains(partTypes, part.Type) {
			p.Add(at+".type", "must be text, context, tool or image_url")
		}
		if part.DurationMS < 0 {
			p.Add(at+".duration_ms", "must not be negative")
		}
		if part.PromptTokens < 0 {
			p.Add(at+".prompt_tokens", "must not be negative")
		}
		if part.CompletionTokens < 0 {
			p.Add(at+".completion_tokens", "must not be negative")
		}
		if part.ToolInput != nil && !json.Valid(part.ToolInput) {
			p.Add(at+".tool_input", "must be JSON")
		}
		for _, s := range part.strings() {
			isValidText(p, at, *s)
			bytes += len(*s)
		}
		isValidText(p, at+".tool_input", string(part.ToolInput))
		if escapedNUL().Match(part.ToolInput) {
			p.Add(at+".tool_input", "must not contain NUL characters")
		}
		bytes += len(part.ToolInput)
	}
	if bytes > maxMessage {
		p.Add(prefix+"content", "must have at most %d bytes in all, has %d", maxMessage, bytes)
	}
}

// strings are all texts of a part.
func (part *Part) strings() []*string {
	return append(part.prose(), &part.Type, &part.URI, &part.ContextType, &part.ToolID, &part.ToolName,
		&part.ToolURI, &part.SkillURI, &part.ToolStatus)
}

// prose are those that somebody wrote.
func (part *Part) prose() []*string {
	return []*string{&part.Text, &part.Abstract, &part.ToolOutput}
}

// Decide implements [Command].
func (c AddMessages) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	s, err := c.session(dc)
	if err != nil {
		return nil, err
	}
	facts := c.opened(s, c.Agent)
	for i, said := range c.Messages {
		facts = append(facts, MessageAdded{
			Number: s.Number + int64(i) + 1, Role: said.Role, Tokens: said.Tokens, At: said.At, Message: said.Message,
		})
	}
	return facts, nil
}

// RewriteText implements [TextCommand].
func (c AddMessages) RewriteText(r TextRewriter) Command {
	c.Messages = slices.Clone(c.Messages)
	for i := range c.Messages {
		m := &c.Messages[i].Message
		m.Parts = slices.Clone(m.Parts)
		for j := range m.Parts {
			part := &m.Parts[j]
			r.all(part.prose()...)
			part.ToolInput = r.meta(part.ToolInput)
			r.Name("parts", part.ToolName)
			r.Name("parts", part.URI)
		}
	}
	return c
}

var _ TextCommand = AddMessages{}
