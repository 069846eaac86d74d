package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// Message is a message of a conversation.
type Message struct {
	Role    string `json:"role"` // user, assistant
	Content string `json:"content"`
}

// Commit is the result of a commit. The extraction continues in the background.
type Commit struct {
	SessionID string `json:"session_id"`
	Status    string `json:"status"` // accepted; committed after waiting
	TaskID    string `json:"task_id"`
	Archived  bool   `json:"archived"` // false if the session had no new messages
}

// Task is an extraction.
type Task struct {
	ID     string          `json:"task_id"`
	Status string          `json:"status"` // pending, running, completed, failed
	Result json.RawMessage `json:"result"`
	Error  string          `json:"error"`
}

// inSession makes a request to the OpenViking API and unwraps the envelope.
func inSession(ctx context.Context, c *Client, r Request, out any) error {
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

// OpenSession creates a session, unless it exists already.
func (c *Client) OpenSession(ctx context.Context, id string) error {
	err := inSession(ctx, c, Request{
		Method: http.MethodPost, Path: []string{"sessions"},
		Body: map[string]string{"session_id": id},
	}, nil)
	if errors.Is(err, ErrConflict) {
		return nil
	}
	return err
}

// Say adds up to 500 messages to a session, in order. It creates a session that does not exist. If the answer
// is lost, Say repeats the request, but the session gets the messages once.
func (c *Client) Say(ctx context.Context, session string, messages ...Message) error {
	return inSession(ctx, c, Request{
		Method: http.MethodPost, Path: []string{"sessions", session, "messages", "batch"},
		Body: map[string][]Message{"messages": messages},
	}, nil)
}

// CommitSession archives the messages since the last commit and starts an extraction. Trigger is the reason: stated,
// task_done, compaction, feedback, periodic; empty for the server's default. Scopes are the audience of what is
// learned about work. Default: the caller.
func (c *Client) CommitSession(ctx context.Context, session, trigger string, scopes ...string) (Commit, error) {
	body := map[string]any{"scopes": scopes}
	if trigger != "" {
		body["trigger"] = trigger
	}
	var done Commit
	err := inSession(ctx, c, Request{Method: http.MethodPost, Path: []string{"sessions", session, "commit"}, Body: body},
		&done)
	return done, err
}

// Task returns the state of an extraction.
func (c *Client) Task(ctx context.Context, id string) (Task, error) {
	var t Task
	err := inSession(ctx, c, Request{Method: http.MethodGet, Path: []string{"tasks", id}}, &t)
	return t, err
}

// Viking makes a request to a route of the OpenViking API, such as search/find. It decodes the result into out,
// unless out is nil.
func (c *Client) Viking(ctx context.Context, method, route string, query url.Values, body, out any) error {
	return inSession(ctx, c, Request{Method: method, Path: strings.Split(route, "/"), Query: query, Body: body}, out)
}
