package viking

import (
	"context"
	"net/http"
)

func (s *Server) healthRoutes() {
	s.route("GET /health", s.health)
	s.route("GET /api/v1/debug/health", func(context.Context, *query) (any, error) {
		return map[string]bool{"healthy": true}, nil
	})
	s.route("GET /api/v1/system/status", s.systemStatus)
}

// health says that the process is alive, and to whom it says so. It asks nothing that could be away.
type health struct {
	Status  string `json:"status"`
	Healthy bool   `json:"healthy"`
	Version string `json:"version"`
	Account string `json:"account_id,omitempty"`
	User    string `json:"user_id,omitempty"`
	Role    string `json:"role,omitempty"`
}

func (s *Server) health(_ context.Context, q *query) (any, error) {
	h := health{Status: "ok", Healthy: true, Version: s.cfg.Version}
	if q.caller.Tenant != "" {
		h.Account, h.User, h.Role = q.caller.Tenant, q.caller.user, roleOf(q.caller.Principal)
	}
	return bare{status: http.StatusOK, body: h}, nil
}

// systemStatus tells clients the user's id, of which they build URIs.
func (s *Server) systemStatus(_ context.Context, q *query) (any, error) {
	return map[string]any{"initialized": true, "user": q.caller.user}, nil
}
