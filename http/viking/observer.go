package viking

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// components are OpenViking's names for the parts of a server.
var components = []string{"queue", "vikingdb", "models", "lock", "retrieval", "filesystem"}

// componentAliases are older names.
var componentAliases = map[string]string{"vlm": "models", "transaction": "lock"}

// component is the state of a part of the server, with a table for people.
type component struct {
	Name    string `json:"name"`
	Healthy bool   `json:"is_healthy"`
	Errors  bool   `json:"has_errors"`
	Status  string `json:"status"`
}

func (s status) observe(ctx context.Context, q *query) (any, error) {
	all, err := s.reader.Status(ctx, q.caller.Tenant)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(p domain.ProjectionStatus) bool { return slices.Contains(unused, p.State) })
	tasks, err := s.tasks(ctx, q)
	if err != nil {
		return nil, err
	}
	parts, healthy := map[string]component{}, true
	for _, name := range components {
		parts[name] = observed(name, all, tasks)
		healthy = healthy && parts[name].Healthy
	}
	name := q.request.PathValue("component")
	if name == "system" {
		return map[string]any{"is_healthy": healthy, "errors": errorsOf(all), "components": parts}, nil
	}
	part, known := parts[cmp.Or(componentAliases[name], name)]
	if !known {
		return nil, domain.Refuse(domain.ErrNotFound, "there is no such component")
	}
	part.Name = name
	return part, nil
}

// unused are the states of versions that are neither active nor being built. Their errors do not count.
var unused = []string{"standby", "retired", "failed"}

// tasks counts the unfinished ones among the newest tasks that the caller may see.
func (s status) tasks(ctx context.Context, q *query) (string, error) {
	newest, err := s.sessions.Tasks(ctx, domain.TaskQuery{By: q.caller.Principal, Limit: mostTasks})
	count := map[domain.TaskStatus]int{}
	for _, t := range newest {
		count[t.Status]++
	}
	return fmt.Sprintf("tasks: %d pending, %d running, %d failed, of the newest %d\n",
		count[domain.TaskPending], count[domain.TaskRunning], count[domain.TaskFailed], len(newest)), err
}

// projectionsOf are the projections of each component. A projection that is not listed belongs to the queue.
var projectionsOf = map[string][]string{
	"vikingdb":  {"knowledge", "meaning"},
	"models":    {"meaning", domain.Extraction, domain.Summaries},
	"retrieval": {"knowledge", "meaning"},
}

// observed is a component: its projections and their lag.
func observed(name string, all []domain.ProjectionStatus, tasks string) component {
	c := component{Name: name, Healthy: true, Status: "works in the database, which answers"}
	of, made := projectionsOf[name]
	if !made && name != "queue" {
		return c
	}
	var mine []domain.ProjectionStatus
	var table strings.Builder
	fmt.Fprintf(
		&table, "%-16s %10s %10s %8s  %-8s  %-7s  %s\n", "projection", "position", "behind", "seconds", "state", "healthy",
		"model",
	)
	for _, p := range all {
		if made && !slices.Contains(of, p.Name) {
			continue
		}
		mine = append(mine, p)
		model := cmp.Or(p.Settings["space"], p.Settings["extractor"], p.Settings["summarizer"], "-")
		fmt.Fprintf(
			&table, "%-16s %10d %10d %8.1f  %-8s  %-7t  %s\n", p.Name, p.Position, p.LagEvents, p.LagSeconds, p.State,
			p.Error == "", model,
		)
	}
	if name == "queue" {
		table.WriteString(tasks)
	}
	troubles := errorsOf(mine)
	c.Status = table.String() + strings.Join(troubles, "\n")
	c.Errors, c.Healthy = len(troubles) > 0, len(troubles) == 0
	return c
}

// errorsOf are the errors of halted projections.
func errorsOf(all []domain.ProjectionStatus) []string {
	list := []string{}
	for _, p := range all {
		if p.Error != "" {
			list = append(list, p.Name+": "+p.Error)
		}
	}
	return list
}
