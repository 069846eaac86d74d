package databasetest

import (
	"context"
	"slices"
	"sync"

	"github.com/uptrace/bun"
)

// Statements are all that was sent to a database, whose hook it is.
type Statements struct {
	mu   sync.Mutex
	sent []string
}

var _ bun.QueryHook = (*Statements)(nil)

func (s *Statements) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }

func (s *Statements) AfterQuery(_ context.Context, event *bun.QueryEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, event.Query)
}

// Sent are the statements so far.
func (s *Statements) Sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}
