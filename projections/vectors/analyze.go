package vectors

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/projections/catalogue"
)

// analyzer runs ANALYZE on new tables. Until autovacuum does, about a minute after an import began, PostgreSQL
// assumes that each tenant has a two-hundredth of a table. It then scans whole tables, and searches take seconds.
type analyzer struct {
	catalogue *catalogue.Catalogue

	mu   sync.Mutex // held during a check; other calls return at once
	next time.Time
}

// A table must have at least analyzedBytes. The others are the pauses between two checks, and after an ANALYZE.
const (
	analyzedBytes    = 256 << 10
	analyzerInterval = 2 * time.Second
	analyzedPause    = time.Minute
)

// run costs a small query now and then, and one ANALYZE per table.
func (s *analyzer) run(ctx context.Context, more ...bun.Ident) {
	p := s.catalogue
	if p.DB.Engine != database.Postgres || !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	if time.Now().Before(s.next) {
		return
	}
	s.next = time.Now().Add(analyzerInterval)
	unknown, err := s.unanalyzed(ctx, append(p.Active().Tables.All(), more...))
	if err == nil && len(unknown) > 0 {
		s.next = time.Now().Add(analyzedPause)
		_, err = p.DB.ExecContext(ctx, "ANALYZE (SKIP_LOCKED) "+strings.Join(unknown, ", "))
	}
	if err != nil && ctx.Err() == nil {
		p.Log.WarnContext(ctx, "tables could not be analyzed; queries may be slow", "error", err)
	}
}

func (s *analyzer) unanalyzed(ctx context.Context, tables []bun.Ident) (unknown []string, err error) {
	names := make([]string, len(tables))
	for i, table := range tables {
		names[i] = string(table)
	}
	err = s.catalogue.DB.NewRaw(`
		SELECT c.oid::regclass::text
		FROM pg_class AS c
		WHERE c.relname IN (?) AND pg_table_is_visible(c.oid)
		  AND pg_relation_size(c.oid) >= ?
		  AND NOT EXISTS (SELECT 1
		                  FROM pg_stats AS s
		                  WHERE s.schemaname = c.relnamespace::regnamespace::text
		                    AND s.tablename = c.relname AND s.attname = 'tenant')
		ORDER BY c.relname`,
		bun.List(names), analyzedBytes).Scan(ctx, &unknown)
	return unknown, err
}
