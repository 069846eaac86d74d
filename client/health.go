package client

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// health remembers whether the server was there: for long if it was, for a moment if it was not.
type health struct {
	mu sync.Mutex
	up bool
	at time.Time // zero while nobody knows
}

func (h *health) note(up bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.up, h.at = up, time.Now()
}

// known tells whether the server is there, if that was seen lately.
func (h *health) known(upFor, downFor time.Duration) (up, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	age := time.Since(h.at)
	return h.up, !h.at.IsZero() && (h.up && age < upFor || !h.up && age < downFor)
}

// Health is what a server says of itself.
type Health struct {
	Status  string `json:"status"`
	Version string `json:"version"`
}

// Health asks whether the server is alive.
func (c *Client) Health(ctx context.Context) (Health, error) {
	var h Health
	_, err := c.ask(ctx, request{method: http.MethodGet, path: []string{"healthz"}}, &h)
	return h, err
}

// Available tells whether the server is there. It asks only if nothing was heard from it lately, so that it may be
// called before every request.
func (c *Client) Available(ctx context.Context) bool {
	if up, known := c.health.known(c.cfg.UpFor, c.cfg.DownFor); known {
		return up
	}
	eager := *c // whoever wants to work on as if there were no memory does not wait for one
	eager.cfg.Retries = -1
	_, err := eager.Health(ctx)
	return err == nil
}

// Identity is as whom the server knows a caller.
type Identity struct {
	Tenant         string   `json:"tenant"`
	Subject        string   `json:"subject"`
	OnBehalfOf     string   `json:"on_behalf_of,omitempty"`
	Role           string   `json:"role"`
	Memberships    []string `json:"memberships,omitempty"`
	Authentication string   `json:"authentication"`
}

// Whoami asks as whom the server knows the caller.
func (c *Client) Whoami(ctx context.Context) (Identity, error) {
	var me Identity
	_, err := c.ask(ctx, request{method: http.MethodGet, path: []string{"v1", "whoami"}}, &me)
	return me, err
}

// Projection is how a version of one of the server's projections does.
type Projection struct {
	Name      string `json:"name"`
	Version   int    `json:"version"`
	State     string `json:"state"` // active is read; draining, retired and failed ones are not, and are not going to be
	LagEvents int64  `json:"lag_events"`
	Error     string `json:"error,omitempty"`
}

// Projections asks how far what answers questions has read the log.
func (c *Client) Projections(ctx context.Context) ([]Projection, error) {
	var page struct {
		Items []Projection `json:"items"`
	}
	_, err := c.ask(ctx, request{method: http.MethodGet, path: []string{"v1", "projections"}}, &page)
	return page.Items, err
}
