package domain

import (
	"fmt"
	"time"
)

// Limits of what is used at once.
const (
	maxUsed     = 200      // contexts
	maxSkillRun = 64 << 10 // characters of a skill's input, and of its output
)

// UseContexts asks to note what really helped.
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

// Decide implements [Command].
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

// RewriteText implements [TextCommand].
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
