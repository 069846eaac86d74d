package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sampled is how many items the references copy.
const sampled = 100

// references insert what a remember inserts, without Annals. On SQLite they use one transaction per item, and also one
// plain insert per transaction; on PostgreSQL, pgbench.
func (s *session) references(ctx context.Context, clients int, length time.Duration) []func() error {
	reference := func(name string, insert func(string, []string) (outcome, error)) func() error {
		return func() error {
			return s.onSampled(ctx, func(address string, copies []string) error {
				o, err := insert(address, copies)
				s.addRate(name, clients, o)
				return err
			})
		}
	}
	if s.engine == "postgres" {
		return []func() error{reference("pgbench, same inserts", func(address string, copies []string) (outcome, error) {
			return pgbench(ctx, address, copies, clients, length)
		})}
	}
	return []func() error{
		reference("same inserts", func(address string, copies []string) (outcome, error) {
			return plainSQLite(ctx, address, copies, clients, length)
		}),
		reference("one plain insert", func(address string, _ []string) (outcome, error) {
			one := []string{"INSERT INTO plain (id, content) SELECT ?1, content FROM knowledge_1 WHERE number = ?2"}
			return plainSQLite(ctx, address, one, clients, length)
		}),
	}
}

// onSampled calls do with a database of a few items, and with the statements that copy all rows of one of them.
func (s *session) onSampled(ctx context.Context, do func(address string, copies []string) error) error {
	return s.withServer(ctx, s.programs[0], func(server *server) error {
		for _, one := range newAuthor(1).items(sampled) {
			if err := server.post(ctx, "/v1/knowledge", one, nil); err != nil {
				return err
			}
		}
		if err := server.endProcess(); err != nil {
			return err
		}
		var copies []string
		err := withPool(server.database, func(pool *sql.DB) (err error) {
			copies, err = s.copies(ctx, pool)
			return err
		})
		if err != nil {
			return err
		}
		return do(server.database, copies)
	})
}

// copies are the statements that copy an item: the rows that a remember inserts, one statement per table. Their
// parameters are the new number and the number of the item to copy.
func (s *session) copies(ctx context.Context, pool *sql.DB) (statements []string, err error) {
	next, sample, eventID := "?1", "?2", "printf('%036x', ?1)"
	if s.engine == "postgres" {
		next, sample, eventID = "currval('numbers')", ":sample", "gen_random_uuid()"
	}
	for _, table := range []string{
		"events position", "event_texts position", "knowledge_1 number",
		"knowledge_1_changes number",
	} {
		name, key, _ := strings.Cut(table, " ")
		columns, err := columnsOf(ctx, pool, name)
		if err != nil {
			return nil, err
		}
		values := slices.Clone(columns)
		for i, column := range columns {
			switch column {
			case "position", "number":
				values[i] = next
			case "event_id":
				values[i] = eventID
			case "stream", "id", "uri":
				values[i] = fmt.Sprintf("%s || '-' || %s", column, next)
			}
		}
		for _, statement := range []string{ // SQLite would first copy rows of the same table to a temporary one
			"CREATE TABLE sampled_" + name + " AS SELECT * FROM " + name,
			"CREATE INDEX by_" + name + " ON sampled_" + name + " (" + key + ")",
		} {
			if _, err := pool.ExecContext(ctx, statement); err != nil {
				return nil, err
			}
		}
		statements = append(statements, fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM sampled_%s WHERE %s = %s",
			name, strings.Join(columns, ", "), strings.Join(values, ", "), name, key, sample))
	}
	return statements, nil
}

func columnsOf(ctx context.Context, pool *sql.DB, table string) (columns []string, err error) {
	empty, err := pool.QueryContext(ctx, "SELECT * FROM "+table+" LIMIT 0")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, empty.Err(), empty.Close()) }()
	return empty.Columns()
}

// plainSQLite executes the statements in a transaction each time, on one connection with the program's settings.
func plainSQLite(
	ctx context.Context, address string, statements []string, clients int, length time.Duration,
) (o outcome, err error) {
	err = withPool(address, func(pool *sql.DB) error {
		_, err := pool.ExecContext(ctx, "CREATE TABLE plain (id INTEGER PRIMARY KEY, content TEXT NOT NULL) STRICT")
		if err != nil {
			return err
		}
		var prepared []*sql.Stmt
		for _, statement := range statements {
			one, err := pool.PrepareContext(ctx, statement) //nolint:sqlclosecheck // ends with the pool
			if err != nil {
				return err
			}
			prepared = append(prepared, one)
		}
		o, err = repeat(ctx, clients, length, func() (func(int64) error, func() error, error) {
			return func(i int64) error { return inTransaction(ctx, pool, prepared, sampled+i, 1+i%sampled) },
				func() error { return nil }, nil
		})
		return err
	})
	return o, err
}

func inTransaction(ctx context.Context, pool *sql.DB, statements []*sql.Stmt, arguments ...any) error {
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, statement := range statements {
		_, err := tx.StmtContext(ctx, statement).ExecContext(ctx, arguments...) //nolint:sqlclosecheck // ends with tx
		if err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

var pgbenchRate = regexp.MustCompile(`number of transactions actually processed: (\d+)`)

// pgbench runs PostgreSQL's own benchmark, with the statements in a transaction.
func pgbench(
	ctx context.Context, address string, statements []string, clients int, length time.Duration,
) (o outcome, err error) {
	places, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench") // the pattern is well-formed
	binary, err := exec.LookPath(append(places, "pgbench")[0])
	if err != nil {
		return o, errors.New("pgbench is missing: it comes with the PostgreSQL server, or with postgresql-contrib")
	}
	err = withPool(address, func(pool *sql.DB) error {
		_, err := pool.ExecContext(ctx, fmt.Sprintf("CREATE SEQUENCE numbers START %d", sampled+1))
		return err
	})
	if err != nil {
		return o, err
	}
	script := fmt.Sprintf("\\set sample random(1, %d)\nBEGIN;\n%s;\nCOMMIT;\n", sampled,
		strings.Replace(strings.Join(statements, ";\n"), "currval", "nextval", 1))
	u, _ := url.Parse(address) // it was opened before
	password, _ := u.User.Password()
	command := exec.CommandContext(ctx, binary, "--no-vacuum", "--protocol", "prepared", "--file", "-",
		"--client", strconv.Itoa(clients), "--jobs", strconv.Itoa(min(clients, 2)),
		"--time", strconv.Itoa(int(length.Seconds())))
	command.Stdin = strings.NewReader(script)
	command.Env = append(os.Environ(), "PGHOST="+u.Hostname(), "PGPORT="+u.Port(), "PGUSER="+u.User.Username(),
		"PGPASSWORD="+password, "PGDATABASE="+strings.TrimPrefix(u.Path, "/"), "PGSSLMODE="+u.Query().Get("sslmode"))
	output, err := command.CombinedOutput()
	count := pgbenchRate.FindSubmatch(output)
	if err != nil || count == nil {
		return o, fmt.Errorf("pgbench: %w: %s", err, output)
	}
	o.took = length
	o.calls, err = strconv.Atoi(string(count[1]))
	return o, err
}
