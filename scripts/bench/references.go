package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// rows are the rows that remembering one item inserts into one table.
type rows struct {
	table   string
	columns []string
	values  [][]any // as text on PostgreSQL
}

// sampled is how many transactions the references repeat.
const sampled = 100

// measureReferences inserts the same rows without Annals. On SQLite it uses one transaction per item, and also one
// plain insert per transaction; on PostgreSQL it uses pgbench.
func (r *remember) measureReferences(ctx context.Context, s *session) error {
	samples, err := s.sample(ctx)
	if err != nil {
		return fmt.Errorf("see what is inserted: %w", err)
	}
	for _, clients := range r.Clients {
		for range s.Rounds {
			if err := r.references(ctx, s, samples, clients); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *remember) references(ctx context.Context, s *session, samples [][]rows, clients int) error {
	length := time.Duration(r.Time) * time.Second
	measure := func(name string, run func(address string) (outcome, error)) error {
		address, drop, err := s.emptyTables(ctx)
		if err != nil {
			return err
		}
		o, err := run(address)
		s.addRates(name, clients, o)
		return errors.Join(err, drop())
	}
	if s.engine == "postgres" {
		return measure("pgbench, same inserts", func(address string) (outcome, error) {
			return pgbench(ctx, address, s.dir, samples, clients, length)
		})
	}
	for name, insert := range map[string]func(*plainSQLite, context.Context) error{
		"one plain insert": (*plainSQLite).one, "same inserts": (*plainSQLite).same,
	} {
		err := measure(name, func(address string) (o outcome, err error) {
			err = withPool(address, func(pool *sql.DB) error {
				o, err = runPlainSQLite(ctx, pool, samples, clients, length, insert)
				return err
			})
			return o, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// emptyTables makes a database with the program's tables and no rows.
func (s *session) emptyTables(ctx context.Context) (address string, drop func() error, err error) {
	server, err := s.start(ctx, s.programs[0])
	if err != nil {
		return "", nil, err
	}
	return server.database, server.stop, server.endProcess()
}

// sample lets the program remember a few items, and reads the rows that it wrote.
func (s *session) sample(ctx context.Context) (samples [][]rows, err error) {
	server, err := s.start(ctx, s.programs[0])
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	for one := range newAuthor(1).items(sampled) {
		if err := server.post(ctx, "/v1/knowledge", one, nil); err != nil {
			return nil, err
		}
	}
	if err := server.endProcess(); err != nil {
		return nil, err
	}
	err = withPool(server.database, func(pool *sql.DB) error {
		for position := range sampled {
			var all []rows
			for _, table := range []string{
				"events position", "event_texts position", "knowledge_1 number",
				"knowledge_1_scopes number", "knowledge_1_terms number",
			} {
				name, column, _ := strings.Cut(table, " ")
				one, err := s.readRows(ctx, pool, name, column, position+1)
				if err != nil {
					return err
				}
				all = append(all, one)
			}
			samples = append(samples, all)
		}
		return nil
	})
	return samples, err
}

func (s *session) readRows(ctx context.Context, pool *sql.DB, table, column string, position int) (r rows, err error) {
	r.table = table
	if r.columns, err = columnsOf(ctx, pool, table); err != nil {
		return r, err
	}
	list := strings.Join(r.columns, ", ")
	if s.engine == "postgres" {
		list = strings.Join(r.columns, "::text, ") + "::text"
	}
	found, err := pool.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM %s WHERE %s = %d", list, table, column, position))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	for found.Next() {
		values, into := make([]any, len(r.columns)), make([]any, len(r.columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := found.Scan(into...); err != nil {
			return r, err
		}
		r.values = append(r.values, values)
	}
	return r, found.Err()
}

func columnsOf(ctx context.Context, pool *sql.DB, table string) (columns []string, err error) {
	empty, err := pool.QueryContext(ctx, "SELECT * FROM "+table+" LIMIT 0")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, empty.Err(), empty.Close()) }()
	return empty.Columns()
}

// plainSQLite is a SQLite database with the program's settings and prepared statements.
type plainSQLite struct {
	pool    *sql.DB
	samples [][]rows
	inserts []*sql.Stmt // by table
	row     *sql.Stmt
	next    int64
}

func runPlainSQLite(
	ctx context.Context, pool *sql.DB, samples [][]rows, clients int, length time.Duration,
	insert func(*plainSQLite, context.Context) error,
) (outcome, error) {
	p := &plainSQLite{pool: pool, samples: samples}
	_, err := pool.ExecContext(ctx, "CREATE TABLE plain (id INTEGER PRIMARY KEY, content TEXT NOT NULL) STRICT")
	if err != nil {
		return outcome{}, err
	}
	const plain = "INSERT INTO plain (id, content) VALUES (?, ?)"
	if p.row, err = pool.PrepareContext(ctx, plain); err != nil { //nolint:sqlclosecheck // ends with the pool
		return outcome{}, err
	}
	for _, r := range samples[0] {
		marks := strings.TrimSuffix(strings.Repeat("?, ", len(r.columns)), ", ")
		query := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", r.table, strings.Join(r.columns, ", "), marks)
		statement, err := pool.PrepareContext(ctx, query) //nolint:sqlclosecheck // ends with the pool
		if err != nil {
			return outcome{}, err
		}
		p.inserts = append(p.inserts, statement)
	}
	var writer sync.Mutex
	return repeat(ctx, clients, length, func() (func(int64) error, func() error, error) {
		return func(int64) error {
			writer.Lock()
			defer writer.Unlock()
			p.next++
			return insert(p, ctx)
		}, func() error { return nil }, nil
	})
}

// one inserts a row with the item's content in a transaction of its own.
func (p *plainSQLite) one(ctx context.Context) error {
	knowledge := p.samples[p.next%sampled][2]
	_, err := p.row.ExecContext(ctx, p.next, knowledge.values[0][slices.Index(knowledge.columns, "content")])
	return err
}

// same inserts all rows that remembering an item inserts.
func (p *plainSQLite) same(ctx context.Context) error {
	tx, err := p.pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for i, r := range p.samples[p.next%sampled] {
		if err := p.insert(ctx, tx, p.inserts[i], r); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

func (p *plainSQLite) insert(ctx context.Context, tx *sql.Tx, into *sql.Stmt, r rows) (err error) {
	statement := tx.StmtContext(ctx, into)
	defer func() { err = errors.Join(err, statement.Close()) }()
	for _, values := range r.values {
		if _, err := statement.ExecContext(ctx, p.renewed(r, values)...); err != nil {
			return err
		}
	}
	return nil
}

// renewed is a row with new keys.
func (p *plainSQLite) renewed(r rows, values []any) []any {
	values = slices.Clone(values)
	for i, column := range r.columns {
		switch column {
		case "position", "number":
			values[i] = p.next
		case "event_id":
			values[i] = fmt.Sprintf("%036x", p.next)
		case "stream":
			values[i] = fmt.Sprintf("knowledge:item-%d", p.next)
		case "id":
			values[i] = fmt.Sprintf("item-%d", p.next)
		case "uri":
			values[i] = fmt.Sprintf("viking://user/default/memories/item-%d.md", p.next)
		}
	}
	return values
}

// pgbench runs PostgreSQL's own benchmark with one script per sample.
func pgbench(ctx context.Context, address, dir string, samples [][]rows, clients int, length time.Duration) (o outcome,
	err error,
) {
	places, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench") // the pattern is well-formed
	binary, err := exec.LookPath(append(places, "pgbench")[0])
	if err != nil {
		return o, errors.New("pgbench is missing: it comes with the PostgreSQL server, or with postgresql-contrib")
	}
	err = withPool(address, func(pool *sql.DB) error {
		_, err := pool.ExecContext(ctx, "CREATE SEQUENCE positions")
		return err
	})
	if err != nil {
		return o, err
	}
	prefix := filepath.Join(dir, "pgbench")
	arguments := []string{
		"--no-vacuum", "--client", strconv.Itoa(clients), "--jobs", strconv.Itoa(min(clients, 2)),
		"--time", strconv.Itoa(int(length.Seconds())), "--log", "--log-prefix", prefix,
	}
	for i, sample := range samples {
		path := filepath.Join(dir, fmt.Sprintf("remember-%d.sql", i))
		if err := os.WriteFile(path, []byte(script(sample)), 0o600); err != nil {
			return o, err
		}
		arguments = append(arguments, "--file", path)
	}
	u, err := url.Parse(address)
	if err != nil {
		return o, errors.New("the URL of the database does not parse") // err would repeat the password
	}
	password, _ := u.User.Password()
	command := exec.CommandContext(ctx, binary, arguments...)
	command.Env = append(os.Environ(), "PGHOST="+u.Hostname(), "PGPORT="+u.Port(), "PGUSER="+u.User.Username(),
		"PGPASSWORD="+password,
		"PGDATABASE="+strings.TrimPrefix(u.Path, "/"), "PGSSLMODE="+u.Query().Get("sslmode"))
	if output, err := command.CombinedOutput(); err != nil {
		return o, fmt.Errorf("pgbench: %w: %s", err, output)
	}
	o.took = length
	return o, o.readLogs(prefix)
}

// readLogs reads the duration of each transaction from pgbench's logs, and removes these.
func (o *outcome) readLogs(prefix string) error {
	files, err := filepath.Glob(prefix + ".*")
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			if fields := strings.Fields(lines.Text()); len(fields) > 2 { // client, transaction, microseconds, …
				microseconds, err := strconv.Atoi(fields[2])
				if err != nil {
					return errors.Join(err, file.Close())
				}
				o.times = append(o.times, time.Duration(microseconds)*time.Microsecond)
			}
		}
		if err := errors.Join(file.Close(), os.Remove(name)); err != nil {
			return err
		}
	}
	return err
}

// script is the transaction that inserts a sample at the next position, one statement per table.
func script(sample []rows) string {
	var b strings.Builder
	b.WriteString("BEGIN;\n")
	for _, r := range sample {
		if len(r.values) == 0 {
			continue
		}
		var list []string
		for _, values := range r.values {
			var expressions []string
			for i, value := range values {
				expressions = append(expressions, expression(r.table, r.columns[i], value))
			}
			list = append(list, "("+strings.Join(expressions, ", ")+")")
		}
		fmt.Fprintf(&b, "INSERT INTO %s (%s) VALUES %s;\n", r.table, strings.Join(r.columns, ", "), strings.Join(list, ", "))
	}
	b.WriteString("COMMIT;\n")
	return b.String()
}

// expression is a value, or an expression that makes a new key.
func expression(table, column string, value any) string {
	const number = "currval('positions')"
	switch {
	case table == "events" && column == "position":
		return "nextval('positions')"
	case column == "position", column == "number":
		return number
	case column == "event_id":
		return "lpad(to_hex(" + number + "), 32, '0')::uuid"
	case column == "stream":
		return "'knowledge' || chr(58) || 'item-' || " + number
	case column == "id":
		return "'item-' || " + number
	case column == "uri":
		return "'viking' || chr(58) || '//user/default/memories/item-' || " + number + " || '.md'"
	}
	switch v := value.(type) {
	case nil:
		return "NULL"
	case []byte:
		return literal(string(v))
	default:
		return literal(fmt.Sprint(v))
	}
}

// literal quotes a string. It escapes colons, which pgbench reads as the start of a variable.
func literal(s string) string {
	return "E'" + strings.NewReplacer(`\`, `\\`, "'", "''", ":", `\x3A`, "\n", `\n`).Replace(s) + "'"
}
