package client

import (
	"context"
	"encoding/json"
	"maps"
	"runtime"
	"slices"
	"strings"
	"unicode"
)

// Outcome is what came of a task.
type Outcome struct {
	TaskID   string // names the session that is made of it
	Task     string // what was to be done
	Response string // the final answer, of a task that was done
	Failure  string // why it was not
	Tools    []string
	Skills   []Skill // that were made or changed on the way
}

// Skill is something that an agent can do, as others should know it.
type Skill struct {
	Name        string
	Description string
	Content     string // the whole of it, such as a SKILL.md
}

// mostTools is how many of the tools that were used are told.
const mostTools = 30

// Succeeded tells the memory what worked, so that knowledge is made of it. It returns false if that could not be
// told; nothing else happens then.
func (a *Agent) Succeeded(ctx context.Context, o Outcome) bool {
	messages := []Message{{"user", o.Task}, {"assistant", "Final response: " + o.Response}}
	messages = append(messages, a.circumstances(o)...)
	for _, skill := range o.Skills {
		messages = append(messages, Message{"assistant", "Skill '" + skill.Name + "' evolved: " + skill.Description})
	}
	return a.tell(ctx, a.cfg.Sessions+"-evo-"+slug(o.TaskID), messages)
}

// Failed tells the memory what did not work, so that it is avoided. It returns false if that could not be told;
// nothing else happens then.
func (a *Agent) Failed(ctx context.Context, o Outcome) bool {
	messages := []Message{
		{"assistant", "POLARITY: negative — this is the record of a task that failed"},
		{"user", o.Task},
		{"assistant", "Failure reason: " + o.Failure},
	}
	return a.tell(ctx, a.cfg.Sessions+"-neg-"+slug(o.TaskID), append(messages, a.circumstances(o)...))
}

// circumstances are which tools were used, and where.
func (a *Agent) circumstances(o Outcome) []Message {
	var said []Message
	if tools := o.Tools[:min(mostTools, len(o.Tools))]; len(tools) > 0 {
		said = append(said, Message{"assistant", "Tool sequence: " + strings.Join(tools, " → ")})
	}
	return append(said, Message{"assistant", "Environment: " + a.fingerprint()})
}

// fingerprint says where the agent works, always in the same words.
func (a *Agent) fingerprint() string {
	environment := a.environment()
	parts := make([]string, 0, len(environment))
	for _, name := range slices.Sorted(maps.Keys(environment)) {
		parts = append(parts, name+"="+environment[name])
	}
	return strings.Join(parts, " ")
}

func (a *Agent) environment() map[string]string {
	environment := map[string]string{"os": runtime.GOOS, "arch": runtime.GOARCH, "go": runtime.Version()}
	maps.Copy(environment, a.cfg.Environment)
	return environment
}

func (a *Agent) tell(ctx context.Context, session string, messages []Message) bool {
	done := a.reaches(ctx, "feedback", func() error {
		if err := a.cfg.Client.OpenSession(ctx, session); err != nil {
			return err
		}
		if err := a.cfg.Client.Say(ctx, session, messages...); err != nil {
			return err
		}
		_, err := a.cfg.Client.CommitSession(ctx, session, "task_done")
		return err
	})
	a.note(func(s *Stats) {
		if s.FeedbackStatus = "failed"; done {
			s.FeedbackStatus = "committed"
		}
	})
	return done
}

// PushSkills lets others find skills, or revises those that they know, and returns how many that succeeded with. One
// that fails keeps no other from being pushed.
func (a *Agent) PushSkills(ctx context.Context, skills ...Skill) int {
	pushed := 0
	for _, skill := range skills {
		meta, err := json.Marshal(map[string]any{"name": skill.Name, "description": skill.Description, "environment": a.environment()})
		if err != nil { // they are strings
			continue
		}
		k := Knowledge{
			ID: "skill." + slug(skill.Name), ContextType: "skill", Category: "skills", Task: skill.Name,
			Abstract: strings.TrimSpace(skill.Name + ": " + skill.Description), Content: skill.Content, Meta: meta, Scopes: a.cfg.Scopes,
		}
		if a.reaches(ctx, "skills", func() error { _, err := a.cfg.Client.Save(ctx, k); return err }) {
			pushed++
		}
	}
	a.note(func(s *Stats) { s.PushedSkills += pushed })
	return pushed
}

// slug is a name that an id may have.
func slug(name string) string {
	const longest = 80
	var out strings.Builder
	for _, r := range name {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			out.WriteRune(r)
		case out.Len() > 0 && !strings.HasSuffix(out.String(), "-"):
			out.WriteByte('-')
		}
		if out.Len() == longest {
			break
		}
	}
	if named := strings.Trim(out.String(), "-"); named != "" {
		return named
	}
	return "unnamed"
}
