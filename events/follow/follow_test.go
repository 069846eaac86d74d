package follow_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/events/logtest"
	"github.com/annals-kb/annals/projections"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// handle runs a projection until the test ends or stop is called.
func handle(t *testing.T, followers *follow.Followers, projection string, handler follow.Handler) (stop func()) {
	t.Helper()
	return run(t, func(router *message.Router) {
		follow.AddPreparer(router, followers, projection, func(_ context.Context, page follow.Page) (follow.Change, error) {
			return handled{handler: handler, page: page}, nil
		})
	})
}

// handled runs a handler in the transaction that moves the checkpoint.
type handled struct {
	follow.NoChange
	handler follow.Handler
	page    follow.Page
}

func (h handled) Write(ctx context.Context, tx bun.IDB) error { return h.handler(ctx, tx, h.page) }

// run runs a router until the test ends or stop is called.
func run(t *testing.T, add func(*message.Router)) (stop func()) {
	t.Helper()
	router, err := follow.NewRouter(databasetest.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	add(router)
	ended := make(chan error, 1)
	go func() { ended <- router.Run(database.ForEveryTenant(context.WithoutCancel(t.Context()))) }()
	<-router.Running()
	stop = sync.OnceFunc(func() {
		if err := errors.Join(router.Close(), <-ended); err != nil {
			t.Errorf("router: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func TestARouterThatIsToEndBeforeItHasBegunEnds(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		_, followers := newLog(t, db, events.Options{})
		began := time.Now()
		for range 20 {
			router, err := follow.NewRouter(databasetest.Log(t))
			if err != nil {
				t.Fatal(err)
			}
			for i := range 5 {
				follow.AddPreparer(router, followers, fmt.Sprintf("p-%d", i), func(context.Context, follow.Page) (follow.Change, error) {
					return follow.NoChange{}, nil
				})
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := follow.Run(ctx, router); err != nil {
				t.Errorf("after %s: %v", time.Since(began), err)
			}
		}
	})
}

// effects is a projection with a row for every time that it has taken in an event.
type effects struct {
	table string
}

func newEffects(t *testing.T, db *database.DB, table string) effects {
	t.Helper()
	err := db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, `CREATE TABLE ? (tenant varchar(99), position bigint)`, bun.Ident(table))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return effects{table: table}
}

func (e effects) handle(ctx context.Context, tx bun.IDB, page follow.Page) error {
	for _, event := range page.Events {
		_, err := tx.ExecContext(ctx, `INSERT INTO ? (tenant, position) VALUES (?, ?)`, bun.Ident(e.table), page.Tenant, event.Position)
		if err != nil {
			return err
		}
	}
	return nil
}

// reach waits until the checkpoint is at a position, and returns how many effects there are.
func (e effects) reach(t *testing.T, followers *follow.Followers, db *database.DB, projection, tenant string, position int64) int {
	t.Helper()
	eventually(t, func() string {
		at, _, _, err := followers.Checkpoint(t.Context(), projection, tenant)
		if err != nil || at != position {
			return fmt.Sprintf("%s has read %s up to %d, %v, want %d", projection, tenant, at, err, position)
		}
		return ""
	})
	var n int
	err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM ? WHERE tenant = ?`, bun.Ident(e.table), tenant).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// eventually waits until nothing is wrong any more.
func eventually(t *testing.T, wrong func() string) {
	t.Helper()
	last := ""
	databasetest.Until(t, "nothing is wrong", func() bool {
		if what := wrong(); what != last {
			last = what
			t.Log(what)
		}
		return last == ""
	})
}

// inline is the projection that is written with the log.
func inline(t *testing.T, db *database.DB) events.Inline {
	t.Helper()
	knowledge, err := projections.Open(database.ForEveryTenant(t.Context()), db, projections.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return knowledge.Projection
}

func newLog(t *testing.T, db *database.DB, options events.Options) (*events.Log, *follow.Followers) {
	t.Helper()
	options.Logger = databasetest.Log(t)
	l, followers := follow.NewLog(db, inline(t, db), options)
	t.Cleanup(func() {
		if err := l.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("close log: %v", err)
		}
	})
	return l, followers
}

func TestEveryEventHasItsEffectOnceAcrossFailuresAndRestarts(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, followers := newLog(t, db, events.Options{})
		e := newEffects(t, db, "effects")
		logtest.Remember(t, l, "acme", 0, 3)
		var calls atomic.Int64
		flaky := func(ctx context.Context, tx bun.IDB, page follow.Page) error {
			if err := e.handle(ctx, tx, page); err != nil {
				return err
			}
			switch calls.Add(1) % 4 { // after its effects
			case 1:
				return errors.New("not this time")
			case 2:
				panic("nor this time")
			}
			return nil
		}
		for round := range 3 {
			stop := handle(t, followers, "p", flaky)
			logtest.Remember(t, l, "acme", 3+2*round, 2)
			if got, want := e.reach(t, followers, db, "p", "acme", int64(5+2*round)), 5+2*round; got != want {
				t.Errorf("round %d: got %d effects, want %d", round, got, want)
			}
			stop()
		}
		if err := followers.LastError("p", "acme"); err != nil {
			t.Errorf("got trouble %v after all went well", err)
		}
	})
}

func TestPagesAreInOrderAndHaveAtMostFiveHundredEvents(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, followers := newLog(t, db, events.Options{})
		logtest.Remember(t, l, "acme", 0, 1200)
		var sizes []int
		var last int64
		done := make(chan struct{})
		handle(t, followers, "p", func(_ context.Context, _ bun.IDB, page follow.Page) error {
			if page.After != last {
				t.Errorf("got a page after %d, want it after %d", page.After, last)
			}
			sizes, last = append(sizes, len(page.Events)), page.Last().Position
			if last == 1200 {
				close(done)
			}
			return nil
		})
		<-done
		if diff := cmp.Diff([]int{500, 500, 200}, sizes); diff != "" {
			t.Errorf("sizes (-want +got):\n%s", diff)
		}
	})
}

func TestReadersAreWokenWithoutPolling(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, followers := newLog(t, db, events.Options{Poll: time.Hour})
		heard := make(chan int64, 100)
		handle(t, followers, "p", func(_ context.Context, _ bun.IDB, page follow.Page) error {
			heard <- page.Last().Position
			return nil
		})
		var slowest time.Duration
		for i := range 10 {
			logtest.Remember(t, l, "acme", i, 1)
			appended := time.Now()
			select {
			case got := <-heard:
				if got != int64(i)+1 {
					t.Fatalf("got position %d, want %d", got, i+1)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("nobody is woken")
			}
			slowest = max(slowest, time.Since(appended))
		}
		t.Logf("the slowest of 10 was heard of after %v", slowest)
	})
}

func TestWhatOthersAppendIsFoundByPolling(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		other, _ := newLog(t, db, events.Options{})
		_, mine := newLog(t, db, events.Options{Poll: 10 * time.Millisecond})
		e := newEffects(t, db, "effects")
		handle(t, mine, "p", e.handle)
		for i := range 3 {
			logtest.Remember(t, other, "acme", i, 1)
			if got := e.reach(t, mine, db, "p", "acme", int64(i)+1); got != i+1 {
				t.Errorf("got %d effects, want %d", got, i+1)
			}
		}
	})
}

func TestTwoProcessesWithOneProjectionShareTheWork(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		e := newEffects(t, db, "effects")
		var logs []*events.Log
		var all []*follow.Followers
		for range 2 {
			l, followers := newLog(t, db, events.Options{Poll: 5 * time.Millisecond})
			handle(t, followers, "p", e.handle)
			logs, all = append(logs, l), append(all, followers)
		}
		for i := range 20 {
			logtest.Remember(t, logs[i%2], "acme", 2*i, 2)
		}
		if got := e.reach(t, all[0], db, "p", "acme", 40); got != 40 {
			t.Errorf("got %d effects, want 40", got)
		}
	})
}

func TestATenantInTroubleHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, followers := newLog(t, db, events.Options{})
		e := newEffects(t, db, "effects")
		broken := fmt.Errorf("the model: %w", domain.ErrUnavailable)
		handle(t, followers, "p", func(ctx context.Context, tx bun.IDB, page follow.Page) error {
			if page.Tenant == "bad" {
				return broken
			}
			return e.handle(ctx, tx, page)
		})
		for _, tenant := range []string{"bad", "a", "b", "c", "d", "e"} {
			logtest.Remember(t, l, tenant, 0, 2)
		}
		for _, tenant := range []string{"a", "b", "c", "d", "e"} {
			if got := e.reach(t, followers, db, "p", tenant, 2); got != 2 {
				t.Errorf("%s: got %d effects, want 2", tenant, got)
			}
		}
		eventually(t, func() string {
			if err := followers.LastError("p", "bad"); !errors.Is(err, broken) {
				return fmt.Sprintf("got trouble %v, want %v", err, broken)
			}
			return ""
		})
		if err := followers.LastError("p", "a"); err != nil {
			t.Errorf("got trouble %v where there is none", err)
		}
	})
}

func TestARestoredLogHaltsWhoeverHasReadMore(t *testing.T) {
	t.Parallel()
	for name, restore := range map[string]string{
		"beyond the head":  `DELETE FROM events WHERE position > 1`,
		"another event":    `UPDATE events SET event_id = '0195a000-0000-7000-8000-000000000001' WHERE position = 3`,
		"nothing at all":   `DELETE FROM events`,
		"a hole elsewhere": `DELETE FROM events WHERE position = 4`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			databasetest.Each(t, func(t *testing.T, db *database.DB) {
				l, followers := newLog(t, db, events.Options{})
				e := newEffects(t, db, "effects")
				logtest.Remember(t, l, "acme", 0, 3)
				stop := handle(t, followers, "p", e.handle)
				e.reach(t, followers, db, "p", "acme", 3)
				stop()
				logtest.Remember(t, l, "acme", 3, 2)

				damage(t, db, restore)
				handle(t, followers, "p", func(context.Context, bun.IDB, follow.Page) error {
					t.Error("the projection goes on")
					return nil
				})
				want := events.ErrRestored
				if name == "a hole elsewhere" {
					want = events.ErrHole
				}
				eventually(t, func() string {
					if err := followers.LastError("p", "acme"); !errors.Is(err, want) {
						return fmt.Sprintf("got trouble %v, want %v", err, want)
					}
					return ""
				})
				if got := standing(t, followers); got.Halted != 1 || got.Stalled != 1 {
					t.Errorf("got %+v, want it to have halted on one log", got)
				}
			})
		})
	}
}

// A primary that fails shows events that its standby never receives. The standby, once it is promoted, gives their
// positions to others.
func TestAPageOfEventsThatAFailoverLostIsReadAgain(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, followers := newLog(t, db, events.Options{})
		e := newEffects(t, db, "effects")
		logtest.Remember(t, l, "acme", 0, 3)
		lose := sync.OnceFunc(func() {
			damage(t, db, `UPDATE events SET event_id = '0195a000-0000-7000-8000-000000000001' WHERE position = 3`)
		})
		var read []string
		stop := run(t, func(router *message.Router) {
			follow.AddPreparer(router, followers, "p", func(_ context.Context, page follow.Page) (follow.Change, error) {
				read = append(read, page.Last().EventID)
				lose() // after the page was read, and before it is written
				return handled{handler: e.handle, page: page}, nil
			})
		})
		if got := e.reach(t, followers, db, "p", "acme", 3); got != 3 {
			t.Errorf("got %d effects, want 3", got)
		}
		stop()
		_, id, _, err := followers.Checkpoint(t.Context(), "p", "acme")
		if want := "0195a000-0000-7000-8000-000000000001"; id != want || read[0] == want || err != nil {
			t.Errorf("got a checkpoint at %s after pages that end with %v, %v; want %s", id, read, err, want)
		}
	})
}

func damage(t *testing.T, db *database.DB, statement string) {
	t.Helper()
	databasetest.Tamper(t, db, statement)
}

// change is a prepared change that notes what happens to it.
type change struct {
	page  follow.Page
	write follow.Handler
	done  chan<- int64
}

func (c change) Write(ctx context.Context, tx bun.IDB) error { return c.write(ctx, tx, c.page) }
func (c change) Done()                                       { c.done <- c.page.Last().Position }

func TestAChangeIsDoneOnceItIsCommitted(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, followers := newLog(t, db, events.Options{})
		e := newEffects(t, db, "effects")
		done := make(chan int64, 10)
		var attempts atomic.Int64
		run(t, func(router *message.Router) {
			follow.AddPreparer(router, followers, "p", func(ctx context.Context, page follow.Page) (follow.Change, error) {
				if attempts.Add(1) == 1 {
					return nil, errors.New("the model is down")
				}
				// No transaction is open: others can write meanwhile.
				err := db.Transact(ctx, func(context.Context, bun.Tx) error { return nil })
				return change{page: page, write: e.handle, done: done}, err
			})
		})
		logtest.Remember(t, l, "acme", 0, 2)
		if got := <-done; got != 2 {
			t.Errorf("got a change up to %d done, want 2", got)
		}
		if got := e.reach(t, followers, db, "p", "acme", 2); got != 2 {
			t.Errorf("got %d effects, want 2", got)
		}
	})
}

func TestACheckpointThatIsSetBackBringsItsEventsAgain(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, followers := newLog(t, db, events.Options{Poll: 10 * time.Millisecond})
		e := newEffects(t, db, "effects")
		logtest.Remember(t, l, "acme", 0, 3)
		handle(t, followers, "p", e.handle)
		e.reach(t, followers, db, "p", "acme", 3)
		damage(t, db, `DELETE FROM checkpoints; DELETE FROM effects`)
		logtest.Remember(t, l, "acme", 3, 1)
		if got := e.reach(t, followers, db, "p", "acme", 4); got != 4 {
			t.Errorf("got %d effects, want 4", got)
		}
	})
}

func TestAMessageThatMovesNoCheckpointComesAgain(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, followers := newLog(t, db, events.Options{})
		logtest.Remember(t, l, "acme", 0, 2)
		subscriber := follow.NewSubscriber(followers)
		messages, err := subscriber.Subscribe(t.Context(), "p")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			msg := <-messages
			page, err := follow.PageOf(msg)
			if err != nil || page.Tenant != "acme" || len(page.Events) != 2 || msg.UUID != page.Last().EventID {
				t.Errorf("got %s with %+v, %v", msg.UUID, page, err)
			}
			if i == 1 {
				msg.Nack()
			} else {
				msg.Ack()
			}
		}
		if err := subscriber.Close(); err != nil {
			t.Error(err)
		}
		if _, open := <-messages; open {
			t.Error("a closed subscriber goes on")
		}
		if _, err := subscriber.Subscribe(t.Context(), "p"); err == nil {
			t.Error("a closed subscriber subscribes")
		}
	})
}

func TestAForeignMessageCarriesNoPage(t *testing.T) {
	t.Parallel()
	if _, err := follow.PageOf(message.NewMessage("1", nil)); err == nil {
		t.Error("got no error")
	}
}
