package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/database"
)

// pgbench runs PostgreSQL's own measuring program.
type pgbench struct {
	program string
	scripts []string // files; every transaction takes one by chance
	dir     string
}

// pgbenches are the ways to give PostgreSQL the same inserts.
func pgbenches(dir string, samples []written) ([]way, error) {
	var ways []way
	for _, w := range []struct {
		name     string
		together bool
	}{{"pgbench, a statement per table", false}, {"pgbench, all in one message", true}} {
		p, err := newPgbench(dir, samples, w.together)
		if err != nil {
			return nil, err
		}
		ways = append(ways, way{name: w.name, target: 1, open: p.contend})
	}
	return ways, nil
}

func (p *pgbench) contend(ctx context.Context) (*contender, error) {
	address, away, err := emptyTables(ctx, database.Postgres)
	if err != nil {
		return nil, err
	}
	cluster, err := clusterOf(ctx, database.Postgres, address)
	if err == nil {
		err = execute(ctx, address, "CREATE SEQUENCE positions")
	}
	if err != nil {
		return nil, errors.Join(err, away())
	}
	return &contender{
		run: func(ctx context.Context, clients int, length time.Duration) (outcome, error) {
			return p.run(ctx, address, clients, length)
		},
		cpu: cluster, close: away,
	}, nil
}

func findPgbench() (string, error) {
	places, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench") // the pattern is well-formed
	places = append(places, "pgbench")
	for _, place := range places {
		if path, err := exec.LookPath(place); err == nil {
			return path, nil
		}
	}
	return "", errors.New("pgbench is not there: it comes with the PostgreSQL server, or with postgresql-contrib")
}

// newPgbench writes a script per sample. Each is a transaction with a statement per table; together sends them all at once.
func newPgbench(dir string, samples []written, together bool) (*pgbench, error) {
	program, err := findPgbench()
	if err != nil {
		return nil, err
	}
	p := &pgbench{program: program, dir: dir}
	for i, sample := range samples {
		path := filepath.Join(dir, fmt.Sprintf("remember-%t-%d.sql", together, i))
		if err := os.WriteFile(path, []byte(sample.script(together)), 0o600); err != nil {
			return nil, err
		}
		p.scripts = append(p.scripts, path)
	}
	return p, nil
}

// script is the transaction that inserts the sample at the next position.
func (w written) script(together bool) string {
	end := ";\n"
	if together {
		end = " \\;\n"
	}
	var b strings.Builder
	b.WriteString("BEGIN" + end)
	for _, r := range w {
		if len(r.values) == 0 {
			continue
		}
		fmt.Fprintf(&b, "INSERT INTO %s (%s) VALUES", r.table, strings.Join(r.columns, ", "))
		for i, values := range r.values {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(" (")
			for j, value := range values {
				if j > 0 {
					b.WriteString(", ")
				}
				b.WriteString(expression(r.table, r.columns[j], value))
			}
			b.WriteString(")")
		}
		b.WriteString(end)
	}
	b.WriteString("COMMIT;\n")
	return b.String()
}

// expression is a value, or what makes it unlike that of any other transaction.
func expression(table, column string, value any) string {
	const number = "currval('positions')"
	switch {
	case table == "events" && column == "position":
		return "nextval('positions')"
	case column == "position", column == "number":
		return number
	case column == "event_id": // ascends, as those of the log do
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

// literal hides colons, which pgbench takes for the beginning of a variable.
func literal(s string) string {
	return "E'" + strings.NewReplacer(`\`, `\\`, "'", "''", ":", `\x3A`, "\n", `\n`).Replace(s) + "'"
}

// run lets so many clients do transactions until the time is over.
func (p *pgbench) run(ctx context.Context, address string, clients int, length time.Duration) (outcome, error) {
	prefix := filepath.Join(p.dir, "pgbench")
	arguments := []string{
		"--no-vacuum", "--client", strconv.Itoa(clients), "--jobs", strconv.Itoa(min(clients, 2)),
		"--time", strconv.Itoa(int(length.Seconds())), "--log", "--log-prefix", prefix,
	}
	for _, script := range p.scripts {
		arguments = append(arguments, "--file", script)
	}
	command := exec.CommandContext(ctx, p.program, arguments...)
	environment, err := connection(address)
	if err != nil {
		return outcome{}, err
	}
	command.Env = append(os.Environ(), environment...)
	said, err := command.CombinedOutput()
	if err != nil {
		return outcome{}, fmt.Errorf("pgbench: %w: %s", err, said)
	}
	o, err := readLogs(prefix)
	if err != nil {
		return o, err
	}
	for line := range strings.Lines(string(said)) {
		if rate, found := strings.CutPrefix(line, "tps = "); found {
			rate, _, _ = strings.Cut(rate, " ")
			perSecond, err := strconv.ParseFloat(rate, 64)
			o.took = time.Duration(float64(len(o.times)) / perSecond * float64(time.Second))
			return o, err
		}
	}
	return o, fmt.Errorf("pgbench said no rate: %s", said)
}

// readLogs reads how long every transaction took and removes the logs.
func readLogs(prefix string) (o outcome, err error) {
	files, err := filepath.Glob(prefix + ".*")
	if err != nil {
		return o, err
	}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return o, err
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			// client, transaction, microseconds, script, …
			fields := strings.Fields(lines.Text())
			if len(fields) < 3 {
				continue
			}
			microseconds, err := strconv.ParseInt(fields[2], 10, 64)
			if err != nil {
				return o, errors.Join(err, file.Close())
			}
			o.times = append(o.times, time.Duration(microseconds)*time.Microsecond)
		}
		if err := errors.Join(file.Close(), os.Remove(name)); err != nil {
			return o, err
		}
	}
	return o, nil
}

// connection is a URL as libpq's environment, where no list of processes shows the password.
func connection(address string) ([]string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the address of the reference does not parse")
	}
	password, _ := u.User.Password()
	return []string{
		"PGHOST=" + u.Hostname(), "PGPORT=" + u.Port(), "PGUSER=" + u.User.Username(), "PGPASSWORD=" + password,
		"PGDATABASE=" + strings.TrimPrefix(u.Path, "/"), "PGSSLMODE=" + u.Query().Get("sslmode"),
	}, nil
}
