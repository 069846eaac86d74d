package domain

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// The roles of speakers.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleSystem    = "system"
	RoleTool      = "tool"
)

var roles = []string{RoleUser, RoleAssistant, RoleSystem, RoleTool}

var partTypes = []string{PartText, PartContext, PartTool, PartImage}

// NewMessage is a message to add to a session.
type NewMessage struct {
	Role    string
	Tokens  int // an estimate
	At      time.Time
	Message Message
}

// AddMessages asks to record messages in this order. It opens a session that does not exist.
type AddMessages struct {
	SessionTarget
	Agent    string       // see [OpenSession]
	Messages []NewMessage // 1…[MaxMessages]
	// First is the number of the first message. Messages that the session has had already are left out, also if it was
	// deleted since. 0 adds all of them.
	First int64
}

// Validate names every bad field at once.
func (c AddMessages) Validate() error {
	var p Problems
	c.check(&p)
	checkAgent(&p, c.Agent)
	if len(c.Messages) < 1 || len(c.Messages) > MaxMessages {
		p.Add("messages", "must be 1 to %d, are %d", MaxMessages, len(c.Messages))
	}
	if c.First < 0 {
		p.Add("first", "must be the number of a message, from 1")
	}
	for i, message := range c.Messages {
		message.check(&p, fmt.Sprintf("messages[%d].", i))
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
		if isDeep(part.ToolInput) {
			p.Add(at+".tool_input", "must not nest more than %d objects and arrays", maxNesting)
		}
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

// prose are the texts that people wrote.
func (part *Part) prose() []*string {
	return []*string{&part.Text, &part.Abstract, &part.ToolOutput}
}

func (c AddMessages) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	s, err := c.session(dc)
	if err != nil {
		return nil, err
	}
	messages := c.Messages
	if c.First > 0 {
		if c.First > s.Number+1 {
			return nil, Refuse(ErrConflict, "message %d is missing before message %d", s.Number+1, c.First).
				WithFix("send the messages from there on")
		}
		messages = messages[min(s.Number+1-c.First, int64(len(messages))):]
		if len(messages) == 0 {
			return nil, nil
		}
	}
	facts := c.opened(s, c.Agent)
	for i, message := range messages {
		facts = append(facts, MessageAdded{
			Number: s.Number + int64(i) + 1, Role: message.Role, Tokens: message.Tokens,
			At: message.At, Message: message.Message,
		})
	}
	return facts, nil
}

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

// UseContexts asks to record which contexts, and which skill, helped.
type UseContexts struct {
	SessionTarget
	URIs  []string
	Skill *SkillUse
}

// Validate names every bad field at once.
func (c UseContexts) Validate() error {
	var p Problems
	c.check(&p)
	if len(c.URIs) > maxUsed {
		p.Add("contexts", "must be at most %d, are %d", maxUsed, len(c.URIs))
	}
	for i, uri := range c.URIs {
		atMost(&p, fmt.Sprintf("contexts[%d]", i), uri, maxURI)
	}
	if c.Skill != nil {
		atMost(&p, "skill.uri", c.Skill.URI, maxURI)
		atMost(&p, "skill.input", c.Skill.Input, maxSkillRun)
		atMost(&p, "skill.output", c.Skill.Output, maxSkillRun)
	}
	return p.Err()
}

func (c UseContexts) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	s, err := c.session(dc)
	if err != nil || len(c.URIs) == 0 && c.Skill == nil {
		return nil, err
	}
	used := ContextUsed{Contexts: len(c.URIs), URIs: c.URIs, Skill: c.Skill}
	if c.Skill != nil {
		used.Skills = 1
	}
	return append(c.opened(s, ""), used), nil
}

func (c UseContexts) RewriteText(r TextRewriter) Command {
	for _, uri := range c.URIs {
		r.Name("contexts", uri)
	}
	if c.Skill != nil {
		skill := *c.Skill
		r.all(&skill.Input, &skill.Output)
		r.Name("skill", skill.URI)
		c.Skill = &skill
	}
	return c
}

var _ TextCommand = UseContexts{}
