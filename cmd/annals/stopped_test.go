//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

// A server is stopped inside appends, as by a pause of its machine. Another server writes a few seconds later, and
// says meanwhile why it waits. Whatever the stopped server was asked is there once, as soon as it was answered.
func TestAServerThatIsStoppedInAnAppendStopsNoOtherServer(t *testing.T) {
	t.Parallel()
	databasetest.Slow(t)
	const stops, clients = 6, 8
	address, data := databasetest.Postgres(t), t.TempDir()
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + data, "ANNALS_LISTEN=127.0.0.1:0", "ANNALS_DATA=" + data,
		"DATABASE_URL=" + address,
	}
	stopped, process := startProcess(t, data, env)
	other := startServer(t, data, env)
	db := databasetest.Open(t, address)
	signal := func(s syscall.Signal) {
		if err := process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = process.Signal(syscall.SIGCONT) })

	writing, end := context.WithCancel(t.Context())
	var clientsDone sync.WaitGroup
	written := make([]int, clients)
	for client := range clients {
		clientsDone.Go(func() {
			for writing.Err() == nil {
				for i := 0; ; i++ { // until it is answered well
					status, said := asked(context.WithoutCancel(writing), t, http.MethodPost, stopped+"/v1/knowledge",
						fmt.Sprintf("c%d-%d", client, written[client]))
					if status == http.StatusCreated {
						break
					}
					if status != http.StatusServiceUnavailable || i > 100 {
						t.Errorf("client %d: %d %s", client, status, said)
						return
					}
				}
				written[client]++
			}
		})
	}

	var longest time.Duration
	for stop := range stops {
		for { // until it was stopped inside an append
			signal(syscall.SIGSTOP)
			time.Sleep(100 * time.Millisecond) // PostgreSQL does what it was sent before
			if holdsLock(t, db) {
				break
			}
			signal(syscall.SIGCONT)
			time.Sleep(time.Duration(1+rand.IntN(30)) * time.Millisecond)
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		if status, said := asked(ctx, t, http.MethodPost, other+"/v1/knowledge", fmt.Sprint("other-", stop)); status != http.StatusCreated {
			t.Errorf("stop %d: another server answers %d %s", stop, status, said)
		}
		cancel()
		longest = max(longest, time.Since(began))
		signal(syscall.SIGCONT)
	}
	t.Logf("the longest wait of another server in %d stops: %s", stops, longest)
	end()
	clientsDone.Wait()

	want := stops
	for client, n := range written {
		want += n
		for i := range n {
			if status, said := asked(t.Context(), t, http.MethodGet, fmt.Sprintf("%s/v1/knowledge/c%d-%d", other, client, i), ""); status != http.StatusOK {
				t.Errorf("client %d was told of item %d, which is answered with %d %s", client, i, status, said)
			}
		}
	}
	var found int
	err := db.NewRaw("SELECT count(*) FROM events WHERE name = 'knowledge.remembered'").Scan(database.ForEveryTenant(t.Context()), &found)
	if err != nil || found != want {
		t.Errorf("%d items were remembered, want %d: %v", found, want, err)
	}
}

// holdsLock tells whether a session that waits for its client holds the lock of a tenant.
func holdsLock(t *testing.T, db *database.DB) (holds bool) {
	t.Helper()
	err := db.NewRaw(`
		SELECT EXISTS (
			SELECT
			FROM pg_locks AS l
			JOIN pg_stat_activity AS a ON a.pid = l.pid
			WHERE a.datname = current_database() AND a.state = 'idle in transaction'
			  AND l.locktype = 'advisory' AND l.classid = 'events'::regclass::oid AND l.granted
		)`).Scan(t.Context(), &holds)
	if err != nil {
		t.Fatal(err)
	}
	return holds
}

// asked sends a request about an item, and returns the answer.
func asked(ctx context.Context, t *testing.T, method, url, id string) (status int, said string) {
	t.Helper()
	var body io.Reader
	if method == http.MethodPost {
		body = strings.NewReader(fmt.Sprintf(`{"id":%q,"type":"tool","content":"%s is here"}`, id, id))
	}
	r, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", id)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Errorf("%s %s: %v", method, url, err)
		return 0, ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Error(err)
	}
	return answer.StatusCode, string(text)
}
