package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/scripts/bench"
)

// world is a database with everything that reads and writes it.
type world struct {
	db     *database.DB
	base   *projections.Knowledge
	log    *events.Log
	past   *projections.Past
	random *rand.Rand
	items  int
	stop   func() error
	away   func() error
}

// open opens a fresh database; following lets the projection of the past follow its log.
func open(ctx context.Context, engine database.Engine, kept bench.Kept, following, vectors bool) (*world, error) {
	db, away, err := kept.Open(ctx, engine)
	if err != nil {
		return nil, err
	}
	w := &world{db: db, random: rand.New(rand.NewPCG(7, 7)), stop: func() error { return nil }, away: away}
	quiet := slog.New(slog.DiscardHandler)
	if w.base, err = projections.Open(ctx, db, projections.Settings{}); err != nil {
		return nil, errors.Join(err, away())
	}
	w.log = events.NewLog(db, w.base, events.Options{Logger: quiet})
	if w.past, err = projections.OpenPast(ctx, w.base, w.log); err != nil {
		return nil, errors.Join(err, w.close(ctx))
	}
	if !following {
		return w, nil
	}
	router, err := events.NewRouter(quiet)
	if err != nil {
		return nil, errors.Join(err, w.close(ctx))
	}
	w.past.Follow(router)
	if vectors {
		w.base.Meaning().Follow(router, w.log)
	}
	running, cancel := context.WithCancel(ctx)
	var ended error
	var working sync.WaitGroup
	working.Go(func() { w.base.CompactAll(running, w.log) })
	working.Go(func() { ended = router.Run(running) })
	w.stop = func() error {
		cancel()
		working.Wait()
		return ended
	}
	return w, nil
}

func (w *world) close(ctx context.Context) error {
	return errors.Join(w.stop(), w.log.Close(context.WithoutCancel(ctx)), w.away())
}

// remember adds items of twenty words, each in the scope of one of fifty users or ten teams, or public.
func (w *world) remember(ctx context.Context, count int) error {
	by := domain.OpenPrincipal()
	return w.submit(ctx, by, count, func(int) (domain.Command, error) {
		owner := domain.Entity(fmt.Sprint("user:u", w.random.IntN(50)))
		scope := []domain.Scope{owner.Scope(), domain.Scope(fmt.Sprint("team:t", w.random.IntN(10))), domain.Public}[w.random.IntN(3)]
		command := domain.Remember{By: by, ID: fmt.Sprint("i", w.items), Knowledge: domain.Remembered{
			Type: domain.Types[w.random.IntN(len(domain.Types))], Owner: owner, Scopes: []domain.Scope{scope},
			Text: domain.Text{Content: w.sentence(20), Task: w.sentence(4), Tags: domain.Tags{"domain": {fmt.Sprint("d", w.random.IntN(100))}}},
		}}
		w.items++
		return command.Complete()
	})
}

// live votes for items and revises others.
func (w *world) live(ctx context.Context, count int) error {
	by := domain.OpenPrincipal()
	return w.submit(ctx, by, count, func(n int) (domain.Command, error) {
		target := domain.Target{By: by, ID: fmt.Sprint("i", w.random.IntN(w.items))}
		if n%4 == 0 {
			content := w.sentence(20)
			return domain.Revise{Target: target, Changes: domain.Revised{Content: &content}}, nil
		}
		return domain.GiveFeedback{Target: target, Verdict: domain.Helpful, TraceID: fmt.Sprint("t", n), Day: time.Now()}, nil
	})
}

func (w *world) submit(ctx context.Context, by domain.Principal, count int, command func(n int) (domain.Command, error)) error {
	const batch = 500
	for n := 0; n < count; {
		var all []domain.Submission
		for ; len(all) < batch && n < count; n++ {
			c, err := command(n)
			if err != nil {
				return err
			}
			all = append(all, domain.Submission{Command: c, By: by})
		}
		for _, result := range w.log.SubmitAll(ctx, all) {
			if result.Err != nil {
				return result.Err
			}
		}
	}
	return nil
}

func (w *world) sentence(words int) string {
	var s strings.Builder
	for range words {
		// Few words are frequent, most are rare.
		fmt.Fprintf(&s, "word%d ", int(float64(5000)*w.random.Float64()*w.random.Float64()*w.random.Float64()))
	}
	return s.String()
}

// caughtUp waits until the background has read everything, and gives the head.
func (w *world) caughtUp(ctx context.Context, projections ...string) (int64, error) {
	head, _, err := w.log.Head(ctx, domain.DefaultTenant)
	if err != nil {
		return 0, err
	}
	for _, name := range projections {
		for {
			position, _, _, err := w.log.Checkpoint(ctx, name, domain.DefaultTenant)
			if err != nil {
				return 0, err
			}
			if position >= head {
				break
			}
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
	}
	return head, nil
}
