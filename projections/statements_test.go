package projections_test

import (
	"context"
	"strings"
	"sync"

	"github.com/uptrace/bun"
)

// statements collects what is sent to a database.
type statements struct {
	mu   sync.Mutex
	sent []string
}

var _ bun.QueryHook = (*statements)(nil)

func (s *statements) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }

func (s *statements) AfterQuery(_ context.Context, event *bun.QueryEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, event.Query)
}

// query is a statement that looks for rows, and the settings that stand before it.
type query struct{ settings, text string }

// during are the queries that something sends.
func (s *statements) during(do func()) []query {
	s.mu.Lock()
	s.sent = nil
	s.mu.Unlock()
	do()
	s.mu.Lock()
	defer s.mu.Unlock()
	var queries []query
	for _, sent := range s.sent {
		settings := ""
		for text := range strings.SplitSeq(sent, ";\n") {
			text = strings.TrimSpace(text)
			switch verb, _, _ := strings.Cut(text, " "); verb {
			case "SET":
				settings += text + ";\n"
			case "SELECT", "WITH", "DELETE", "UPDATE":
				queries = append(queries, query{settings, text})
			}
		}
	}
	return queries
}
