package viking

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

func (s *Server) observerRoutes() {
	s.route("GET /api/v1/observer/{component}", s.observe)
}

// components are what OpenViking's servers are made of. What stands here for most of them is the database.
var components = []string{"queue", "vikingdb", "models", "lock", "retrieval", "filesystem"}

// formerly are the names that some of them had before.
var formerly = map[string]string{"vlm": "models", "transaction": "lock"}

// component is how a part of the server does, with a table for people.
type component struct {
	Name    string `json:"name"`
	Healthy bool   `json:"is_healthy"`
	Errors  bool   `json:"has_errors"`
	Status  string `json:"status"`
}

func (s *Server) observe(ctx context.Context, q *query) (any, error) {
	all, err := s.cfg.Reader.Status(ctx, q.caller.Tenant)
	if err != nil {
		return nil, err
	}
	name := q.path("component")
	if now, older := formerly[name]; older {
		c := observed(now, all)
		c.Name = name
		return c, nil
	}
	switch {
	case slices.Contains(components, name):
		return observed(name, all), nil
	case name != "system":
		return nil, domain.Refuse(domain.ErrNotFound, "there is no such component")
	}
	parts, healthy := map[string]component{}, true
	for _, name := range components {
		parts[name] = observed(name, all)
		healthy = healthy && parts[name].Healthy
	}
	return map[string]any{"is_healthy": healthy, "errors": troubles(all), "components": parts}, nil
}

// observed is a component. What is behind the log, or stands still, is the queue's.
func observed(name string, all []domain.ProjectionStatus) component {
	c := component{Name: name, Healthy: true, Status: "works in the database"}
	if name != "queue" && name != "vikingdb" {
		return c
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%-16s %10s %10s %8s  %s\n", "projection", "position", "behind", "seconds", "state")
	for _, p := range all {
		fmt.Fprintf(&table, "%-16s %10d %10d %8.1f  %s\n", p.Name, p.Position, p.LagEvents, p.LagSeconds, p.State)
	}
	c.Status = table.String()
	c.Errors = len(troubles(all)) > 0
	c.Healthy = !c.Errors
	return c
}

// troubles are why projections stand still.
func troubles(all []domain.ProjectionStatus) []string {
	list := []string{}
	for _, p := range all {
		if p.Error != "" {
			list = append(list, p.Name+": "+p.Error)
		}
	}
	return list
}
