package availability

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/client"
)

const (
	mostGrowth = 0.05
	// fewer than this many more are noise: the runtime keeps each thread that it once needed.
	mostMore = 2
)

// figure is something that a server uses, and how it may grow.
type figure struct {
	name  string
	value float64
	unit  string
	// printed tells that growth does not fail the test, and why.
	printed string
	// most is the largest value, for a figure that is not compared with that of the start.
	most *float64
}

// metrics are those of the server without labels.
func (s *soaked) metrics(ctx context.Context) map[string]float64 {
	s.Helper()
	body, err := s.root.Open(ctx, client.Get("metrics"))
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = body.Close() }()
	found := map[string]float64{}
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		if name, value, two := strings.Cut(lines.Text(), " "); two {
			if number, err := strconv.ParseFloat(value, 64); err == nil {
				found[name] = number
			}
		}
	}
	return found
}

// collect reads the log until the server has collected its garbage twice, which also empties its pools.
func (s *soaked) collect() map[string]float64 {
	s.Helper()
	for range 2 {
		before := s.metrics(s.Context())["go_memstats_last_gc_time_seconds"]
		databasetest.Until(s.world, "the server has collected its garbage", func() bool {
			log := s.lines()
			_, _ = io.Copy(io.Discard, log)
			_ = log.Close()
			return s.metrics(s.Context())["go_memstats_last_gc_time_seconds"] > before
		})
	}
	s.shared.CloseIdleConnections()
	time.Sleep(500 * time.Millisecond)
	return s.metrics(s.Context())
}

// measure takes the median of ten samples, at rest.
func (s *soaked) measure() []figure {
	s.Helper()
	const rest, samples = 30 * time.Second, 10
	s.caughtUp()
	s.shared.CloseIdleConnections()
	time.Sleep(rest)
	taken := map[string][]float64{}
	take := func(name string, value float64) { taken[name] = append(taken[name], value) }
	for range samples {
		m := s.collect()
		take("resident", m["process_resident_memory_bytes"])
		take("own", s.anonymous())
		take("heap", m["go_memstats_next_gc_bytes"]/2)
		take("goroutines", m["go_goroutines"])
		take("threads", m["go_threads"])
		take("handles", s.handles())
	}
	const mib = 1 << 20
	figures := []figure{
		{name: "resident memory", value: middle(taken["resident"]) / mib, unit: "MiB", printed: "maps the database of SQLite"},
		{name: "resident memory without mapped files", value: middle(taken["own"]) / mib, unit: "MiB"},
		{name: "heap after a collection", value: middle(taken["heap"]) / mib, unit: "MiB"},
		{name: "goroutines", value: middle(taken["goroutines"])},
		{name: "threads", value: middle(taken["threads"])},
		{name: "open handles, without the database's", value: middle(taken["handles"])},
	}
	s.Logf("goroutines by what started them: %s", s.goroutines())
	if s.engine == database.Postgres {
		return append(figures, s.measurePostgres()...)
	}
	return append(figures, s.measureSQLite()...)
}

// goroutines counts them by the function that started them.
func (s *soaked) goroutines() string {
	s.Helper()
	answer, err := s.root.Open(s.Context(), client.Get("v1", "debug", "goroutines"))
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = answer.Close() }()
	counts := map[string]int{}
	for lines := bufio.NewScanner(answer); lines.Scan(); {
		if starter, is := strings.CutPrefix(lines.Text(), "created by "); is {
			starter, _, _ = strings.Cut(starter, " in goroutine")
			counts[starter]++
		}
	}
	var all strings.Builder
	for _, starter := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&all, "\n%6d × %s", counts[starter], starter)
	}
	return all.String()
}

// anonymous is the resident memory that is not part of a file, in bytes.
func (s *soaked) anonymous() float64 {
	s.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.server.running.Process.Pid))
	if err != nil {
		s.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if size, is := strings.CutPrefix(line, "RssAnon:"); is {
			const kib = 1 << 10
			number, _ := strconv.ParseFloat(strings.Fields(size)[0], 64)
			return number * kib
		}
	}
	s.Fatal("the kernel tells no RssAnon")
	return 0
}

// handles counts what the server has open, without the pool of connections to the database: that keeps as many as were
// busy at once in the last minutes.
func (s *soaked) handles() (count float64) {
	s.Helper()
	directory := fmt.Sprintf("/proc/%d/fd", s.server.running.Process.Pid)
	all, err := os.ReadDir(directory)
	if err != nil {
		s.Fatal(err)
	}
	_, path, _ := strings.Cut(s.database, ":")
	for _, one := range all {
		if target, err := os.Readlink(filepath.Join(directory, one.Name())); err == nil && !strings.HasPrefix(target, path) {
			count++
		}
	}
	if s.engine == database.Postgres {
		count -= s.sessions()
	}
	return count
}

// sessions counts those of the server in PostgreSQL.
func (s *soaked) sessions() float64 {
	s.Helper()
	return s.ask(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)[""]
}

// ask asks the database for numbers by name, or for one without a name.
func (s *soaked) ask(queries ...string) map[string]float64 {
	s.Helper()
	pool, err := sql.Open(string(s.engine), strings.TrimPrefix(s.database, "sqlite:"))
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	pool.SetMaxOpenConns(1)
	found := map[string]float64{}
	last := len(queries) - 1
	for _, query := range queries[:last] {
		if _, err := pool.ExecContext(s.Context(), query); err != nil {
			s.Fatal(query, err)
		}
	}
	rows, err := pool.QueryContext(s.Context(), queries[last])
	if err != nil {
		s.Fatal(queries[last], err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		var number float64
		into := []any{&name, &number}
		if columns, err := rows.Columns(); err == nil && len(columns) == 1 {
			into = into[1:]
		}
		if err := rows.Scan(into...); err != nil {
			s.Fatal(err)
		}
		found[name] = number
	}
	if err := rows.Err(); err != nil {
		s.Fatal(err)
	}
	return found
}

// events is how long the log is.
func (s *soaked) events() float64 { return s.ask("SELECT count(*) FROM events")[""] }

func (s *soaked) measurePostgres() []figure {
	s.Helper()
	const beside = 2 // the pool: the session that listens, and one to spare
	none, most := 0.0, float64(pool+beside)
	figures := []figure{
		{name: "sessions in PostgreSQL", value: s.sessions(), most: &most},
		{name: "sessions in a transaction", most: &none, value: s.ask(`SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL`)[""]},
		{name: "replication slots", most: &none, value: s.ask(`SELECT count(*) FROM pg_replication_slots
			WHERE database = current_database()`)[""]},
		{
			name: "WAL after a checkpoint", unit: "MiB", value: s.ask("CHECKPOINT", `SELECT sum(size) / 1048576 FROM pg_ls_waldir()`)[""],
			most: new(s.ask(`SELECT setting::float FROM pg_settings WHERE name = 'max_wal_size'`)[""]),
		},
	}
	return slices.Concat(figures, s.measureTables(), s.perEvent(s.ask("SELECT pg_database_size(current_database())")[""]))
}

// measureTables tells what the tables waste. VACUUM cannot remove dead rows that an open transaction might read. What
// it removes leaves room, which new rows should use.
func (s *soaked) measureTables() (figures []figure) {
	s.Helper()
	s.ask("VACUUM (ANALYZE)", "SELECT pg_stat_force_next_flush()", "SELECT 1")
	dead := s.ask("SELECT relname, n_dead_tup FROM pg_stat_user_tables")
	disk := s.ask("SELECT relname, pg_total_relation_size(relid) FROM pg_stat_user_tables")
	rows, gone, bytes, size := map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]float64{}
	for table := range disk {
		name := regexp.MustCompile("[0-9]+").ReplaceAllString(table, "N") // rebuilt versions have other numbers
		rows[name] += s.ask(fmt.Sprintf("SELECT count(*) FROM %s", table))[""]
		bytes[name] += s.ask(fmt.Sprintf("SELECT coalesce(sum(pg_column_size(t.*)), 0) FROM %s AS t", table))[""]
		gone[name] += dead[table]
		size[name] += disk[table]
	}
	five := 100 * mostGrowth
	for _, name := range slices.Sorted(maps.Keys(size)) {
		if gone[name] > mostMore {
			share := 100 * gone[name] / (gone[name] + rows[name])
			figures = append(figures, figure{name: "dead rows in " + name, value: share, unit: "%", most: &five})
		}
		const small = 1 << 20
		if size[name] > small && bytes[name] > 0 {
			figures = append(figures, figure{name: "disk per byte in " + name, value: size[name] / bytes[name], unit: "B"})
		}
	}
	return figures
}

func (s *soaked) measureSQLite() []figure {
	s.Helper()
	_, path, _ := strings.Cut(s.database, ":")
	wal, err := os.Stat(path + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.Fatal(err)
	}
	size := 0.0
	if err == nil {
		size = float64(wal.Size())
	}
	const limit = 64 << 20 // journal_size_limit: the file keeps what long reads once made of it
	most := limit / float64(1<<20)
	pages := s.ask("PRAGMA page_count")[""]
	free := s.ask("PRAGMA freelist_count")[""]
	return append([]figure{
		{name: "the file -wal", value: size / (1 << 20), unit: "MiB", most: &most},
		{name: "free pages", value: 100 * free / pages, unit: "%", printed: "the log takes them"},
	}, s.perEvent((pages-free)*s.ask("PRAGMA page_size")[""])...)
}

// perEvent is the disk that an event takes, since the log grows by design.
func (s *soaked) perEvent(size float64) []figure {
	s.Helper()
	events := s.events()
	return []figure{
		{name: "events", value: events, printed: "the log grows"},
		{name: "database", value: size / (1 << 20), unit: "MiB", printed: "the log grows"},
		{name: "database per event", value: size / events, unit: "B"},
	}
}

// compare prints all figures, and fails for those that grew.
func (s *soaked) compare(before, after []figure) {
	s.Helper()
	at := map[string]figure{}
	for _, f := range before {
		at[f.name] = f
	}
	var table strings.Builder
	lines := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(lines, "\nwhat\tstart\tend\tchange\t")
	for _, f := range after {
		start, known := at[f.name]
		change, verdict := "", f.printed
		switch grew := f.value - start.value; {
		case f.most != nil:
			if verdict = fmt.Sprintf("at most %.4g", *f.most); f.value > *f.most {
				verdict += ": FAILED"
				s.Errorf("%s: got %.4g %s, want %s", f.name, f.value, f.unit, verdict)
			}
		case !known || start.value == 0:
		default:
			change = fmt.Sprintf("%+.1f %%", 100*grew/start.value)
			counted := f.unit == ""
			if f.printed == "" && grew > start.value*mostGrowth && (!counted || grew > mostMore) {
				verdict = "FAILED"
				s.Errorf("%s: got %.4g %s at the end, %.4g at the start: %s", f.name, f.value, f.unit, start.value, change)
			}
		}
		_, _ = fmt.Fprintf(lines, "%s\t%.5g %s\t%.5g %s\t%s\t%s\n", f.name, start.value, f.unit, f.value, f.unit, change, verdict)
	}
	_ = lines.Flush()
	s.Log(table.String())
}

// middle is the median of some samples.
func middle(samples []float64) float64 {
	slices.Sort(samples)
	return samples[len(samples)/2]
}
