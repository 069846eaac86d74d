package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
)

// The most that a list answers with at once.
const (
	largestPage    = 100 // pieces of knowledge
	largestLogPage = 500 // events
)

// page is a piece of a list.
type page struct {
	Items      []json.RawMessage `json:"items"`
	NextCursor string            `json:"next_cursor,omitempty"`
}

// pages hands the pages of a list to each, following the cursors to the end.
func (c *client) pages(ctx context.Context, path []string, query url.Values, each func([]json.RawMessage) error) error {
	for {
		var p page
		if _, err := c.read(ctx, request{Method: http.MethodGet, Path: path, Query: query}, &p); err != nil {
			return err
		}
		if err := each(p.Items); err != nil {
			return err
		}
		if p.NextCursor == "" {
			return nil
		}
		query.Set("cursor", p.NextCursor)
	}
}

// all reads a list to its end.
func (c *client) all(ctx context.Context, path []string, query url.Values) ([]json.RawMessage, error) {
	items := []json.RawMessage{}
	err := c.pages(ctx, path, query, func(page []json.RawMessage) error {
		items = append(items, page...)
		return nil
	})
	return items, err
}
