package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// rebuild measures a rebuild of the knowledge table.
type rebuild struct {
	settings
	Events   int `help:"Events in the log." default:"100000"`
	Clients  int `help:"Clients that read and write during the second rebuild." default:"32"`
	Switches int `help:"How often versions are switched under load." default:"20"`
}

const rebuildPath = "/v1/projections/knowledge/rebuild"

// Run implements the command.
func (b *rebuild) Run(ctx context.Context) error {
	return b.run(ctx, "rebuild", func(ctx context.Context, s *session) error {
		if err := b.measureQuiet(ctx, s); err != nil {
			return err
		}
		return b.measureUnderLoad(ctx, s)
	})
}

// measureQuiet rebuilds without other clients, each program in turn on a log of its own.
func (b *rebuild) measureQuiet(ctx context.Context, s *session) error {
	fill := func(server *server) error { return b.fill(ctx, server) }
	return s.withServers(ctx, nil, fill, func(servers []*server) error {
		for range s.Rounds {
			for _, server := range servers {
				took, verifying, err := server.rebuild(ctx)
				if err != nil {
					return err
				}
				name := server.program.name
				s.add(name, "without verification", "s", less, (took - verifying).Seconds())
				s.add(name, "with verification", "s", less, took.Seconds())
				s.add(name, "memory afterwards", "MB", none, server.memory())
			}
		}
		if err := servers[0].endProcess(); err != nil {
			return err
		}
		for range s.Rounds {
			took, err := s.insertSelect(ctx, servers[0].database)
			if err != nil {
				return err
			}
			s.add("INSERT ... SELECT", "without verification", "s", less, took.Seconds())
		}
		return nil
	})
}

// fill writes a log through the API, and waits until the projections have read it. Of a hundred events 40 remember,
// 45 vote and 15 revise.
func (b *rebuild) fill(ctx context.Context, server *server) error {
	author := newAuthor(4)
	count := b.Events * 40 / 100
	err := server.load(ctx, func(yield func(item) bool) {
		for i := range count {
			it := author.write()
			if it.ID = "item-" + strconv.Itoa(i); !yield(it) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	changes, changing := errgroup.WithContext(ctx)
	changes.SetLimit(16)
	for i := range b.Events - count {
		changes.Go(func() error {
			author := newAuthor(uint64(5 + i))
			return server.change(changing, author, author.random.IntN(count), i)
		})
	}
	if err := changes.Wait(); err != nil {
		return err
	}
	return server.caughtUp(ctx)
}

// change votes for an item, or revises it.
func (s *server) change(ctx context.Context, a author, number, i int) error {
	path := "/v1/knowledge/item-" + strconv.Itoa(number)
	if i%4 == 0 {
		body := fmt.Sprintf(`{"content":%q}`, a.prose(20))
		return s.send(ctx, http.MethodPatch, path, "application/merge-patch+json", strings.NewReader(body), nil)
	}
	verdict := "helpful"
	if i%5 == 0 {
		verdict = "harmful"
	}
	return s.post(ctx, path+"/feedback", map[string]any{"verdict": verdict, "trace_id": "trace-" + strconv.Itoa(i)}, nil)
}

// rebuild rebuilds the knowledge table, and waits until the new version is read.
func (s *server) rebuild(ctx context.Context) (took, verifying time.Duration, err error) {
	began := time.Now()
	if err := s.post(ctx, rebuildPath, nil, nil); err != nil {
		return 0, 0, err
	}
	var from time.Time
	for ctx.Err() == nil {
		var now struct {
			State string `json:"state"`
			Error string `json:"error"`
		}
		if err := s.get(ctx, rebuildPath, &now); err != nil {
			return 0, 0, err
		}
		switch now.State {
		case "verifying":
			if from.IsZero() {
				from = time.Now()
			}
		case "active":
			if !from.IsZero() {
				verifying = time.Since(from)
			}
			return time.Since(began), verifying, nil
		case "failed", "retired":
			return 0, 0, fmt.Errorf("the rebuild is %s: %s", now.State, now.Error)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return 0, 0, context.Cause(ctx)
}

// insertSelect copies the rows of the active version into empty tables with the same columns, keys and indexes, one
// transaction per table.
func (s *session) insertSelect(ctx context.Context, address string) (took time.Duration, err error) {
	err = withPool(address, func(pool *sql.DB) error {
		var version int
		if err := pool.QueryRowContext(ctx,
			"SELECT version FROM projections WHERE name = 'knowledge' AND state = 'active'").Scan(&version); err != nil {
			return err
		}
		for _, table := range []string{"", "_scopes", "_terms", "_votes", "_reports"} {
			from, to := fmt.Sprintf("knowledge_%d%s", version, table), "reference"+table
			if err := s.createLike(ctx, pool, from, to); err != nil {
				return fmt.Errorf("create %s: %w", to, err)
			}
			columns, err := columnsOf(ctx, pool, from)
			if err != nil {
				return err
			}
			list := strings.Join(columns, ", ") // for "*", SQLite copies whole records
			began := time.Now()
			if _, err := pool.ExecContext(ctx, "INSERT INTO "+to+" ("+list+") SELECT "+list+" FROM "+from); err != nil {
				return err
			}
			took += time.Since(began)
			if _, err := pool.ExecContext(ctx, "DROP TABLE "+to); err != nil {
				return err
			}
		}
		return nil
	})
	return took, err
}

// createLike creates a table like another one, with its indexes.
func (s *session) createLike(ctx context.Context, pool *sql.DB, from, to string) (err error) {
	if s.engine == "postgres" {
		_, err := pool.ExecContext(ctx, "CREATE TABLE "+to+" (LIKE "+from+" INCLUDING ALL)")
		return err
	}
	definitions, err := definitionsOf(ctx, pool, from)
	if err != nil {
		return err
	}
	for _, definition := range definitions {
		if _, err := pool.ExecContext(ctx, strings.ReplaceAll(definition, from, to)); err != nil {
			return err
		}
	}
	return nil
}

// definitionsOf reads SQLite's definitions of a table and of its indexes.
func definitionsOf(ctx context.Context, pool *sql.DB, table string) (definitions []string, err error) {
	rows, err := pool.QueryContext(ctx,
		"SELECT sql FROM sqlite_schema WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type DESC", table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var definition string
		if err := rows.Scan(&definition); err != nil {
			return nil, err
		}
		definitions = append(definitions, definition)
	}
	return definitions, rows.Err()
}

// span is a time interval.
type span struct{ from, to time.Time }

// measureUnderLoad rebuilds while clients read and write, and then switches versions back and forth.
func (b *rebuild) measureUnderLoad(ctx context.Context, s *session) error {
	fill := func(server *server) error { return b.fill(ctx, server) }
	return s.withServers(ctx, nil, fill, func(servers []*server) error {
		for _, server := range servers {
			if err := b.underLoad(ctx, s, server); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *rebuild) underLoad(ctx context.Context, s *session, server *server) error {
	working, stop := context.WithCancel(ctx)
	defer stop()
	var mu sync.Mutex
	var calls []span
	var failures []error
	var clients sync.WaitGroup
	for n := range b.Clients {
		clients.Go(func() {
			author := newAuthor(uint64(100 + n))
			for i := 0; working.Err() == nil; i++ {
				from := time.Now()
				err := server.use(working, author, n, i)
				mu.Lock()
				calls = append(calls, span{from, time.Now()})
				if err != nil && working.Err() == nil {
					failures = append(failures, err)
				}
				mu.Unlock()
				time.Sleep(time.Duration(author.random.IntN(20)) * time.Millisecond)
			}
		})
	}
	took, _, err := server.rebuild(ctx)
	var pauses []time.Duration
	for range b.Switches {
		if err != nil {
			break
		}
		time.Sleep(200 * time.Millisecond)
		from := time.Now()
		err = server.post(ctx, "/v1/projections/knowledge/rollback", nil, nil)
		until := time.Now().Add(100 * time.Millisecond)
		time.Sleep(time.Until(until))
		mu.Lock()
		longest := time.Duration(0)
		for _, call := range calls {
			if call.to.After(from) && call.from.Before(until) {
				longest = max(longest, call.to.Sub(call.from))
			}
		}
		mu.Unlock()
		pauses = append(pauses, longest)
	}
	stop()
	clients.Wait()
	s.add(server.program.name, "under load", "s", less, took.Seconds())
	s.add(server.program.name, "under load, requests", "", none, float64(len(calls)))
	s.add(server.program.name, "under load, failed requests", "", none, float64(len(failures)))
	s.add(server.program.name, "slowest request around a switch, p50", "ms", none, percentile(pauses, 0.50))
	s.add(server.program.name, "slowest request around a switch, p99", "ms", none, percentile(pauses, 0.99))
	return errors.Join(err, errors.Join(failures[:min(3, len(failures))]...))
}

// use votes for an item and reads the vote back, in turn with changes and searches.
func (s *server) use(ctx context.Context, a author, client, i int) error {
	if i%2 == 0 {
		_, err := s.search(ctx, map[string]any{"query": a.prose(4), "limit": depth})
		return err
	}
	return s.change(ctx, a, rand.IntN(1000), client*1_000_000+i)
}
