package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"github.com/annals-kb/annals/http/api"
)

// Types of the API.
type (
	Knowledge  = api.Knowledge // Remember needs only Content and one of Type and Category
	Verified   = api.Verified
	Source     = api.Source
	Eval       = api.Eval
	Tags       = api.Tags
	Event      = api.Event
	Identity   = api.Identity
	Projection = api.Projection
	Search     = api.Search // only Query is required
	Filter     = api.Filter
	Audience   = api.Searcher
	Found      = api.SearchAnswer
	Hit        = api.Hit
	Vote       = api.Vote
	Need       = api.ContextRequest
	Briefing   = api.ContextAnswer
	Briefed    = api.ContextItem
)

// Receipt is what a write did.
type Receipt struct {
	Knowledge Knowledge // the item afterwards
	Outcome   string    // created, revised, recorded, unchanged
	Events    string    // ids of the events that it recorded, separated by commas
	Position  int64     // a read at this position of the log or later sees the write
}

func get[T any](ctx context.Context, c *Client, query url.Values, path ...string) (T, error) {
	var out T
	_, err := c.Do(ctx, Request{Method: http.MethodGet, Path: path, Query: query}, &out)
	return out, err
}

func post[T any](ctx context.Context, c *Client, body any, path ...string) (T, error) {
	var out T
	_, err := c.Do(ctx, Request{Method: http.MethodPost, Path: path, Body: body}, &out)
	return out, err
}

func write(
	ctx context.Context, c *Client, method string, query url.Values, body any, path ...string,
) (Receipt, error) {
	var done Receipt
	answer, err := c.Do(ctx, Request{
		Method: method, Path: append([]string{"v1", "knowledge"}, path...), Query: query,
		Body: body,
	}, &done.Knowledge)
	if err != nil {
		return Receipt{}, err
	}
	done.Outcome, done.Events = answer.Header.Get("Annals-Outcome"), answer.Header.Get("Annals-Events")
	done.Position, _ = strconv.ParseInt(answer.Header.Get("Annals-Position"), 10, 64) // 0 if the server does not say
	return done, nil
}

// Remember adds an item. The error matches [ErrConflict] if its id belongs to other knowledge.
func (c *Client) Remember(ctx context.Context, k Knowledge) (Receipt, error) {
	return write(ctx, c, http.MethodPost, nil, k)
}

// RememberBeside adds an item with regard to similar ones, which the answer names. OnSimilar is report, link, refuse or
// vote. With refuse, the error matches [ErrConflict] if others say the same or contradict it. With vote, the answer may
// be a known item that says exactly this, with the outcome recorded or unchanged.
func (c *Client) RememberBeside(ctx context.Context, k Knowledge, onSimilar string) (Receipt, error) {
	return write(ctx, c, http.MethodPost, url.Values{"on_similar": {onSimilar}}, k)
}

// RememberLesson is RememberBeside for a lesson that is for those for whom lessons of sessions are.
func (c *Client) RememberLesson(ctx context.Context, k Knowledge, onSimilar string) (Receipt, error) {
	return write(ctx, c, http.MethodPost, url.Values{"on_similar": {onSimilar}, "lesson": {"true"}}, k)
}

// Save adds an item, or replaces the texts of the item with its id. Its Reason is recorded.
func (c *Client) Save(ctx context.Context, k Knowledge) (Receipt, error) {
	return write(ctx, c, http.MethodPost, url.Values{"update": {"true"}}, k)
}

// Revise changes the fields of an item that k sets. Tags replaces the values of the given keys; an empty list removes
// a key. The Reason of k is recorded. The error matches [ErrNotFound], or [ErrGone] if the item was forgotten.
func (c *Client) Revise(ctx context.Context, id string, k Knowledge) (Receipt, error) {
	k.ID = ""
	encoded, err := json.Marshal(k)
	if err != nil {
		return Receipt{}, fmt.Errorf("encode request: %w", err)
	}
	var patch map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &patch); err != nil {
		return Receipt{}, fmt.Errorf("encode request: %w", err)
	}
	if k.Content == "" {
		delete(patch, "content")
	}
	return write(ctx, c, http.MethodPatch, nil, patch, id)
}

// Knowledge reads an item. The error matches [ErrNotFound], or [ErrGone] if it was forgotten.
func (c *Client) Knowledge(ctx context.Context, id string) (Knowledge, error) {
	return get[Knowledge](ctx, c, nil, "v1", "knowledge", id)
}

// At reads the item with a URI. The error matches [ErrNotFound] if there is none.
func (c *Client) At(ctx context.Context, uri string) (Knowledge, error) {
	for k, err := range c.List(ctx, url.Values{"uri": {uri}}) {
		if err != nil || k.URI == uri {
			return k, err
		}
	}
	return Knowledge{}, notFound("no knowledge lies at " + uri)
}

func notFound(detail string) error {
	return &Error{Problem: api.Problem{Status: http.StatusNotFound, Title: "Not found", Detail: detail}}
}

// List reads the items that match the filters of GET /v1/knowledge, newest first. It requests pages as needed. An
// error ends the sequence.
func (c *Client) List(ctx context.Context, filters url.Values) iter.Seq2[Knowledge, error] {
	query := url.Values{"limit": {"100"}}
	maps.Copy(query, filters)
	return all[Knowledge](ctx, c, []string{"v1", "knowledge"}, query)
}

// Forget removes an item from all answers. Its history stays.
func (c *Client) Forget(ctx context.Context, id, reason string) error {
	_, err := write(ctx, c, http.MethodDelete, nil, api.Reason{Reason: reason}, id)
	return err
}

// GiveFeedback votes that an item was helpful or harmful. Each voter has one vote per trace, and without a trace one
// per day.
func (c *Client) GiveFeedback(ctx context.Context, id string, vote Vote) (Receipt, error) {
	return write(ctx, c, http.MethodPost, nil, vote, id, "feedback")
}

// ReportStale reports that an item is out of date: that halves its confidence until it is confirmed.
func (c *Client) ReportStale(ctx context.Context, id, reason string) (Receipt, error) {
	return write(ctx, c, http.MethodPost, nil, api.Reason{Reason: reason}, id, "stale")
}

// Confirm confirms that an item still holds.
func (c *Client) Confirm(ctx context.Context, id, reason string) (Receipt, error) {
	return write(ctx, c, http.MethodPost, nil, api.Reason{Reason: reason}, id, "confirm")
}

// Search finds knowledge, nearest scope first.
func (c *Client) Search(ctx context.Context, s Search) (Found, error) {
	return post[Found](ctx, c, s, "v1", "search")
}

// Context returns what an agent should know at a stage of its work: "start" (Task, which may be empty), "focus"
// (Goal), "query" (Query) or "analysis" (Task and failures).
func (c *Client) Context(ctx context.Context, need Need) (Briefing, error) {
	return post[Briefing](ctx, c, need, "v1", "context")
}

// History reads the events of an item, oldest first, even if it was forgotten. An error ends the sequence.
func (c *Client) History(ctx context.Context, id string) iter.Seq2[Event, error] {
	return all[Event](ctx, c, []string{"v1", "knowledge", id, "history"}, nil)
}

// Event reads an event by its id. The error matches [ErrNotFound] if the caller may not read it.
func (c *Client) Event(ctx context.Context, id string) (Event, error) {
	return get[Event](ctx, c, nil, "v1", "events", id)
}

// Replaced tells whether the vote that an event records replaced an earlier one. It is false if nothing was recorded,
// as by the same vote again, or if the caller may not read the event.
func (c *Client) Replaced(ctx context.Context, id string) bool {
	if id == "" {
		return false
	}
	event, err := c.Event(ctx, id)
	var vote struct {
		Replaces string `json:"replaces"`
	}
	return err == nil && json.Unmarshal(event.Data, &vote) == nil && vote.Replaces != ""
}

// Transferred is what [TransferOwned] did to a page of items.
type Transferred struct {
	Moved   int
	Refused []api.BulkAnswer
	Next    string // the cursor of the next page; empty after the last one
}

// TransferOwned gives a page of the items of one entity to another one, by an act for each item. Forgotten items keep
// their owner. Only narrows the items, as the filters of a list do.
func TransferOwned(
	ctx context.Context, c *Client, from, to, reason, cursor string, only url.Values,
) (done Transferred, err error) {
	query := url.Values{"owner": {from}, "status": {"active", "superseded"}, "limit": {"100"}}
	maps.Copy(query, only)
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	var page api.Page[Knowledge]
	request := Request{Method: http.MethodGet, Path: []string{"v1", "knowledge"}, Query: query}
	if _, err := c.Do(ctx, request, &page); err != nil || len(page.Items) == 0 {
		return done, err
	}
	acts := make([]api.Act, len(page.Items))
	for i, k := range page.Items {
		acts[i] = api.Act{ID: k.ID, Act: "transfer", Owner: to, IfMatch: k.Revision, Reason: reason}
	}
	answer, err := c.Do(ctx, Post(acts, "v1", "knowledge", "acts"), nil)
	if err != nil {
		return done, err
	}
	for lines := json.NewDecoder(bytes.NewReader(answer.Body)); ; {
		var one api.BulkAnswer
		switch err := lines.Decode(&one); {
		case errors.Is(err, io.EOF):
			done.Next = page.NextCursor
			return done, nil
		case err != nil:
			return done, fmt.Errorf("read what became of each item: %w", err)
		case one.Error != nil:
			done.Refused = append(done.Refused, one)
		default:
			done.Moved++
		}
	}
}
