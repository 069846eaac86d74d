package follow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/codec"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/events/logtest"
)

// picky is a projection that cannot take in some streams.
type picky struct {
	effects
	mu     sync.Mutex
	refuse map[string]func() error // by stream
}

func newPicky(t *testing.T, db *database.DB, refuse map[string]func() error) *picky {
	t.Helper()
	return &picky{effects: newEffects(t, db, "effects"), refuse: refuse}
}

func (p *picky) handle(ctx context.Context, tx bun.IDB, page follow.Page) error {
	for _, event := range page.Events {
		if err := p.effects.handle(ctx, tx, follow.Page{Tenant: page.Tenant, Events: []domain.Event{event}}); err != nil {
			return err
		}
		p.mu.Lock()
		refuse := p.refuse[event.Stream]
		p.mu.Unlock()
		if refuse != nil {
			if err := refuse(); err != nil {
				return err
			}
		}
	}
	return nil
}

// mend lets a stream be taken in from now on.
func (p *picky) mend(stream string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.refuse, stream)
}

// positions are the effects there are, in order.
func (p *picky) positions(t *testing.T, db *database.DB) []int64 {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT position FROM effects ORDER BY position`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []int64
	for rows.Next() {
		var position int64
		if err := rows.Scan(&position); err != nil {
			t.Fatal(err)
		}
		all = append(all, position)
	}
	return all
}

func quarantined(t *testing.T, followers *follow.Followers) []string {
	t.Helper()
	list, err := followers.Quarantined(t.Context(), "p", "acme")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, q := range list {
		all = append(all, fmt.Sprintf("%s from %d, %d waiting: %s", q.Stream, q.Position, q.Waiting, q.Error))
	}
	return all
}

func always(err error) func() error { return func() error { return err } }

func wantQuarantine(t *testing.T, followers *follow.Followers, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, quarantined(t, followers)); diff != "" {
		t.Errorf("quarantine (-want +got):\n%s", diff)
	}
}

func wantPositions(t *testing.T, got []int64, want ...int64) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
}

func TestAPoisonEventQuarantinesItsStreamAndNothingElse(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, followers := newLog(t, db, events.Options{})
		logtest.Remember(t, l, "acme", 0, 12)
		p := newPicky(t, db, map[string]func() error{
			"knowledge:k-0": always(errors.New("cannot fold this")),
			"knowledge:k-7": func() error { panic("nor this") },
		})
		handle(t, followers, "p", p.handle)
		p.reach(t, followers, db, "p", "acme", 12)
		logtest.Vote(t, l, 1) // for k-0
		p.reach(t, followers, db, "p", "acme", 13)
		wantPositions(t, p.positions(t, db), 2, 3, 4, 5, 6, 7, 9, 10, 11, 12)
		wantQuarantine(t, followers, "knowledge:k-0 from 1, 2 waiting: cannot fold this", "knowledge:k-7 from 8, 1 waiting: panic: nor this")
		if err := followers.LastError("p", "acme"); err != nil {
			t.Errorf("got trouble %v, want the projection to go on", err)
		}

		// What cannot be taken in yet stays, with the newest reason; what can is taken in, in order.
		again, err := followers.RetryQuarantined(t.Context(), "p", "acme", "knowledge:k-0")
		if err != nil || again.Released || again.Left == nil || again.Left.Attempts != 4 {
			t.Errorf("got %+v, %v, want it to stay after one more attempt", again, err)
		}
		p.mend("knowledge:k-0")
		again, err = followers.RetryQuarantined(t.Context(), "p", "acme", "knowledge:k-0")
		if diff := cmp.Diff(domain.Replayed{Stream: "knowledge:k-0", Events: 2, Released: true}, again); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		wantPositions(t, p.positions(t, db), 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13)

		// What is skipped is never taken in, what comes later is.
		skipped, err := followers.SkipQuarantined(t.Context(), "p", "acme", "knowledge:k-7")
		if err != nil || len(skipped.Events) != 1 || skipped.Events[0].Position != 8 {
			t.Errorf("got %+v, %v, want position 8", skipped, err)
		}
		p.mend("knowledge:k-7")
		wantQuarantine(t, followers)
		logtest.Vote(t, l, 2)
		p.reach(t, followers, db, "p", "acme", 15)
		wantPositions(t, p.positions(t, db), 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15)
		for _, release := range []func() error{
			func() error {
				_, err := followers.RetryQuarantined(t.Context(), "p", "acme", "knowledge:k-7")
				return err
			},
			func() error {
				_, err := followers.SkipQuarantined(t.Context(), "p", "acme", "knowledge:k-7")
				return err
			},
			func() error {
				_, err := followers.RetryQuarantined(t.Context(), "nobody", "acme", "knowledge:k-7")
				return err
			},
		} {
			if err := release(); !errors.Is(err, domain.ErrNotFound) {
				t.Errorf("got %v, want %v", err, domain.ErrNotFound)
			}
		}
	})
}

func TestWhatPassesQuarantinesNobody(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, followers := newLog(t, db, events.Options{})
		logtest.Remember(t, l, "acme", 0, 2)
		var attempts atomic.Int64
		failures := []error{
			fmt.Errorf("the model: %w", domain.ErrUnavailable), database.ErrUnavailable, database.ErrFull,
			context.DeadlineExceeded, codec.ErrUnknownFact,
		}
		p := newPicky(t, db, nil)
		p.refuse = map[string]func() error{"knowledge:k-0": func() error {
			if n := int(attempts.Add(1)); n <= 2*len(failures) {
				return failures[n%len(failures)]
			}
			return nil
		}}
		missing := func(ctx context.Context, tx bun.IDB, _ follow.Page) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO no_such_table VALUES (1)`)
			return err
		}
		handle(t, followers, "p", p.handle)
		handle(t, followers, "broken", missing)
		if got := p.reach(t, followers, db, "p", "acme", 2); got != 2 {
			t.Errorf("got %d effects, want 2", got)
		}
		wantQuarantine(t, followers)
		eventually(t, func() string {
			if err := followers.LastError("broken", "acme"); err == nil || !strings.Contains(err.Error(), "no_such_table") {
				return fmt.Sprintf("got trouble %v", err)
			}
			return ""
		})
		if list, err := followers.Quarantined(t.Context(), "broken", "acme"); err != nil || len(list) != 0 {
			t.Errorf("got %+v, %v in quarantine for want of a table", list, err)
		}
	})
}

// What the database refuses for its values is the event's fault.
func TestWhatTheDatabaseRefusesIsPutInQuarantine(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, followers := newLog(t, db, events.Options{})
		p := newPicky(t, db, nil)
		damage(t, db, `CREATE UNIQUE INDEX one ON effects (tenant, position)`)
		damage(t, db, `INSERT INTO effects VALUES ('acme', 2)`)
		logtest.Remember(t, l, "acme", 0, 3)
		handle(t, followers, "p", p.handle)
		p.reach(t, followers, db, "p", "acme", 3)
		if got := quarantined(t, followers); len(got) != 1 || !strings.HasPrefix(got[0], "knowledge:k-1 from 2, 1 waiting: ") {
			t.Errorf("got %q", got)
		}
	})
}

func TestAnEventThatCannotBeReadIsPoison(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, followers := newLog(t, db, events.Options{})
		logtest.Remember(t, l, "acme", 0, 4)
		damage(t, db, `UPDATE events SET data = '[]' WHERE position = 3`)
		p := newPicky(t, db, nil)
		handle(t, followers, "p", p.handle)
		p.reach(t, followers, db, "p", "acme", 4)
		wantPositions(t, p.positions(t, db), 1, 2, 4)
		if got := quarantined(t, followers); len(got) != 1 || !strings.HasPrefix(got[0], "knowledge:k-2 from 3, 1 waiting: position 3 of tenant acme, knowledge:k-2: decode") {
			t.Errorf("got %q", got)
		}
	})
}

func TestAProjectionThatCannotTakeInAnythingStandsStill(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, followers := newLog(t, db, events.Options{})
		damage(t, db, `
			WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100)
			INSERT INTO quarantine SELECT 'p', 'acme', 'knowledge:other-' || n, 1, '0195a000-0000-7000-8000-000000000001', '', '2026-01-01T00:00:00Z', 1
			FROM numbers`)
		logtest.Remember(t, l, "acme", 0, 1)
		p := newPicky(t, db, map[string]func() error{"knowledge:k-0": always(errors.New("the program is wrong"))})
		handle(t, followers, "p", p.handle)
		eventually(t, func() string {
			err := followers.LastError("p", "acme")
			if err == nil || !strings.Contains(err.Error(), "too many streams are in quarantine, 100 of tenant acme") ||
				!strings.Contains(err.Error(), "the program is wrong") {
				return fmt.Sprintf("got trouble %v", err)
			}
			return ""
		})
		p.mend("knowledge:k-0")
		if got := p.reach(t, followers, db, "p", "acme", 1); got != 1 {
			t.Errorf("got %d effects, want 1", got)
		}
	})
}

func TestAProjectionThatNeedsEveryEventPassesNothingOver(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, followers := newLog(t, db, events.Options{})
		logtest.Remember(t, l, "acme", 0, 3)
		p := newPicky(t, db, map[string]func() error{"knowledge:k-1": always(errors.New("not this"))})
		run(t, func(router *message.Router) { follow.AddWholePages(router, followers, "p", p.handle) })
		eventually(t, func() string {
			if err := followers.LastError("p", "acme"); err == nil || err.Error() != "not this" {
				return fmt.Sprintf("got trouble %v", err)
			}
			return ""
		})
		wantPositions(t, p.positions(t, db))
		p.mend("knowledge:k-1")
		p.reach(t, followers, db, "p", "acme", 3)
		wantPositions(t, p.positions(t, db), 1, 2, 3)
		wantQuarantine(t, followers)
	})
}

// A page is prepared without a stream that is released before the page is written.
func TestAPageThatPassedOverAReleasedStreamComesAgain(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, followers := newLog(t, db, events.Options{})
		p := newPicky(t, db, map[string]func() error{"knowledge:k-0": always(errors.New("not this"))})
		prepared, released := make(chan struct{}), make(chan struct{})
		var third sync.Once
		done := make(chan int64, 100)
		run(t, func(router *message.Router) {
			follow.AddPreparer(router, followers, "p", func(_ context.Context, page follow.Page) (follow.Change, error) {
				if page.Last().Position == 3 {
					third.Do(func() {
						close(prepared)
						<-released
					})
				}
				return change{page: page, write: p.handle, done: done}, nil
			})
		})
		logtest.Remember(t, l, "acme", 0, 1)
		p.reach(t, followers, db, "p", "acme", 1)
		logtest.Vote(t, l, 1)
		p.reach(t, followers, db, "p", "acme", 2)
		logtest.Remember(t, l, "acme", 1, 1)
		<-prepared
		p.mend("knowledge:k-0")
		if again, err := followers.RetryQuarantined(t.Context(), "p", "acme", "knowledge:k-0"); err != nil || again.Events != 2 || !again.Released {
			t.Errorf("got %+v, %v", again, err)
		}
		logtest.Vote(t, l, 2)
		close(released)
		p.reach(t, followers, db, "p", "acme", 5)
		wantPositions(t, p.positions(t, db), 1, 2, 3, 4, 5)
	})
}

func TestAProjectionThatBeginsAnewReadsEverythingAgain(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, followers := newLog(t, db, events.Options{})
		p := newPicky(t, db, map[string]func() error{"knowledge:k-1": always(errors.New("not this"))})
		logtest.Remember(t, l, "acme", 0, 3)
		handle(t, followers, "p", p.handle)
		p.reach(t, followers, db, "p", "acme", 3)
		p.mend("knowledge:k-1")
		if err := followers.Reset(t.Context(), "p", "acme"); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() string {
			if diff := cmp.Diff([]int64{1, 1, 2, 3, 3}, p.positions(t, db)); diff != "" {
				return "effects (-want +got):\n" + diff
			}
			return ""
		})
		wantQuarantine(t, followers)
	})
}
