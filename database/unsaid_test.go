package database_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

// step is a step of a plan that was carried out.
type step struct {
	Rows    float64 `json:"Actual Rows"`
	Loops   float64 `json:"Actual Loops"`
	Removed float64 `json:"Rows Removed by Join Filter"`
	Plans   []step
}

// visited counts the rows that a step and those below it looked at.
func (s step) visited() float64 {
	n := (s.Rows + s.Removed) * s.Loops
	for _, below := range s.Plans {
		n += below.visited()
	}
	return n
}

// Even a plan that joins by nested loops alone looks at each text that goes a few times, however many go.
func TestTheGuardOfTextsIsLinearWhateverThePlan(t *testing.T) {
	t.Parallel()
	const votes = 500
	db := databasetest.Open(t, databasetest.Postgres(t))
	if err := database.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	var function, plan string
	if err := db.NewRaw(`SELECT prosrc FROM pg_proc WHERE proname = 'refuse_unsaid_erasure'`).Scan(t.Context(), &function); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(function, "$query$")
	if len(parts) != 3 {
		t.Fatalf("got %s, want a query that is planned each time", function)
	}
	err := db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO events (tenant, position, event_id, stream, version, name, schema_version, recorded_at, actor, authentication, data, hash)
			SELECT 'acme', i, gen_random_uuid(), 'knowledge:k', i, 'knowledge.found_helpful', 1, now(), 'user:a', 'none', '{}', ''
			FROM generate_series(1, ?0) AS i;
			INSERT INTO events (tenant, position, event_id, stream, version, name, schema_version, recorded_at, actor, authentication, data, hash)
			SELECT 'acme', ?0 + 1, gen_random_uuid(), 'knowledge:k', ?0 + 1, 'knowledge.erased', 1, now(), 'user:a', 'none',
				json_build_object('events', json_agg(event_id)), ''
			FROM events;
			CREATE TEMPORARY TABLE gone ON COMMIT DROP AS SELECT tenant, position FROM events WHERE version <= ?0;
			ANALYZE events, gone;
			SET LOCAL enable_hashjoin = off;
			SET LOCAL enable_mergejoin = off`, votes)
		if err != nil {
			return err
		}
		return tx.NewRaw("EXPLAIN (ANALYZE, FORMAT JSON) "+parts[1]).Scan(ctx, &plan)
	})
	if err != nil {
		t.Fatal(err)
	}
	var plans []struct{ Plan step }
	if err := json.Unmarshal([]byte(plan), &plans); err != nil {
		t.Fatal(err)
	}
	if got := plans[0].Plan.visited(); got < votes || got > 20*votes {
		t.Errorf("looked at %.0f rows for %d texts:\n%s", got, votes, plan)
	}
}
