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

// analyzer lets PostgreSQL look at tables that it knows nothing of yet. Until its autovacuum comes by,
// about a minute after an import has begun, it takes every tenant for a two-hundredth of a table, and
// reads all of it where it should look things up: searches were seen to take seconds.
type analyzer struct {
	catalogue *catalogue.Catalogue

	mu   sync.Mutex // held while one looks; others go on without
	next time.Time
}

// How large a table must be to be worth a look, and how long to wait before looking whether one is,
// or looking again.
const (
	analyzedBytes    = 256 << 10
	analyzerInterval = 2 * time.Second
	analyzedPause    = time.Minute
)

// run costs a small query now and then, and an ANALYZE once in the life of a table.
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
		p.Log.WarnContext(ctx, "tables were not analyzed, queries may be slow", "error", err)
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
