package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/body"
	"github.com/annals-kb/annals/http/client"
)

// HookCommand is what the hooks of a host call. A host may refuse a prompt if its hook fails, so it never does.
type HookCommand struct {
	terminal.Remote

	Host  string `arg:""`
	Stage string `arg:""`
}

// payload is what hosts write to a hook's standard input.
type payload struct {
	Event        string `json:"hook_event_name"`
	Session      string `json:"session_id"`
	Conversation string `json:"conversation_id"` // in Cursor
	Transcript   string `json:"transcript_path"`
	Prompt       string `json:"prompt"`
	Source       string `json:"source"` // why a session starts: startup, resume, clear, compact
}

// id is the host's id of the session.
func (in payload) id() string {
	id := cmp.Or(in.Session, in.Conversation)
	if id == "" {
		_, id = identify(in.Transcript)
	}
	return id
}

const (
	hookPatience = 8 * time.Second // hosts wait ten
	promptTokens = 600             // of what is told before a task
	largestCall  = 16 << 20        // bytes of a payload
)

func (h *HookCommand) Run(ctx context.Context, c *terminal.Console) error {
	ctx, cancel := context.WithTimeout(ctx, hookPatience)
	defer cancel()
	if err := h.run(ctx, c); err != nil {
		c.Note("annals hook: %s", err)
	}
	return nil
}

func (h *HookCommand) run(ctx context.Context, c *terminal.Console) (err error) {
	if !slices.Contains(ids(), h.Host) || !slices.Contains([]string{atStart, atPrompt, atEnd}, h.Stage) {
		return fmt.Errorf("there is no hook %s %s: annals install writes those that there are", h.Host, h.Stage)
	}
	read, err := io.ReadAll(io.LimitReader(body.UTF8(c.In), largestCall))
	if err != nil {
		return err
	}
	var in payload
	if err := json.Unmarshal(read, &in); err != nil {
		return fmt.Errorf("read what the host says: %w", err)
	}
	in.Prompt = strings.TrimSpace(in.Prompt)
	isCommand := in.Prompt == "" || strings.HasPrefix(in.Prompt, "/")
	if h.Stage == atPrompt && isCommand || h.Stage == atEnd && in.Transcript == "" {
		return nil
	}
	server, done, err := serve.Reach(ctx, c, &h.Remote)
	if err != nil {
		return err
	}
	defer func() {
		if closing := done(); err == nil {
			err = closing
		}
	}()
	if h.Stage == atEnd {
		return h.end(ctx, server, in)
	}
	server = server.With(http.Header{"Annals-Host": {h.Host}, "Annals-Session": {url.QueryEscape(in.id())}})
	seen := shown(h.Host, in)
	question := api.ContextRequest{Stage: "start", Shown: seen.marks}
	if h.Stage == atPrompt {
		most := promptTokens
		question = api.ContextRequest{Stage: "query", Query: in.Prompt, MaxTokens: &most, Shown: seen.marks}
	}
	var told api.ContextAnswer
	if _, err := server.Do(ctx, client.Post(question, "v1", "context"), &told); err != nil || told.Injection == "" {
		return err
	}
	if err := h.tell(c, in.Event, told.Injection); err != nil {
		return err
	}
	return seen.add(told.Items)
}

// tell prints a text in the form that the host adds to its prompt.
func (h *HookCommand) tell(c *terminal.Console, event, text string) error {
	text = "What the shared memory (Annals) knows:\n\n" + text
	var answer any
	switch h.Host {
	case "claude-code", "codex":
		_, err := fmt.Fprintln(c.Out, text)
		return err
	case "cursor":
		answer = map[string]any{"continue": true, "additional_context": text}
	default:
		answer = map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": event, "additionalContext": text}}
	}
	return json.NewEncoder(c.Out).Encode(answer)
}

// end stores what was said in a session, and lets the server learn from it.
func (h *HookCommand) end(ctx context.Context, server *client.Client, in payload) error {
	session := Session{Path: in.Transcript, Host: h.Host, ID: h.Host + "-" + in.id()}
	if err := session.Read(); err != nil {
		return err
	}
	_, err := session.Store(ctx, server)
	return err
}
