package knowledge

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/body"
	"github.com/annals-kb/annals/http/client"
)

// SessionCommands are the commands about sessions.
type SessionCommands struct {
	List   sessionListCommand   `cmd:""`
	Show   sessionShowCommand   `cmd:""`
	Add    sessionAddCommand    `cmd:""`
	Commit sessionCommitCommand `cmd:""`
	Retry  sessionRetryCommand  `cmd:""`

	LearnedFor sessionLearnedForCommand `cmd:"" name:"learned-for"`
}

// inSession sends a request to /api/v1 and decodes the envelope's result into out.
func inSession(ctx context.Context, r terminal.Remote, what client.Request, out any) (json.RawMessage, error) {
	server, err := r.Connect()
	if err != nil {
		return nil, err
	}
	what.Path = append([]string{"api", "v1"}, what.Path...)
	var envelope struct {
		Result json.RawMessage `json:"result"`
	}
	if _, err := server.Do(ctx, what, &envelope); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(envelope.Result, out); err != nil {
		return nil, fmt.Errorf("read the server's answer: %w", err)
	}
	return envelope.Result, nil
}

type sessionListCommand struct {
	terminal.Remote
	terminal.Tabular
}

func (s *sessionListCommand) Run(ctx context.Context, c *terminal.Console) error {
	var list []struct {
		ID  string `json:"session_id"`
		URI string `json:"uri"`
	}
	raw, err := inSession(ctx, s.Remote, client.Get("sessions"), &list)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(raw)
	}
	if len(list) == 0 {
		c.Note("no sessions yet: annals session add ID \"I prefer tabs\"")
		return nil
	}
	rows := terminal.NewTable("SESSION", "URI")
	for _, item := range list {
		rows.Row(item.ID, item.URI)
	}
	return s.Show(c, rows)
}

type sessionShowCommand struct {
	terminal.Remote

	ID string `complete:"sessions" arg:""`
}

// sessionShown is the state of a session.
type sessionShown struct {
	Messages  int            `json:"message_count"`
	Commits   int            `json:"commit_count"`
	Extracted map[string]int `json:"memories_extracted"`
	CreatedAt time.Time      `json:"created_at"`
	SaidFrom  time.Time      `json:"said_from"`
	SaidUntil time.Time      `json:"said_until"`
	Tokens    int            `json:"pending_tokens"`
}

func (s *sessionShowCommand) Run(ctx context.Context, c *terminal.Console) error {
	var shown sessionShown
	raw, err := inSession(ctx, s.Remote, client.Get("sessions", s.ID), &shown)
	if err != nil {
		return err
	}
	var contents struct {
		Overview string `json:"latest_archive_overview"`
		Messages []struct {
			Role  string `json:"role"`
			At    string `json:"created_at"`
			Parts []struct {
				Type     string `json:"type"`
				Text     string `json:"text"`
				ToolName string `json:"tool_name"`
				Status   string `json:"tool_status"`
			} `json:"parts"`
		} `json:"messages"`
	}
	answer, err := inSession(ctx, s.Remote, client.Get("sessions", s.ID, "context"), &contents)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(map[string]json.RawMessage{"session": raw, "context": answer})
	}
	when := "since " + terminal.Moment(shown.CreatedAt)
	if !shown.SaidFrom.IsZero() {
		when = "from " + terminal.Moment(shown.SaidFrom) + " to " + terminal.Moment(shown.SaidUntil)
	}
	c.Say("%s %s: %d archived, %s since (about %s), %s learned", s.ID, when, shown.Commits,
		terminal.Several(shown.Messages, "message"), terminal.Several(shown.Tokens, "token"),
		terminal.Several(shown.Extracted["total"], "item"))
	if contents.Overview != "" {
		c.Lines("\n" + c.Indented(strings.TrimSpace(contents.Overview), "  "))
	}
	for _, m := range contents.Messages {
		c.Say("")
		for _, part := range m.Parts {
			text := part.Text
			if part.ToolName != "" {
				text = fmt.Sprintf("used %s: %s", part.ToolName, part.Status)
			}
			c.Say("%s: %s", m.Role, text)
		}
	}
	return nil
}

type sessionAddCommand struct {
	terminal.Remote

	ID   string  `arg:""`
	Text *string `arg:"" optional:""`
	Role string  `default:"user" enum:"user,assistant,system,tool" placeholder:"ROLE"`
}

func (s *sessionAddCommand) Run(ctx context.Context, c *terminal.Console) error {
	text, err := s.input(c)
	if err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" {
		return terminal.BadFields("as in annals session add planning \"I prefer tabs\"",
			terminal.Field{Field: "text", Message: "must say something"})
	}
	var added struct {
		Messages int `json:"message_count"`
		Tokens   int `json:"pending_tokens"`
	}
	message := map[string]string{"role": s.Role, "content": text}
	raw, err := inSession(ctx, s.Remote, client.Post(message, "sessions", s.ID, "messages"), &added)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(raw)
	}
	c.Say("added to %s: %s, about %s, to be committed",
		s.ID, terminal.Several(added.Messages, "message"), terminal.Several(added.Tokens, "token"))
	return nil
}

// largestInput is the largest standard input in bytes.
const largestInput = 64 << 20

// input is the text argument, or standard input.
func (s *sessionAddCommand) input(c *terminal.Console) (string, error) {
	if s.Text != nil && *s.Text != "-" {
		return *s.Text, nil
	}
	if c.Prompted && s.Text == nil {
		return "", terminal.Wrong("as in annals session add planning \"I prefer tabs\"", "say what was said")
	}
	read, err := io.ReadAll(io.LimitReader(body.UTF8(c.In), largestInput))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if !utf8.Valid(read) {
		return "", terminal.Wrong("", "standard input %s", terminal.NotText)
	}
	return string(read), nil
}

type sessionCommitCommand struct {
	terminal.Remote
	terminal.Tabular

	ID      string `complete:"sessions" arg:""`
	Wait    bool
	Keep    int      `placeholder:"N"`
	Scope   []string `short:"s" complete:"scopes" placeholder:"SCOPE"`
	Trigger string   `enum:",stated,task_done,compaction,feedback,periodic" default:"" placeholder:"WHY"`
}

func (s *sessionCommitCommand) Run(ctx context.Context, c *terminal.Console) error {
	var committed struct {
		Status   string `json:"status"`
		Task     string `json:"task_id"`
		Archive  string `json:"archive_uri"`
		Archived bool   `json:"archived"`
		Message  string `json:"message"`
	}
	commit := client.Post(
		map[string]any{"keep_recent_count": s.Keep, "trigger": s.Trigger, "scopes": s.Scope}, "sessions", s.ID, "commit")
	if s.Wait {
		commit.Query = url.Values{"wait": {"true"}}
	}
	raw, err := inSession(ctx, s.Remote, commit, &committed)
	if f := terminal.AsFailure(err); err != nil && s.Wait && (f.Late || f.Status == http.StatusGatewayTimeout) {
		err, f.Fix = f, fmt.Sprintf("it may be archived all the same, and learned from in the background: annals session "+
			"show %s", s.ID)
	}
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		return c.Document(raw)
	case !committed.Archived:
		c.Say("%s: %s", s.ID, committed.Message)
		return nil
	case committed.Status != "committed":
		c.Say("archived as %s; what is learned from it comes in the background, as task %s", committed.Archive,
			committed.Task)
		return nil
	}
	c.Say("archived as %s", committed.Archive)
	return s.lessons(ctx, c, committed.Task)
}

// lessons shows the result of a task.
func (s *sessionCommitCommand) lessons(ctx context.Context, c *terminal.Console, task string) error {
	var done struct {
		Error  string `json:"error"`
		Result struct {
			Lessons []struct {
				ID       string   `json:"id"`
				Category string   `json:"category"`
				Abstract string   `json:"abstract"`
				Decision string   `json:"decision"`
				Target   string   `json:"target"`
				Scopes   []string `json:"scopes"`
			} `json:"lessons"`
		} `json:"result"`
	}
	if _, err := inSession(ctx, s.Remote, client.Get("tasks", task), &done); err != nil {
		return err
	}
	if done.Error != "" {
		return &terminal.Failure{Code: terminal.ExitFailed, Detail: "nothing could be learned: " + done.Error}
	}
	if len(done.Result.Lessons) == 0 {
		c.Say("nothing was learned from it")
		return nil
	}
	rows := terminal.NewTable("DECISION", "CATEGORY", "SCOPE", "ID", "WHAT")
	for _, l := range done.Result.Lessons {
		id, what := l.ID, l.Abstract
		switch {
		case id == "":
			id = l.Target
		case l.Target != "":
			what += " (replaces " + l.Target + ")"
		}
		rows.Row(l.Decision, l.Category, strings.Join(l.Scopes, ", "), id, strings.Join(strings.Fields(what), " "))
	}
	return s.Show(c, rows)
}

type sessionRetryCommand struct {
	terminal.Remote

	ID   string `complete:"sessions" arg:""`
	Wait bool
}

func (s *sessionRetryCommand) Run(ctx context.Context, c *terminal.Console) error {
	retry := client.Post(nil, "sessions", s.ID, "retry")
	if s.Wait {
		retry.Query = url.Values{"wait": {"true"}}
	}
	var retried struct {
		Archives []struct {
			Archive string `json:"archive_uri"`
			Task    string `json:"task_id"`
			Status  string `json:"status"`
		} `json:"retried"`
	}
	raw, err := inSession(ctx, s.Remote, retry, &retried)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(raw)
	}
	if len(retried.Archives) == 0 {
		c.Say("%s: there is nothing to try again", s.ID)
		return nil
	}
	rows := terminal.NewTable("STATUS", "ARCHIVE", "TASK")
	for _, archive := range retried.Archives {
		rows.Row(archive.Status, archive.Archive, archive.Task)
	}
	c.Table(rows)
	return nil
}

type sessionLearnedForCommand struct {
	terminal.Remote

	Rule string `arg:"" enum:"shared,team,private"`
}

func (s *sessionLearnedForCommand) Run(ctx context.Context, c *terminal.Console) error {
	var rule api.Learning
	change := client.Request{
		Method: http.MethodPut, Path: []string{"v1", "settings", "learned-for"}, Body: api.Learning{LearnedFor: s.Rule},
	}
	return s.Answer(ctx, c, change, &rule, func() error {
		c.Say("lessons about tools, skills, patterns and antipatterns are %s from now on", rule.LearnedFor)
		return nil
	})
}
