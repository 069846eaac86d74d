package database_test

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

func TestAURLThatDoesNotFitIsRefusedWithWhatDoes(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"":                                      "use postgres://",
		"mysql://root:hunter2@localhost/annals": "use postgres://",
		"annals.db":                             "sqlite:PATH",
		"sqlite:":                               "sqlite:./data/annals.db",
		"sqlite::memory:":                       "sqlite:./data/annals.db",
		"sqlite:annals.db?mode=memory":          "no options",
		"postgres://annals:hunter2%@localhost/annals":                            "special characters",
		"postgres://annals:p@hunter2/w#d@localhost:5432/annals":                  "# as %23",
		"postgres://annals:p@hunter2#d@localhost:5432/annals":                    "# as %23",
		"postgres://annals:p@hunter2/d@localhost:5432/annals":                    "/ as %2F",
		"postgres://annals:p@hunter2?d@localhost:5432/annals":                    "@ as %40",
		"postgres://annals:1/hunter2@localhost:5432/annals":                      "@ as %40",
		"postgres://annals:hunter2@localhost/annals?pool_max_conns=one":          "use 2 or more",
		"postgres://annals:hunter2@localhost/annals?sslmode=perhaps":             "sslmode",
		"postgres://annals:hunter2@localhost/annals?target_session_attrs=nobody": "target_session_attrs",
	} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			_, err := database.Open(t.Context(), url, databasetest.Log(t))
			if err == nil {
				t.Fatal("got no error")
			}
			if got := err.Error(); !strings.Contains(got, want) || strings.Contains(got, "hunter2") {
				t.Errorf("got %q, want %q and not the password", got, want)
			}
		})
	}
}

func TestAFileOfAnyNameWorks(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"annals.db", "with space", "100%41.db", "a#b&c.db", "编年史.db", filepath.Join("made", "it.db")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), name)
			db := databasetest.Open(t, "sqlite:"+path)
			makeItems(t, db)
			if got := count(t, db); got != 0 {
				t.Errorf("got %d items, want none", got)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := info.Mode().Perm(), os.FileMode(0o600); got != want {
				t.Errorf("got mode %o, want %o: others must not read it", got, want)
			}
		})
	}
}

func TestSQLiteKeepsWhatItAnswered(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.SQLite(t))
	err := db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
		for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "5000"} {
			var got string
			if err := tx.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(&got); err != nil {
				return err
			}
			if got != want {
				t.Errorf("%s: got %s, want %s", pragma, got, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestNothingIsWrittenToAFileThatIsNotThereAnyMore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "annals.db")
	db, err := database.Open(t.Context(), "sqlite:"+path, databasetest.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	write := func() error {
		return db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS written (id INTEGER PRIMARY KEY)")
			return err
		})
	}
	for _, step := range []struct {
		name   string
		change func() error
		want   error
	}{
		{"as it was opened", func() error { return nil }, nil},
		{"moved", func() error { return os.Rename(path, path+".moved") }, database.ErrUnavailable},
		{"put back", func() error { return os.Rename(path+".moved", path) }, nil},
		{"deleted", func() error { return os.Remove(path) }, database.ErrUnavailable},
		{"replaced", func() error { return os.WriteFile(path, nil, 0o600) }, database.ErrUnavailable},
	} {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		if err := write(); !errors.Is(err, step.want) {
			t.Errorf("%s: got %v, want %v", step.name, err, step.want)
		}
		if err := db.Answers(t.Context()); !errors.Is(err, step.want) {
			t.Errorf("%s: it answers with %v, want %v", step.name, err, step.want)
		}
	}
}

func TestAFileHasOneOwnerAtATime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "annals.db")
	first, err := database.Open(t.Context(), "sqlite:"+path, databasetest.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Announce("http://127.0.0.1:1933"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link} {
		_, err := database.Open(t.Context(), "sqlite:"+name, databasetest.Log(t))
		if !errors.Is(err, database.ErrOwned) {
			t.Fatalf("got %v, want %v", err, database.ErrOwned)
		}
		for _, want := range []string{path + " is in use by annals (pid ", "on host " + host + " since ", "stop it or use its API at http://127.0.0.1:1933"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("got %q, want %q in it", err, want)
			}
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	databasetest.Open(t, "sqlite:"+path)
}

func TestAFileWithTwoNamesHasOneOwnerAtATime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "annals.db")
	databasetest.Open(t, "sqlite:"+path)

	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Link(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := database.Open(t.Context(), "sqlite:"+link, databasetest.Log(t)); err == nil || !strings.Contains(err.Error(), "hard link") {
		t.Errorf("through a hard link: got %v, want a refusal that says why", err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	// Under another name alone, as through a bind mount, which takes root to make.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := database.Open(t.Context(), "sqlite:"+link, databasetest.Log(t)); !errors.Is(err, database.ErrOwned) {
		t.Errorf("through another name: got %v, want %v", err, database.ErrOwned)
	}
}

func TestClosingTwiceIsClosingOnce(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		for range 2 {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := transact(t, db, `SELECT 1`); err == nil {
			t.Error("a closed database took a transaction")
		}
	})
}

func TestAFileThatIsNoDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(path, []byte(strings.Repeat("not a database at all\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := database.Open(t.Context(), "sqlite:"+path, databasetest.Log(t))
	if err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error that names the file", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	databasetest.Open(t, "sqlite:"+path) // the claim was given up
}

func TestAServerWithoutTLSFarAwayNeedsToBeAllowed(t *testing.T) {
	t.Parallel()
	server := withQuery(t, databasetest.Postgres(t), "sslmode", "require")
	_, err := database.Open(t.Context(), server, databasetest.Log(t))
	if err == nil || !strings.Contains(err.Error(), "?sslmode=disable") {
		t.Errorf("got %v, want the way out", err)
	}
}

func TestAURLThatLeadsNowhereIsRefusedWithWhatIsWrong(t *testing.T) {
	t.Parallel()
	good := databasetest.Postgres(t)
	for want, change := range map[string]func(*url.URL){
		"refuses the user or the password": func(u *url.URL) { u.User = url.UserPassword(u.User.Username(), "hunter2") },
		"no database nowhere, make it":     func(u *url.URL) { u.Path = "/nowhere" },
		"does not know what the database":  func(u *url.URL) { u.RawQuery += "&foo=bar" },
		"see that it runs there":           func(u *url.URL) { u.Host = "127.0.0.1:1" },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			server, err := url.Parse(good)
			if err != nil {
				t.Fatal(err)
			}
			change(server)
			_, err = database.Open(t.Context(), server.String(), databasetest.Log(t))
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want %q and not the password", err, want)
			}
		})
	}
}

func TestOnThisMachineNoTLSIsNeeded(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, withQuery(t, databasetest.Postgres(t), "sslmode", ""))
	var name string
	if err := db.QueryRowContext(t.Context(), `SELECT current_setting('application_name')`).Scan(&name); err != nil {
		t.Fatal(err)
	}
	if want := "annals"; name != want {
		t.Errorf("application_name: got %q, want %q", name, want)
	}
}

func TestThePoolIsAsLargeAsTheURLSays(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, withQuery(t, databasetest.Postgres(t), "pool_max_conns", "8"))
	if got, want := db.Stats().MaxOpenConnections, 6; got != want {
		t.Errorf("got %d connections that read, want %d and 2 that write", got, want)
	}
}

func TestADatabaseOfAnotherEncodingIsRefused(t *testing.T) {
	t.Parallel()
	server := databasetest.Postgres(t)
	admin, err := sql.Open("postgres", server)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	name := "annals_test_latin_" + filepath.Base(server)[len("annals_test_"):len("annals_test_")+10]
	if _, err := admin.ExecContext(t.Context(), "CREATE DATABASE "+name+" ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		again, err := sql.Open("postgres", server)
		if err == nil {
			_, err = again.ExecContext(context.WithoutCancel(t.Context()), "DROP DATABASE "+name)
		}
		if err := errors.Join(err, again.Close()); err != nil {
			t.Error(err)
		}
	})
	parsed, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	parsed.Path = "/" + name
	if _, err := database.Open(t.Context(), parsed.String(), databasetest.Log(t)); err == nil || !strings.Contains(err.Error(), "UTF8") {
		t.Errorf("got %v, want the encoding named", err)
	}
}

// withQuery sets a parameter of a URL, or removes it.
func withQuery(t *testing.T, server, key, value string) string {
	t.Helper()
	parsed, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	query := parsed.Query()
	query.Set(key, value)
	if value == "" {
		query.Del(key)
	}
	parsed.RawQuery = query.Encode()
	return parsed.String()
}

func TestAListOfHostsIsReadAsLibpqReadsIt(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"postgres://annals:hunter2@db1:5433,db2:5434/annals":                            "db1:5433,db2:5434/annals",
		"postgres://annals:hunter2@db1,db2:5434/annals?target_session_attrs=read-write": "db1:5432,db2:5434/annals",
		"postgresql://db1:5433,[::1]:5434,10.0.0.3/annals":                              "db1:5433,[::1]:5434,10.0.0.3:5432/annals",
		"postgres://[::1],[::2]:5433/annals":                                            "[::1]:5432,[::2]:5433/annals",
		"postgres://db1,db2/annals?port=5433,5434":                                      "db1:5433,db2:5434/annals",
		"postgres://db1,db2/annals?port=5433":                                           "db1:5433,db2:5433/annals",
		"postgres:///annals?host=db1,db2&port=5433,5434":                                "db1:5433,db2:5434/annals",
		"postgres://%2Fvar%2Frun,db2/annals":                                            "/var/run,db2:5432/annals",
		"postgres://annals:hunter2@db1:5433/annals":                                     "db1:5433/annals",
		"postgres://annals@[::1]:5433/annals":                                           "[::1]:5433/annals",
		"postgres://annals:hunter2@db1:5433,db2:http/annals":                            "",
		"postgres://annals:hunter2@db1:5433,db2:5434:5435/annals":                       "",
		"postgres://annals:hunter2@db1,db2/annals?port=5433,5434,5435":                  "",
		"postgres://annals:hunter2@db1,db2/annals?pool_max_conns=8&sslmode=verify-full": "db1:5432,db2:5432/annals",
	} {
		if got := database.Where(address); got != want {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
}

func TestEveryServerOfAListIsNamedIfNoneAnswers(t *testing.T) {
	t.Parallel()
	_, err := database.Open(t.Context(), "postgres://annals:hunter2@127.0.0.1:1,127.0.0.2:2/annals", databasetest.Log(t))
	if !errors.Is(err, database.ErrUnavailable) {
		t.Fatalf("got %v, want %v", err, database.ErrUnavailable)
	}
	if got := err.Error(); !strings.Contains(got, "PostgreSQL at 127.0.0.1:1,127.0.0.2:2 cannot be reached") || strings.ContainsAny(got, "\n") {
		t.Errorf("got %q, want one line that names both", got)
	}
}

func TestTheFirstServerOfAListThatAnswersIsUsed(t *testing.T) {
	t.Parallel()
	server, err := url.Parse(databasetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	server.Host = "127.0.0.1:1," + server.Host
	db := databasetest.Open(t, withQuery(t, server.String(), "target_session_attrs", "read-write"))
	if err := db.Answers(t.Context()); err != nil {
		t.Error(err)
	}
}
