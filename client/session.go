package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// Message is something that was said.
type Message struct {
	Role    string `json:"role"` // user, assistant
	Content string `json:"content"`
}

// Commit is what became of a session's commit: its extraction continues in the background.
type Commit struct {
	SessionID string `json:"session_id"`
	Status    string `json:"status"` // accepted; committed if it was waited for
	TaskID    string `json:"task_id"`
	Archived  bool   `json:"archived"` // false if there was nothing to archive
}

// Task is an extraction.
type Task struct {
	ID     string          `json:"task_id"`
	Status string          `json:"status"` // pending, running, completed, failed
	Result json.RawMessage `json:"result"`
	Error  string          `json:"error"`
}

// session asks the OpenViking API, whose answers come in an envelope.
func (c *Client) session(ctx context.Context, r Request, out any) error {
	r.Path = append([]string{"api", "v1"}, r.Path...)
	var envelope struct {
		Result json.RawMessage `json:"result"`
	}
	if _, err := c.Do(ctx, r, &envelope); err != nil {
		return err
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(envelope.Result, out); err != nil {
		return c.foreign(http.StatusOK, err)
	}
	return nil
}

// OpenSession begins a session under an id. That there is one is no error: what is said is added to it.
func (c *Client) OpenSession(ctx context.Context, id string) error {
	err := c.session(ctx, Request{
		Method: http.MethodPost, Path: []string{"sessions"},
		Body: map[string]string{"session_id": id},
	}, nil)
	if errors.Is(err, ErrConflict) {
		return nil
	}
	return err
}

// Say adds messages to a session, in order; up to a hundred. A session that there is not yet begins with them. When the
// answer is lost they are sent again, and stand in the session once.
func (c *Client) Say(ctx context.Context, session string, messages ...Message) error {
	return c.session(ctx, Request{
		Method: http.MethodPost, Path: []string{"sessions", session, "messages", "batch"},
		Body: map[string][]Message{"messages": messages},
	}, nil)
}

// CommitSession lets knowledge be made of what was said since the last commit. Trigger is why: stated, task_done,
// compaction, feedback, periodic; empty for the server's choice. Scopes are who may see what is learned about work;
// default: the caller.
func (c *Client) CommitSession(ctx context.Context, session, trigger string, scopes ...string) (Commit, error) {
	body := map[string]any{"scopes": scopes}
	if trigger != "" {
		body["trigger"] = trigger
	}
	var done Commit
	err := c.session(ctx, Request{Method: http.MethodPost, Path: []string{"sessions", session, "commit"}, Body: body},
		&done)
	return done, err
}

// Task tells how an extraction does.
func (c *Client) Task(ctx context.Context, id string) (Task, error) {
	var t Task
	err := c.session(ctx, Request{Method: http.MethodGet, Path: []string{"tasks", id}}, &t)
	return t, err
}

// Viking asks a route of the OpenViking API, such as search/find, and decodes the result into out unless that is nil.
func (c *Client) Viking(ctx context.Context, method, route string, query url.Values, body, out any) error {
	return c.session(ctx, Request{Method: method, Path: strings.Split(route, "/"), Query: query, Body: body}, out)
}
