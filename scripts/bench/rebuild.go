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

// Run implements the command. The first rebuilds run without other clients.
func (b *rebuild) Run(ctx context.Context) error {
	return b.run(ctx, "rebuild", func(ctx context.Context, s *session) error {
		fill := func(server *server) error { return s.fill(ctx, server, b.Events) }
		return s.withServers(ctx, nil, fill, func(servers []*server) error {
			err := inTurn(s.Rounds, servers, func(server *server) error {
				took, verifying, err := server.rebuild(ctx)
				name := server.program.name
				s.add(name, "without verification", "s", (took - verifying).Seconds())
				s.add(name, "with verification", "s", took.Seconds())
				s.add(name, "memory afterwards", "MB", server.memory())
				return err
			})
			if err != nil {
				return err
			}
			for _, server := range servers {
				if err := b.underLoad(ctx, s, server); err != nil {
					return err
				}
			}
			if err := servers[0].endProcess(); err != nil {
				return err
			}
			return inTurn(s.Rounds, servers[:1], func(one *server) error { return s.insertSelect(ctx, one.database) })
		})
	})
}

// fill writes a log through the API, and waits until the projections have read it. Of a hundred events 40 remember,
// 45 vote and 15 revise.
func (s *session) fill(ctx context.Context, server *server, events int) error {
	items := newAuthor(4).items(itemsOf(events))
	for i := range items {
		items[i].ID = "item-" + strconv.Itoa(i)
	}
	if err := s.load(ctx, server, "", items); err != nil {
		return err
	}
	changes, changing := errgroup.WithContext(ctx)
	changes.SetLimit(16)
	for i := range events - len(items) {
		changes.Go(func() error {
			author := newAuthor(uint64(5 + i))
			return server.change(changing, author, author.random.IntN(len(items)), i)
		})
	}
	if err := changes.Wait(); err != nil {
		return err
	}
	return server.caughtUp(ctx)
}

// itemsOf is how many items a log of so many events is about.
func itemsOf(events int) int { return events * 40 / 100 }

// change revises an item, or votes for it. A voter has ten votes per item and day, so each vote has its own voter.
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
	voter := fmt.Sprintf("agent:voter-%d", i)
	return s.post(ctx, path+"/feedback", map[string]any{"verdict": verdict}, nil, "Annals-Actor", voter)
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
func (s *session) insertSelect(ctx context.Context, address string) error {
	return withPool(address, func(pool *sql.DB) error {
		var version int
		if err := pool.QueryRowContext(ctx,
			"SELECT version FROM projections WHERE name = 'knowledge' AND state = 'active'").Scan(&version); err != nil {
			return err
		}
		took := time.Duration(0)
		for _, table := range []string{"", "_blocks", "_changes", "_votes", "_reports"} {
			from, to := fmt.Sprintf("knowledge_%d%s", version, table), "reference"+table
			create := "CREATE TABLE " + to + " (LIKE " + from + " INCLUDING ALL)"
			if s.engine == "sqlite" {
				if err := pool.QueryRowContext(ctx, `
					SELECT group_concat(replace(sql, ?1, ?2), '; ' ORDER BY type DESC)
					FROM sqlite_schema
					WHERE tbl_name = ?1 AND sql IS NOT NULL`, from, to).Scan(&create); err != nil {
					return err
				}
			}
			if _, err := pool.ExecContext(ctx, create); err != nil {
				return fmt.Errorf("create %s: %w", to, err)
			}
			began := time.Now()
			// without a condition, SQLite copies whole records
			if _, err := pool.ExecContext(ctx, "INSERT INTO "+to+" SELECT * FROM "+from+" WHERE 1 = 1"); err != nil {
				return err
			}
			took += time.Since(began)
			if _, err := pool.ExecContext(ctx, "DROP TABLE "+to); err != nil {
				return err
			}
		}
		s.add("INSERT ... SELECT", "without verification", "s", took.Seconds())
		return nil
	})
}

// underLoad rebuilds while clients read and write, and then switches versions back and forth.
func (b *rebuild) underLoad(ctx context.Context, s *session, server *server) error {
	working, stop := context.WithCancel(ctx)
	defer stop()
	var mu sync.Mutex
	var slowest time.Duration // of the calls since a switch
	var requests int
	var failures []error
	var clients sync.WaitGroup
	for n := range b.Clients {
		clients.Go(func() {
			author := newAuthor(uint64(100 + n))
			for i := 0; working.Err() == nil; i++ {
				from := time.Now()
				err := server.use(working, author, itemsOf(b.Events), (n+1)*1_000_000+i)
				mu.Lock()
				slowest = max(slowest, time.Since(from))
				requests++
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
	for i := 0; i < b.Switches && err == nil; i++ {
		time.Sleep(200 * time.Millisecond)
		mu.Lock()
		slowest = 0
		mu.Unlock()
		err = server.post(ctx, "/v1/projections/knowledge/rollback", nil, nil)
		time.Sleep(100 * time.Millisecond)
		mu.Lock()
		pauses = append(pauses, slowest)
		mu.Unlock()
	}
	stop()
	clients.Wait()
	s.add(server.program.name, "under load", "s", took.Seconds())
	s.add(server.program.name, "under load, requests", "", float64(requests))
	s.add(server.program.name, "under load, failed requests", "", float64(len(failures)))
	s.addTimes(server.program.name, "slowest request around a switch", pauses, 0.99)
	return errors.Join(err, errors.Join(failures[:min(3, len(failures))]...))
}

// use searches, in turn with changes.
func (s *server) use(ctx context.Context, a author, count, i int) error {
	if i%2 == 0 {
		_, err := s.search(ctx, map[string]any{"query": a.prose(4), "limit": depth})
		return err
	}
	return s.change(ctx, a, rand.IntN(count), i)
}
