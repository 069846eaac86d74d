package client

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Knowledge is a piece of knowledge. To remember one, Content and one of Type and Category are enough.
type Knowledge struct {
	ID          string          `json:"id,omitempty"`       // yours, or the server's choice
	Type        string          `json:"type,omitempty"`     // user_profile, strategy, tool, usecase, definition, plan
	Task        string          `json:"task,omitempty"`     // what one was doing, in which situation
	Content     string          `json:"content,omitempty"`  // at most 64 KiB
	Abstract    string          `json:"abstract,omitempty"` // some hundred tokens; derived if left out
	Overview    string          `json:"overview,omitempty"` // one or two thousand
	Tags        Tags            `json:"tags,omitempty"`
	Scopes      []string        `json:"scopes,omitempty"`       // who may see it; the owner alone if left out
	Owner       string          `json:"owner,omitempty"`        // who may change it; the caller if left out
	ContextType string          `json:"context_type,omitempty"` // memory, skill, resource
	Category    string          `json:"category,omitempty"`     // preferences, tools, cases, antipatterns …
	Polarity    string          `json:"polarity,omitempty"`     // positive, negative
	Media       string          `json:"media,omitempty"`        // text, image, video, audio, binary
	Meta        json.RawMessage `json:"meta,omitempty"`         // an object
	URI         string          `json:"uri,omitempty"`          // derived if left out
	Source      *Source         `json:"source,omitempty"`
	Eval        *Eval           `json:"eval,omitempty"`
	OccurredAt  *time.Time      `json:"occurred_at,omitempty"`
	Reason      string          `json:"reason,omitempty"` // why it is revised, for its history; only sent, by [Client.Save] and [Client.Revise]

	Visibility          string         `json:"visibility,omitempty"` // follows from the scopes, as all below from what happened
	Stale               *Stale         `json:"stale,omitempty"`
	ConfirmedAt         *time.Time     `json:"confirmed_at,omitempty"`
	ConfirmUntil        *time.Time     `json:"confirm_until,omitempty"`
	ConfirmationExpired bool           `json:"confirmation_expired,omitempty"`
	Status              string         `json:"status,omitempty"`
	SupersededBy        string         `json:"superseded_by,omitempty"`
	Held                bool           `json:"held,omitempty"`
	DerivedFrom         []string       `json:"derived_from,omitempty"`
	Revision            int64          `json:"revision,omitempty"`
	Version             int64          `json:"version,omitempty"`
	Position            int64          `json:"position,omitempty"`
	CreatedAt           *time.Time     `json:"created_at,omitempty"`
	UpdatedAt           *time.Time     `json:"updated_at,omitempty"`
	Redacted            map[string]int `json:"redacted,omitempty"` // what was taken out of its texts, by class
}

// Source says where knowledge came from.
type Source struct {
	Name        string   `json:"name,omitempty"`
	Category    string   `json:"category,omitempty"`
	URLs        []string `json:"urls,omitempty"`
	AgentID     string   `json:"agent_id,omitempty"`
	SubmittedBy string   `json:"submitted_by,omitempty"`
	Timestamp   string   `json:"timestamp,omitempty"`
	TraceID     string   `json:"trace_id,omitempty"`
}

// Eval is how knowledge has proved itself.
type Eval struct {
	Helpful        *int     `json:"helpful,omitempty"`
	Harmful        *int     `json:"harmful,omitempty"`
	Confidence     *float64 `json:"confidence,omitempty"`
	HelpfulHistory []Use    `json:"helpful_history,omitempty"`
	HarmfulHistory []Use    `json:"harmful_history,omitempty"`
}

// Use is one occasion on which knowledge was used and judged.
type Use struct {
	Query   string     `json:"query,omitempty"`
	TraceID string     `json:"trace_id,omitempty"`
	Outcome string     `json:"outcome,omitempty"`
	By      string     `json:"by,omitempty"`
	At      *time.Time `json:"at,omitempty"`
}

// Stale sums up the reports that knowledge is out of date.
type Stale struct {
	Reporters int        `json:"reporters"`
	Since     *time.Time `json:"since,omitempty"`
	Reason    string     `json:"reason,omitempty"`
}

// Tags are labels: a key with one value or several.
type Tags map[string][]string

// UnmarshalJSON takes a string for a list of one.
func (t *Tags) UnmarshalJSON(raw []byte) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return err
	}
	*t = make(Tags, len(values))
	for key, value := range values {
		var one string
		if json.Unmarshal(value, &one) == nil {
			(*t)[key] = []string{one}
			continue
		}
		var several []string
		if err := json.Unmarshal(value, &several); err != nil {
			return err
		}
		(*t)[key] = several
	}
	return nil
}

// Receipt is what a write did.
type Receipt struct {
	Knowledge Knowledge // the item afterwards
	Outcome   string    // created, revised, recorded, unchanged
	Events    string    // ids of the events that it recorded, separated by commas
	Position  int64     // read at this position of the log or later and you see it
}

func receipt(k Knowledge, header http.Header) Receipt {
	position, _ := strconv.ParseInt(header.Get("Annals-Position"), 10, 64) // 0 if the server does not say
	return Receipt{Knowledge: k, Outcome: header.Get("Annals-Outcome"), Events: header.Get("Annals-Events"), Position: position}
}

func (c *Client) write(ctx context.Context, r request) (Receipt, error) {
	var k Knowledge
	header, err := c.ask(ctx, r, &k)
	if err != nil {
		return Receipt{}, err
	}
	return receipt(k, header), nil
}

// Remember adds an item. The error matches [ErrConflict] if its id belongs to other knowledge.
func (c *Client) Remember(ctx context.Context, k Knowledge) (Receipt, error) {
	return c.write(ctx, request{method: http.MethodPost, path: []string{"v1", "knowledge"}, body: k})
}

// RememberUnlessSaid adds an item unless another that the caller may see came to have exactly its content after a search
// that looked at everything up to a position, [Found.Position]. The error matches [ErrOvertaken] if one did: search again.
func (c *Client) RememberUnlessSaid(ctx context.Context, k Knowledge, since int64) (Receipt, error) {
	query := url.Values{"unless_said_since": {strconv.FormatInt(since, 10)}}
	return c.write(ctx, request{method: http.MethodPost, path: []string{"v1", "knowledge"}, query: query, body: k})
}

// Save adds an item, or replaces what the one says that has its id, for the Reason that it gives.
func (c *Client) Save(ctx context.Context, k Knowledge) (Receipt, error) {
	return c.write(ctx, request{method: http.MethodPost, path: []string{"v1", "knowledge"}, query: url.Values{"update": {"true"}}, body: k})
}

// Revise changes what k gives of an item that has an id, for the Reason that it gives; the rest stays. Of Tags those are
// replaced whose key is given; an empty list takes one away. The error matches [ErrNotFound], or [ErrGone] if the item was forgotten.
func (c *Client) Revise(ctx context.Context, id string, k Knowledge) (Receipt, error) {
	k.ID = ""
	return c.write(ctx, request{method: http.MethodPatch, path: []string{"v1", "knowledge", id}, body: k})
}

// Knowledge reads an item. The error matches [ErrNotFound], or [ErrGone] if it was forgotten.
func (c *Client) Knowledge(ctx context.Context, id string) (Knowledge, error) {
	var k Knowledge
	_, err := c.ask(ctx, request{method: http.MethodGet, path: []string{"v1", "knowledge", id}}, &k)
	return k, err
}

// At reads the item that lies at a URI. The error matches [ErrNotFound] if none does.
func (c *Client) At(ctx context.Context, uri string) (Knowledge, error) {
	for k, err := range c.List(ctx, url.Values{"uri": {uri}}) {
		if err != nil || k.URI == uri {
			return k, err
		}
	}
	return Knowledge{}, &Error{Status: http.StatusNotFound, Title: "Not found", Detail: "no knowledge lies at " + uri}
}

// List reads what passes the filters of GET /v1/knowledge, newest first, a page at a time as it is asked for. An
// error is the last thing that comes.
func (c *Client) List(ctx context.Context, filters url.Values) iter.Seq2[Knowledge, error] {
	return func(yield func(Knowledge, error) bool) {
		query := url.Values{"limit": {"100"}}
		maps.Copy(query, filters)
		for {
			var page struct {
				Items []Knowledge `json:"items"`
				Next  string      `json:"next_cursor"`
			}
			_, err := c.ask(ctx, request{method: http.MethodGet, path: []string{"v1", "knowledge"}, query: query}, &page)
			if err != nil {
				yield(Knowledge{}, err)
				return
			}
			for _, k := range page.Items {
				if !yield(k, nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			query.Set("cursor", page.Next)
		}
	}
}

// Forget takes an item out of all answers. Its history stays.
func (c *Client) Forget(ctx context.Context, id, reason string) error {
	_, err := c.ask(ctx, request{method: http.MethodDelete, path: []string{"v1", "knowledge", id}, body: map[string]string{"reason": reason}}, nil)
	return err
}

// Vote says what came of using an item. One voice counts for each voter and trace, or without a trace for a day.
type Vote struct {
	Verdict string `json:"verdict"` // helpful, harmful
	Query   string `json:"query,omitempty"`
	TraceID string `json:"trace_id,omitempty"`
	Outcome string `json:"outcome,omitempty"`
}

// GiveFeedback says that an item was helpful or harmful.
func (c *Client) GiveFeedback(ctx context.Context, id string, vote Vote) (Receipt, error) {
	return c.write(ctx, request{method: http.MethodPost, path: []string{"v1", "knowledge", id, "feedback"}, body: vote})
}

// ReportStale says that an item is out of date: it counts half as much until somebody confirms it.
func (c *Client) ReportStale(ctx context.Context, id, reason string) (Receipt, error) {
	return c.write(ctx, request{method: http.MethodPost, path: []string{"v1", "knowledge", id, "stale"}, body: map[string]string{"reason": reason}})
}

// Confirm says that an item still holds.
func (c *Client) Confirm(ctx context.Context, id, reason string) (Receipt, error) {
	return c.write(ctx, request{method: http.MethodPost, path: []string{"v1", "knowledge", id, "confirm"}, body: map[string]string{"reason": reason}})
}
