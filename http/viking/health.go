package viking

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/annals-kb/annals/domain"
)

// status answers requests about the state of the server.
type status struct{ *Server }

func (s status) healthRoutes() {
	s.route("GET /health", s.health)
	s.route("GET /api/v1/debug/health", func(context.Context, *query) (any, error) {
		return map[string]bool{"healthy": true}, nil
	})
	s.route("GET /ready", s.ready)
	s.route("GET /api/v1/system/status", s.systemStatus)
	s.route("POST /api/v1/system/wait", s.wait)
	s.route("POST /api/v1/system/consistency", s.consistency)
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
	h := health{Status: "ok", Healthy: true, Version: s.cfg.Version, Mode: s.mode(ctx)}
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
	failed := make([]error, len(s.cfg.Probes))
	var asking sync.WaitGroup
	for i, probe := range s.cfg.Probes {
		asking.Go(func() { failed[i] = probe.Check(ctx) })
	}
	asking.Wait()
	checks := map[string]string{}
	for i, probe := range s.cfg.Probes {
		if checks[probe.Name] = "ok"; failed[i] != nil {
			checks[probe.Name] = "error"
		}
	}
	s.parts(ctx, checks, errors.Join(failed...) == nil)
	if errors.Join(failed...) != nil {
		return rawAnswer{
			status: http.StatusServiceUnavailable, body: map[string]any{"status": "not_ready", "checks": checks},
		}, nil
	}
	return rawAnswer{status: http.StatusOK, body: map[string]any{"status": "ready", "checks": checks}}, nil
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

// queue counts the work of a background task.
type queue struct {
	Processed int64    `json:"processed"`
	Errors    int      `json:"error_count"`
	Messages  []string `json:"errors"`
}

// wait returns when everything is extracted from committed sessions and searches by meaning find it.
func (s status) wait(ctx context.Context, q *query) (any, error) {
	in := struct {
		Timeout *float64 `json:"timeout"`
	}{}
	if err := q.bind(&in); err != nil {
		return nil, err
	}
	patience := longestWait
	if in.Timeout != nil && *in.Timeout >= 0 {
		patience = time.Duration(min(*in.Timeout, longestWait.Seconds()) * float64(time.Second))
	}
	before, err := s.meaningStatus(ctx, q)
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if s.cfg.Sessions != nil && before.Head > 0 {
		if err := s.cfg.Sessions.AwaitExtraction(waiting, q.caller.Tenant, before.Head); err != nil {
			return nil, err
		}
	}
	after, err := s.meaningStatus(ctx, q)
	if err != nil {
		return nil, err
	}
	queues, err := s.awaitIndexed(waiting, q)
	if err == nil {
		queues["Semantic"] = queue{Processed: after.Head - before.Head, Messages: []string{}}
	}
	return queues, err
}

// longestWait is the longest time that a request waits for background work; the whole request may take 30 s.
const longestWait = 25 * time.Second

// awaitIndexed waits until searches by meaning find everything that was written.
func (s *Server) awaitIndexed(ctx context.Context, q *query) (map[string]queue, error) {
	before, err := s.meaningStatus(ctx, q)
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	if before.Head > 0 {
		if err := s.cfg.Reader.Await(waiting, q.caller.Tenant, before.Head, true); err != nil {
			return nil, err
		}
	}
	return map[string]queue{
		"Embedding": {Processed: before.LagEvents, Messages: []string{}},
		"Semantic":  {Messages: []string{}},
	}, nil
}

// meaningStatus is the status of the projection of vectors.
func (s *Server) meaningStatus(ctx context.Context, q *query) (domain.ProjectionStatus, error) {
	all, err := s.cfg.Reader.Status(ctx, q.caller.Tenant)
	for _, status := range all {
		if status.Name == "meaning" {
			return status, err
		}
	}
	return domain.ProjectionStatus{}, err
}
