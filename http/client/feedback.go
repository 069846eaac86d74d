package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"runtime"
	"slices"
	"strings"
	"unicode"
)

// Outcome is the result of a task.
type Outcome struct {
	TaskID   string // part of the name of the feedback session
	Task     string // what was to be done
	Response string // the final answer of a successful task
	Failure  string // why the task failed
	Tools    []string
	Skills   []Skill // created or changed in the task
}

// Skill is a skill that other agents can use.
type Skill struct {
	Name        string
	Description string
	Content     string // the whole text, such as a SKILL.md
}

// mostTools is how many of the used tools are reported.
const mostTools = 30

// Succeeded stores what worked, so that the server extracts knowledge from it. It returns false if that failed.
func (a *Agent) Succeeded(ctx context.Context, o Outcome) bool {
	messages := []Message{{"user", o.Task}, {"assistant", labelled("Final response: ", o.Response)}}
	messages = append(messages, a.circumstances(o)...)
	for _, skill := range o.Skills {
		messages = append(messages, Message{"assistant", "Skill '" + skill.Name + "' evolved: " + skill.Description})
	}
	return a.tell(ctx, a.cfg.Sessions+"-evo-"+named(o.TaskID), messages)
}

// Failed stores what did not work, so that agents avoid it. It returns false if that failed.
func (a *Agent) Failed(ctx context.Context, o Outcome) bool {
	messages := []Message{
		{"assistant", "POLARITY: negative — this is the record of a task that failed"},
		{"user", o.Task},
		{"assistant", labelled("Failure reason: ", o.Failure)},
	}
	return a.tell(ctx, a.cfg.Sessions+"-neg-"+named(o.TaskID), append(messages, a.circumstances(o)...))
}

// labelled is what followed by text; empty without text.
func labelled(what, text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return what + text
}

// circumstances are messages about the used tools and the environment.
func (a *Agent) circumstances(o Outcome) []Message {
	var told []Message
	if tools := o.Tools[:min(mostTools, len(o.Tools))]; len(tools) > 0 {
		told = append(told, Message{"assistant", "Tool sequence: " + strings.Join(tools, " → ")})
	}
	return append(told, Message{"assistant", "Environment: " + a.fingerprint()})
}

// fingerprint describes the environment in a fixed order.
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
	messages = slices.DeleteFunc(messages, func(m Message) bool { return m.Content == "" })
	done := a.reaches(ctx, "feedback", func() error {
		if err := a.cfg.Client.OpenSession(ctx, session); err != nil {
			return err
		}
		if err := a.cfg.Client.Say(ctx, session, messages...); err != nil {
			return err
		}
		_, err := a.cfg.Client.CommitSession(ctx, session, "task_done", a.cfg.Scopes...)
		return err
	})
	a.note(func(s *Stats) {
		if s.FeedbackStatus = "failed"; done {
			s.FeedbackStatus = "committed"
		}
	})
	return done
}

// PushSkills stores skills for others, or revises those of the same name, and returns how many succeeded. A failure
// does not affect the other skills. With one scope other than public, the skills belong to that scope, so that all of
// its agents revise the same ones. Otherwise they belong to the caller.
func (a *Agent) PushSkills(ctx context.Context, skills ...Skill) int {
	pushed := 0
	owner := a.owner(ctx)
	if owner == "" {
		return 0
	}
	for _, skill := range skills {
		meta, err := json.Marshal(map[string]any{
			"name": skill.Name, "description": skill.Description,
			"environment": a.environment(),
		})
		if err != nil { // they are strings
			continue
		}
		k := Knowledge{
			ID: "skill." + slug(skill.Name) + "." + digest(owner,
				skill.Name), ContextType: "skill", Category: "skills", Owner: owner, Task: skill.Name,
			Abstract: strings.TrimSpace(skill.Name + ": " + skill.Description), Content: skill.Content, Meta: meta,
			Scopes: a.cfg.Scopes,
		}
		if a.reaches(ctx, "skills", func() error { _, err := a.cfg.Client.Save(ctx, k); return err }) {
			pushed++
		}
	}
	a.note(func(s *Stats) { s.PushedSkills += pushed })
	return pushed
}

// owner is the owner of pushed skills; empty if the server does not answer.
func (a *Agent) owner(ctx context.Context) string {
	if len(a.cfg.Scopes) == 1 && a.cfg.Scopes[0] != "public" {
		return a.cfg.Scopes[0]
	}
	var me Identity
	a.reaches(ctx, "skills", func() (err error) { me, err = a.cfg.Client.Whoami(ctx); return err })
	return cmp.Or(me.OnBehalfOf, me.Subject)
}

// named makes a valid session name, different for each name.
func named(name string) string {
	if short := slug(name); short != name {
		return short + "-" + digest(name)
	}
	return name
}

// digest distinguishes names that have the same slug.
func digest(parts ...string) string {
	const enough = 5 // bytes
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:enough])
}

// slug turns a name into a part of an id.
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
