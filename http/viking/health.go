package viking

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// status answers requests about the state of the server.
type status struct {
	keys     Keyring // nil for a server that does not administer accounts
	closed   bool
	version  string
	probes   []Probe
	reader   IndexReader
	sessions Sessions
}

func (s status) routes(on route) {
	on("GET /health", s.health)
	on("GET /api/v1/debug/health", func(context.Context, *query) (any, error) {
		return map[string]bool{"healthy": true}, nil
	})
	on("GET /ready", s.ready)
	on("GET /api/v1/system/status", s.systemStatus)
	on("GET /api/v1/observer/{component}", s.observe)
}

// health tells that the process is alive, and who is calling. It only asks whether a key was issued, and does without
// the answer if the database is unavailable.
type health struct {
	Status  string `json:"status"`
	Healthy bool   `json:"healthy"`
	Version string `json:"version"`
	Mode    string `json:"auth_mode,omitempty"` // dev, api_key
	Account string `json:"account_id,omitempty"`
	User    string `json:"user_id,omitempty"`
	Role    string `json:"role,omitempty"`
}

func (s status) health(ctx context.Context, q *query) (any, error) {
	h := health{Status: "ok", Healthy: true, Version: s.version, Mode: s.mode(ctx)}
	if q.caller.Tenant != "" {
		h.Account, h.User, h.Role = q.caller.Tenant, q.caller.user, roleOf(q.caller.Principal)
	}
	return rawAnswer{status: http.StatusOK, body: h}, nil
}

// systemStatus tells clients their user's id, from which they make URIs.
func (s status) systemStatus(_ context.Context, q *query) (any, error) {
	return map[string]any{"initialized": true, "user": q.caller.user}, nil
}

// Probe is one condition of readiness.
type Probe struct {
	Name  string                      // such as "database"
	Check func(context.Context) error // nil when all is well
}

// ready runs all probes in parallel.
func (s status) ready(ctx context.Context, _ *query) (any, error) {
	const patience = 2 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	failed := make([]error, len(s.probes))
	var asking sync.WaitGroup
	for i, probe := range s.probes {
		asking.Go(func() { failed[i] = probe.Check(ctx) })
	}
	asking.Wait()
	checks := map[string]string{}
	for i, probe := range s.probes {
		if checks[probe.Name] = "ok"; failed[i] != nil {
			checks[probe.Name] = "error"
		}
	}
	status, state := http.StatusOK, "ready"
	if errors.Join(failed...) != nil {
		status, state = http.StatusServiceUnavailable, "not_ready"
	}
	s.parts(ctx, checks, status == http.StatusOK)
	return rawAnswer{status: status, body: map[string]any{"status": state, "checks": checks}}, nil
}

// parts lists the database under OpenViking's names: an agent's files and their vectors. Readiness does not depend on
// vectors, which are made in the background.
func (s status) parts(ctx context.Context, checks map[string]string, well bool) {
	state := "error"
	if well {
		state = "ok"
	}
	checks["agfs"], checks["vectordb"], checks["embedding"], checks["api_key_manager"] = state, state, state, state
	if well && s.mode(ctx) == "dev" {
		checks["api_key_manager"] = "not_configured"
	}
}

// mode is OpenViking's name for the way of authentication; empty if it is unknown.
func (s status) mode(ctx context.Context) string {
	if s.closed {
		return "api_key"
	}
	if s.keys == nil {
		return ""
	}
	issued, err := s.keys.Any(ctx)
	switch {
	case err != nil:
		return ""
	case issued:
		return "api_key"
	}
	return "dev"
}
