package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Event is something that happened to an item.
type Event struct {
	Name       string          `json:"name"`
	Position   int64           `json:"position"`
	EventID    string          `json:"event_id"`
	RecordedAt time.Time       `json:"recorded_at"`
	Actor      string          `json:"actor"`
	OnBehalfOf string          `json:"on_behalf_of,omitempty"`
	Reason     string          `json:"reason,omitempty"`
	Data       json.RawMessage `json:"data,omitempty"`
	Changes    json.RawMessage `json:"changes,omitempty"`
}

// History reads what happened to an item, oldest first, forgotten or not. An error is the last thing that comes.
func (c *Client) History(ctx context.Context, id string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		query := url.Values{}
		for {
			var page struct {
				Items []Event `json:"items"`
				Next  string  `json:"next_cursor"`
			}
			_, err := c.ask(ctx, request{method: http.MethodGet, path: []string{"v1", "knowledge", id, "history"}, query: query}, &page)
			if err != nil {
				yield(Event{}, err)
				return
			}
			for _, event := range page.Items {
				if !yield(event, nil) {
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

// Event reads what happened at a position of the log. The error matches [ErrNotFound] if the caller may not know.
func (c *Client) Event(ctx context.Context, position int64) (Event, error) {
	var page struct {
		Items []Event `json:"items"`
	}
	query := url.Values{"after": {strconv.FormatInt(position-1, 10)}, "limit": {"1"}}
	_, err := c.ask(ctx, request{method: http.MethodGet, path: []string{"v1", "events"}, query: query}, &page)
	if err == nil && (len(page.Items) == 0 || page.Items[0].Position != position) {
		err = &Error{Status: http.StatusNotFound, Title: "Not found", Detail: fmt.Sprintf("no event at position %d that you may read", position)}
	}
	if err != nil {
		return Event{}, err
	}
	return page.Items[0], nil
}
