//go:build unix

package main

import (
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

// pooler is a PgBouncer between a test and the server for tests, as deploy/pgbouncer.ini sets it up.
type pooler struct {
	t    testing.TB
	port int
}

// newPooler starts one, which ends with the test. The settings replace those of the file.
func newPooler(t testing.TB, settings map[string]string) pooler {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("there is no pgbouncer: apt-get install pgbouncer")
	}
	server, err := url.Parse(os.Getenv("ANNALS_TEST_POSTGRES"))
	if err != nil || server.Host == "" {
		t.Fatal("ANNALS_TEST_POSTGRES names no server")
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	_ = listener.Close()

	home, err := os.MkdirTemp("", "annals-pooler-") //nolint:usetesting // t.TempDir is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	password, _ := server.User.Password()
	users := fmt.Appendf(nil, "%q %q\n", server.User.Username(), password)
	settings = maps.Clone(settings)
	settings["listen_port"], settings["auth_file"] = strconv.Itoa(port), filepath.Join(home, "users")
	example, err := os.ReadFile("../../deploy/pgbouncer.ini")
	if err != nil {
		t.Fatal(err)
	}
	of := fmt.Sprintf("* = host=%s port=%s ", server.Hostname(), cmp.Or(server.Port(), "5432"))
	lines := strings.Split(strings.Replace(string(example), "annals = host=127.0.0.1 port=5432 dbname=annals ", of, 1), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool {
		name, _, _ := strings.Cut(line, " = ")
		return settings[name] != ""
	})
	for name, value := range settings {
		lines = append(lines, name+" = "+value)
	}
	var args []string
	if os.Geteuid() == 0 { // which PgBouncer refuses
		nobody, err := user.Lookup("nobody")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(nobody.Uid)
		if err := os.Chown(home, uid, -1); err != nil {
			t.Fatal(err)
		}
		args = []string{"-u", "nobody"}
	}
	for name, content := range map[string]string{"users": string(users), "pgbouncer.ini": strings.Join(lines, "\n")} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(content), 0o644); err != nil { //nolint:gosec // of the test
			t.Fatal(err)
		}
	}
	process := exec.CommandContext(
		context.WithoutCancel(t.Context()), program, append(args, filepath.Join(home, "pgbouncer.ini"))...,
	)
	process.Stderr = t.Output()
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Signal(syscall.SIGKILL)
		_ = process.Wait() // says that it was killed
	})
	databasetest.Until(t, "PgBouncer answers", func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return pooler{t, port}
}

// through is the URL of a database through the pooler.
func (p pooler) through(address string) string {
	p.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		p.t.Fatal("the URL of the database does not parse")
	}
	u.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port))
	return u.String()
}

// Two servers share a pool of sessions that is smaller than the number of their connections. Everything works as without
// a pooler, and no session keeps what one of them has set.
func TestAvailabilityThroughAPooler(t *testing.T) {
	t.Parallel()
	databasetest.Slow(t)
	const size, clients, items = 12, 20, 10
	pool := newPooler(t, map[string]string{"default_pool_size": strconv.Itoa(size), "query_wait_timeout": "2"})
	address, data := databasetest.Postgres(t), t.TempDir()
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + data, "ANNALS_LISTEN=127.0.0.1:0", "ANNALS_DATA=" + data,
		"DATABASE_URL=" + pool.through(address), "ANNALS_EMBEDDING_MODEL=",
	}
	servers := []caller{{t, startServer(t, data, env)}, {t, startServer(t, data, env)}}
	annals := func(server string, args ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), "annals", args...)
		command.Dir, command.Env = data, append(slices.Clone(env), "ANNALS_SERVER="+server)
		said, err := command.CombinedOutput()
		if err != nil {
			t.Errorf("annals %s: %v: %s", strings.Join(args, " "), err, said)
		}
		return string(said)
	}

	// waits remembers items by one server, searches for each by the other, and returns the longest wait for an answer.
	waits := func(client, items int) (longest time.Duration) {
		for n := range items {
			id := fmt.Sprintf("c%d-%d", client, n)
			position := servers[n%2].remembers(id)
			began := time.Now()
			servers[1-n%2].gets(http.StatusOK, id, http.MethodPost, "/v1/search?max_wait=25&min_position="+position,
				`{"query":"`+id+`","limit":3}`)
			longest = max(longest, time.Since(began))
		}
		return longest
	}
	var longest [clients]time.Duration
	var working sync.WaitGroup
	for client := range clients {
		working.Go(func() { longest[client] = waits(client, items) })
	}
	working.Go(func() { annals(servers[0].server, "rebuild", "knowledge") })
	working.Wait()
	t.Logf("%d clients: %d writes, each found by the other server within %s", clients, clients*items, slices.Max(longest[:]))
	t.Logf("one client: %d writes, each found by the other server within %s", items, waits(clients, items))

	annals(servers[1].server, "verify", "--answers")
	annals(servers[0].server, "erase", "c0-0")
	if said := annals(servers[0].server, "erase", "--purge"); !strings.Contains(said, "hold nothing of what was erased") {
		t.Errorf("purge: %s", said)
	}
	servers[1].gets(http.StatusGone, "erased", http.MethodGet, "/v1/knowledge/c0-0", "")
	annals(servers[0].server, "doctor")

	release := pool.holdClean(pool.through(address), size)
	servers[0].gets(http.StatusServiceUnavailable, "", http.MethodGet, "/v1/knowledge", "")
	servers[1].gets(http.StatusServiceUnavailable, "", http.MethodPost, "/v1/knowledge",
		`{"type":"tool","content":"no session","scopes":["public"]}`)
	release()
	servers[0].remembers("released")
	servers[1].gets(http.StatusOK, "released", http.MethodGet, "/v1/knowledge/released", "")
}

// holdClean holds all sessions of the pool until release is called. It fails if one of them listens, or keeps a setting.
func (p pooler) holdClean(address string, size int) (release func()) {
	p.t.Helper()
	sessions := map[string]bool{}
	moment, err := databasetest.Open(p.t, address).OpenSnapshot(p.t.Context(), size)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, tx := range moment.Transactions {
		var pid, said string
		err := tx.QueryRowContext(p.t.Context(), `
			SELECT
				pg_backend_pid(),
				concat_ws(' ', (SELECT count(*) FROM pg_listening_channels()), current_setting('lock_timeout'),
					current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'))`).Scan(&pid, &said)
		if err != nil {
			p.t.Fatal(err)
		}
		sessions[pid] = true
		if said != "0 0 0 5min" {
			p.t.Errorf("session %s: got channels and settings %q, want none and the pool's", pid, said)
		}
	}
	if len(sessions) != size {
		p.t.Errorf("saw %d sessions, want %d", len(sessions), size)
	}
	return moment.End
}

// A database of the first release is migrated through a pooler, by two processes at once.
func TestAvailabilityOfAMigrationThroughAPooler(t *testing.T) {
	t.Parallel()
	databasetest.Slow(t)
	pool, address := newPooler(t, map[string]string{}), databasetest.Postgres(t)
	packed, err := os.Open(filepath.Join("testdata", "filled", "0.1.0", "postgres.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packed.Close() }()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	dump, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	statements := slices.DeleteFunc(strings.Split(string(dump), "\n"), func(line string) bool {
		return strings.HasPrefix(line, `\`) // for psql
	})
	if _, err := databasetest.Open(t, address).DB.DB.ExecContext(t.Context(), strings.Join(statements, "\n")); err != nil {
		t.Fatal(err)
	}
	var migrating sync.WaitGroup
	for range 2 {
		migrating.Go(func() {
			if err := database.Migrate(t.Context(), databasetest.Open(t, pool.through(address))); err != nil {
				t.Error(err)
			}
		})
	}
	migrating.Wait()
	have, want, err := database.Schema(t.Context(), databasetest.Open(t, address))
	if err != nil || have != want {
		t.Errorf("got schema %d, %v, want %d", have, err, want)
	}
}

func TestAvailabilityOfAPoolerThatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	databasetest.Slow(t)
	for name, test := range map[string]struct {
		settings map[string]string
		want     string // empty: it fits
	}{
		"sessions": {map[string]string{"pool_mode": "session"}, ""},
		"one session": {
			map[string]string{"pool_mode": "session", "default_pool_size": "1"},
			"has 1 sessions for this server, and no further one",
		},
		"few transactions": {
			map[string]string{"default_pool_size": "3"},
			fmt.Sprintf("has 3 sessions for this server, and no further one: give the pooler at least %d", runtime.GOMAXPROCS(0)+4),
		},
		"statements": {map[string]string{"pool_mode": "statement"}, "use transaction mode"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := newPooler(t, test.settings)
			db, err := database.Open(t.Context(), pool.through(databasetest.Migrated(t, database.Postgres)), databasetest.Log(t))
			if err == nil {
				_ = db.Close()
			}
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			t.Log(err)
		})
	}
}
