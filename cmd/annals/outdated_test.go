//go:build unix

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

// A later release migrates the database under two servers with traffic. They answer 503 and nothing else, give up
// their leases, and put no stream into quarantine. When the migration is undone, they go on.
func TestServersOfAnEarlierReleaseGiveWay(t *testing.T) {
	t.Parallel()
	databasetest.Slow(t)
	address, data := databasetest.Postgres(t), t.TempDir()
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + data, "ANNALS_LISTEN=127.0.0.1:0", "ANNALS_DATA=" + data,
		"DATABASE_URL=" + address,
	}
	servers := []string{startServer(t, data, env), startServer(t, data, env)}
	db := databasetest.Open(t, address)
	traffic := newTraffic(t, servers)
	traffic.until("items are remembered", func() bool { return traffic.remembered.Load() > 20 })

	alter := func(statements ...string) {
		t.Helper()
		for _, statement := range statements {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	alter("UPDATE schema_migrations SET version = version + 1",
		"ALTER TABLE past_1_counts ADD COLUMN later bigint NOT NULL DEFAULT 0",
		"ALTER TABLE past_1_counts ALTER COLUMN later DROP DEFAULT",
		"ALTER TABLE knowledge_1 RENAME COLUMN content TO said")
	traffic.until("writes and searches answer 503", func() bool {
		return traffic.refusedWrites.Load() > 10 && traffic.refusedSearches.Load() > 10
	})
	for _, server := range servers {
		if status, said := asked(t.Context(), t, http.MethodGet, server+"/readyz", ""); status !=
			http.StatusServiceUnavailable || !strings.Contains(said, "a newer release has migrated this database: ") {
			t.Errorf("got %d %s, want the reason", status, said)
		}
	}
	traffic.until("no server holds a lease", func() bool {
		return counted(t, db, "SELECT count(*) FROM leases WHERE expires_at > clock_timestamp()") == 0
	})

	alter("ALTER TABLE knowledge_1 RENAME COLUMN said TO content", "ALTER TABLE past_1_counts DROP COLUMN later",
		"UPDATE schema_migrations SET version = version - 1")
	before := traffic.remembered.Load()
	traffic.until("items are remembered again", func() bool { return traffic.remembered.Load() > before+20 })
	traffic.stop()
	databasetest.Until(t, "the past is known", func() bool {
		return counted(t, db, `
			SELECT count(*)
			FROM checkpoints AS c
			WHERE c.projection LIKE 'past%' AND c.position = (SELECT max(position) FROM events WHERE tenant = c.tenant)`) > 0
	})
	if got := counted(t, db, "SELECT count(*) FROM quarantine"); got != 0 {
		t.Errorf("%d streams are in quarantine", got)
	}
	if got, want := counted(t, db, "SELECT count(*) FROM events WHERE name = 'knowledge.remembered'"),
		int(traffic.remembered.Load()); got < want {
		t.Errorf("%d items were remembered, want at least %d", got, want)
	}
}

func counted(t *testing.T, db *database.DB, query string) (n int) {
	t.Helper()
	if err := db.NewRaw(query).Scan(database.ForEveryTenant(t.Context()), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// traffic writes to servers and searches them until it is stopped.
type traffic struct {
	t                                          *testing.T
	remembered, refusedWrites, refusedSearches atomic.Int64
	stop                                       func()
}

func newTraffic(t *testing.T, servers []string) *traffic {
	w := &traffic{t: t}
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	w.stop = func() { cancel(); clients.Wait() }
	t.Cleanup(w.stop)
	for i, server := range servers {
		clients.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				w.send(server+"/v1/knowledge", http.StatusCreated, &w.refusedWrites,
					fmt.Sprintf(`{"id":"c%d-%d","type":"tool","content":"thing %d of %d"}`, i, n, n, i))
			}
		})
		clients.Go(func() {
			for ctx.Err() == nil {
				w.send(server+"/v1/search", http.StatusOK, &w.refusedSearches, `{"query":"thing"}`)
			}
		})
	}
	return w
}

// send makes a request, which must be answered well, or with 503 and the time after which it may be repeated.
func (w *traffic) send(url string, wanted int, refused *atomic.Int64, body string) {
	answer, err := http.Post(url, "application/json", strings.NewReader(body)) //nolint:noctx // it must be answered
	if err != nil {
		w.t.Error(err)
		return
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusServiceUnavailable && answer.Header.Get("Retry-After") != "":
		refused.Add(1)
	case answer.StatusCode != wanted:
		w.t.Errorf("%s: got %s", url, answer.Status)
	case wanted == http.StatusCreated:
		w.remembered.Add(1)
	}
}

func (w *traffic) until(what string, holds func() bool) {
	w.t.Helper()
	databasetest.Until(w.t, what, func() bool { return w.t.Failed() || holds() })
	if w.t.Failed() {
		w.t.FailNow()
	}
}
