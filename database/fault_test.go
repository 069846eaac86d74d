package database_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

func TestACommitThatNobodyAnswersHasAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	for name, delivered := range map[string]bool{"the answer is lost": true, "the request is lost": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := databasetest.NewProxy(t, databasetest.Postgres(t))
			db := databasetest.Open(t, proxy.URL)
			makeItems(t, db)

			if delivered {
				proxy.LoseAnswer(0)
			} else {
				proxy.LoseCommit()
			}
			err := transact(t, db, `INSERT INTO items (id) VALUES (1)`)
			if !errors.Is(err, database.ErrOutcomeUnknown) || !errors.Is(err, database.ErrUnavailable) {
				t.Errorf("got %v, want an unknown outcome", err)
			}
			// The next connection works, and tells, as soon as the server has done what it was sent.
			if delivered {
				databasetest.Until(t, "it is committed", func() bool { return count(t, db) == 1 })
			} else if count(t, db) > 0 {
				t.Error("it is committed")
			}
		})
	}
}

func TestAServerThatIsDownIsUnavailable(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	_, err = database.Open(t.Context(), "postgres://annals:hunter2@"+address+"/annals", databasetest.Log(t))
	if !errors.Is(err, database.ErrUnavailable) {
		t.Errorf("got %v, want unavailable", err)
	}
	if got := err.Error(); strings.Contains(got, "hunter2") || !strings.Contains(got, address) {
		t.Errorf("got %q, want the server and not the password", got)
	}
}

func TestAServerThatGoesAwayIsUnavailableAndThenFoundAgain(t *testing.T) {
	t.Parallel()
	direct := databasetest.Postgres(t)
	db, other := databasetest.Open(t, direct), databasetest.Open(t, direct)
	makeItems(t, db)
	err := db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
		endOtherSessions(t, other)
		_, err := tx.ExecContext(ctx, `INSERT INTO items (id) VALUES (1)`)
		return err
	})
	if !errors.Is(err, database.ErrUnavailable) || errors.Is(err, database.ErrOutcomeUnknown) {
		t.Errorf("got %v, want unavailable", err)
	}
	endOtherSessions(t, other)
	mustTransact(t, db, `INSERT INTO items (id) VALUES (2)`) // although every pooled connection was dead
	if got, want := count(t, db), 1; got != want {
		t.Errorf("got %d items, want %d", got, want)
	}
}

// TestAServerThatLetsNobodyInIsUnavailableAndThenFoundAgain changes what a running program connects by.
func TestAServerThatLetsNobodyInIsUnavailableAndThenFoundAgain(t *testing.T) {
	t.Parallel()
	operator := databasetest.Open(t, databasetest.Postgres(t))
	address, err := url.Parse(databasetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	name, role := strings.TrimPrefix(address.Path, "/"), strings.ToLower("guest_"+rand.Text())
	address.User = url.UserPassword(role, "first")
	do := func(statement string) {
		t.Helper()
		statement = strings.NewReplacer("DB", name, "GUEST", role).Replace(statement)
		if _, err := operator.ExecContext(context.WithoutCancel(t.Context()), statement); err != nil {
			t.Fatal(err)
		}
	}
	do("CREATE ROLE GUEST LOGIN PASSWORD 'first'")
	t.Cleanup(func() { do("DROP ROLE GUEST") })
	db := databasetest.Open(t, address.String())
	for away, back := range map[string]string{
		"ALTER DATABASE DB ALLOW_CONNECTIONS false": "ALTER DATABASE DB ALLOW_CONNECTIONS true",
		"ALTER DATABASE DB RENAME TO DB_moved":      "ALTER DATABASE DB_moved RENAME TO DB",
		"ALTER ROLE GUEST NOLOGIN":                  "ALTER ROLE GUEST LOGIN",
	} {
		do("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = 'GUEST'")
		do(away)
		if _, err := db.ExecContext(t.Context(), "SELECT 1"); !errors.Is(database.Classify(t.Context(), err), database.ErrUnavailable) {
			t.Errorf("%s: got %v, want unavailable", away, err)
		}
		do(back)
		if _, err := db.ExecContext(t.Context(), "SELECT 1"); err != nil {
			t.Errorf("%s: got %v", back, err)
		}
	}
}

// endOtherSessions does what a restart of the server does to this database's clients.
func endOtherSessions(t *testing.T, db *database.DB) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), `
		SELECT pg_terminate_backend(pid, 10000)
		FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	if err != nil {
		t.Fatal(err)
	}
}

func TestAStoppedQueryIsCancelled(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		endless := `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n`
		if db.Engine == database.Postgres {
			endless = `SELECT pg_sleep(60)`
		}
		for name, stopped := range map[string]struct {
			limit func(context.Context) (context.Context, context.CancelFunc)
			want  error
		}{
			"by its deadline": {
				limit: func(ctx context.Context) (context.Context, context.CancelFunc) {
					return context.WithTimeout(ctx, 50*time.Millisecond)
				},
				want: context.DeadlineExceeded,
			},
			"by its caller": {
				limit: func(ctx context.Context) (context.Context, context.CancelFunc) {
					ctx, cancel := context.WithCancel(ctx)
					timer := time.AfterFunc(50*time.Millisecond, cancel)
					return ctx, func() { timer.Stop(); cancel() }
				},
				want: context.Canceled,
			},
		} {
			t.Run(name, func(t *testing.T) {
				ctx, cancel := stopped.limit(t.Context())
				defer cancel()
				var n int
				err := database.Classify(ctx, db.QueryRowContext(ctx, endless).Scan(&n))
				if !errors.Is(err, stopped.want) || errors.Is(err, database.ErrUnavailable) {
					t.Errorf("reading: got %v, want %v", err, stopped.want)
				}

				ctx, cancel = stopped.limit(t.Context())
				defer cancel()
				err = db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
					_, err := tx.ExecContext(ctx, endless)
					return err
				})
				if !errors.Is(err, stopped.want) || errors.Is(err, database.ErrOutcomeUnknown) {
					t.Errorf("writing: got %v, want %v", err, stopped.want)
				}
			})
		}
		makeItems(t, db) // still works
	})
}

func TestAServersOwnTimeoutIsADeadline(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, withQuery(t, databasetest.Postgres(t), "statement_timeout", "50"))
	if err := transact(t, db, `SELECT pg_sleep(60)`); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
}

func TestAQueryThatItsCallerDidNotStopIsNotCancelled(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.Postgres(t))
	if err := transact(t, db, `SELECT pg_cancel_backend(pg_backend_pid())`); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
}

func TestAServerThatTakesNoWritesIsReadOnly(t *testing.T) {
	t.Parallel()
	for engine, db := range map[string]*database.DB{
		"postgres": databasetest.Open(t, withQuery(t, databasetest.Postgres(t), "default_transaction_read_only", "on")),
		"sqlite":   databasetest.Open(t, databasetest.SQLite(t)),
	} {
		create := `CREATE TABLE items (id bigint)`
		if db.Engine == database.SQLite {
			create = `PRAGMA query_only = on; ` + create
		}
		if err := transact(t, db, create); !errors.Is(err, database.ErrReadOnly) || !errors.Is(err, database.ErrUnavailable) {
			t.Errorf("%s: got %v, want %v", engine, err, database.ErrReadOnly)
		}
	}
}

// A session keeps the setting of the database that it began with. Those that began while the database was read-only are
// not used for a write after it.
func TestADatabaseThatIsNoLongerReadOnlyTakesWritesAtOnce(t *testing.T) {
	t.Parallel()
	address := databasetest.Postgres(t)
	db, operator := databasetest.Open(t, address), databasetest.Open(t, address)
	makeItems(t, db)
	set := func(to string) {
		t.Helper()
		_, err := operator.ExecContext(t.Context(), `BEGIN READ WRITE; DO $$ BEGIN
			EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = `+to+`', current_database());
		END $$; COMMIT`)
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		set("on")
		endOtherSessions(t, operator)
		for range 4 {
			if err := transact(t, db, `INSERT INTO items (id) VALUES (1)`); !errors.Is(err, database.ErrReadOnly) {
				t.Errorf("writing: got %v, want %v", err, database.ErrReadOnly)
			}
			if _, err := db.TransactOne(t.Context(), `DELETE FROM items`); !errors.Is(err, database.ErrReadOnly) {
				t.Errorf("writing alone: got %v, want %v", err, database.ErrReadOnly)
			}
			if err := db.Writable(t.Context()); !errors.Is(err, database.ErrReadOnly) {
				t.Errorf("writable: got %v, want %v", err, database.ErrReadOnly)
			}
		}
		set("off")
		mustTransact(t, db, `DELETE FROM items`)
		if err := db.Writable(t.Context()); err != nil {
			t.Errorf("writable: got %v", err)
		}
	}
}

func TestARefusalThatEndsHasItsClass(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]error{
		"25006": database.ErrReadOnly, "40001": database.ErrCollision, "40P01": database.ErrCollision,
		"53200": database.ErrUnavailable, "53300": database.ErrUnavailable, "42P01": database.ErrTableMissing,
		"25P03": database.ErrUnavailable, "57P01": database.ErrUnavailable, "08006": database.ErrUnavailable,
	} {
		if got := database.Classify(t.Context(), &pq.Error{Code: pqerror.Code(code)}); !errors.Is(got, want) {
			t.Errorf("%s: got %v, want %v", code, got, want)
		}
	}
}

func TestASecondRowOfOneKeyIsNotUnique(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		mustTransact(t, db, `CREATE TABLE items (id bigint PRIMARY KEY, name text UNIQUE)`)
		mustTransact(t, db, `INSERT INTO items (id, name) VALUES (1, 'a')`)
		for _, again := range []string{
			`INSERT INTO items (id, name) VALUES (1, 'b')`,
			`INSERT INTO items (id, name) VALUES (2, 'a')`,
		} {
			if err := transact(t, db, again); !errors.Is(err, database.ErrUnique) {
				t.Errorf("%s: got %v, want %v", again, err, database.ErrUnique)
			}
		}
	})
}

func TestAFullDiskIsNamed(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.SQLite(t))
	mustTransact(t, db, `CREATE TABLE items (id integer PRIMARY KEY, text blob)`)
	err := db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.ExecContext(ctx, `PRAGMA max_page_count = 10`); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO items (text) VALUES (zeroblob(1000000))`)
		return err
	})
	if !errors.Is(err, database.ErrFull) {
		t.Errorf("SQLite: got %v, want %v", err, database.ErrFull)
	}
	if err := db.Writable(t.Context()); !errors.Is(err, database.ErrFull) {
		t.Errorf("writable: got %v, want %v", err, database.ErrFull)
	}

	for name, err := range map[string]error{
		"PostgreSQL":       &pq.Error{Code: "53100", Message: "could not extend file"},
		"operating system": &os.PathError{Op: "write", Path: "annals.db", Err: syscall.ENOSPC},
	} {
		if got := database.Classify(t.Context(), err); !errors.Is(got, database.ErrFull) || !errors.Is(got, err) {
			t.Errorf("%s: got %v, want %v", name, got, database.ErrFull)
		}
	}
}

func TestADiskIsFullBeforeAWriteFails(t *testing.T) {
	t.Parallel()
	disk := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=2m", "none", disk).CombinedOutput(); err != nil {
		t.Logf("only root of Linux can mount a disk: %s", out)
		return
	}
	t.Cleanup(func() { _ = exec.CommandContext(context.Background(), "umount", "-l", disk).Run() })
	db := databasetest.Open(t, "sqlite:"+filepath.Join(disk, "a.db"))
	if err := db.Writable(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = os.WriteFile(filepath.Join(disk, "large"), make([]byte, 4<<20), 0o600) // as much of it as there is room
	if err := db.Writable(t.Context()); !errors.Is(err, database.ErrFull) {
		t.Errorf("got %v, want %v", err, database.ErrFull)
	}
	if err := os.Remove(filepath.Join(disk, "large")); err != nil {
		t.Fatal(err)
	}
	if err := db.Writable(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOtherErrorsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	own := errors.New("refused")
	for _, err := range []error{nil, own} {
		if got := database.Classify(t.Context(), err); got != err { //nolint:errorlint // unwrapped, that is
			t.Errorf("got %v, want %v", got, err)
		}
	}
	once := database.Classify(t.Context(), &pq.Error{Code: "23505"})
	if twice := database.Classify(t.Context(), once); twice != once { //nolint:errorlint // not wrapped again
		t.Errorf("got %v, want %v", twice, once)
	}
}

// cuts is a proxy before a server that closes each connection after some more bytes of answers.
type cuts struct {
	url   string
	armed atomic.Bool
	left  atomic.Int64
}

func newCuts(t *testing.T, serverURL string) *cuts {
	t.Helper()
	through, err := url.Parse(serverURL)
	if err != nil {
		t.Fatal(err)
	}
	server := through.Host
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	through.Host = listener.Addr().String()
	c := &cuts{url: through.String()}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server)
			if err != nil {
				_ = client.Close()
				continue
			}
			serving.Go(func() { _, _ = io.Copy(to, client); _ = to.Close() })
			serving.Go(func() { c.answer(client, to); _ = client.Close(); _ = to.Close() })
		}
	})
	t.Cleanup(func() { _ = listener.Close(); serving.Wait() })
	return c
}

func (c *cuts) answer(client, server net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := server.Read(buffer)
		if c.armed.Load() {
			left := c.left.Add(int64(-n))
			if left < 0 {
				n, err = max(0, n+int(left)), io.EOF
			}
		}
		if _, failed := client.Write(buffer[:n]); failed != nil || err != nil {
			return
		}
	}
}

func TestAConnectionCutAnywhereIsUnavailable(t *testing.T) {
	t.Parallel()
	proxy := newCuts(t, databasetest.Postgres(t))
	db := databasetest.Open(t, proxy.url)
	makeItems(t, db)
	const answer = `SELECT repeat('x', 300), i FROM generate_series(1, 3) AS i WHERE i > ?`
	read := func(ctx context.Context, from bun.IDB) error {
		rows, err := from.QueryContext(ctx, answer, 0)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // Err tells
		for rows.Next() {
			if err := rows.Scan(new(string), new(int)); err != nil {
				return err
			}
		}
		return rows.Err()
	}
	for name, do := range map[string]func() error{
		"a query": func() error { return database.Classify(t.Context(), read(t.Context(), db)) },
		"one statement": func() error {
			_, err := db.TransactOne(t.Context(), `DELETE FROM items WHERE id = ?`, 7)
			return err
		},
		"a transaction": func() error {
			return db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
				return errors.Join(read(ctx, tx), read(ctx, tx))
			})
		},
		"a scan": func() error {
			return database.Classify(t.Context(), db.WithScanPool(t.Context(), 1, func(reads database.Querier) error {
				rows, err := reads.QueryContext(t.Context(), answer, 0)
				if err != nil {
					return err
				}
				defer rows.Close() //nolint:errcheck // Err tells
				for rows.Next() {
				}
				return rows.Err()
			}))
		},
	} {
		for bytes := int64(0); bytes < 1200; bytes += 13 {
			proxy.armed.Store(false)
			for tries := 0; tries < 3 && count(t, db) != 0; {
				tries++
			}
			proxy.left.Store(bytes)
			proxy.armed.Store(true)
			if err := do(); err != nil && !errors.Is(err, database.ErrUnavailable) {
				t.Errorf("%s cut after %d bytes: %v", name, bytes, err)
			}
		}
	}
	proxy.armed.Store(false)
}
