package projections_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/rebuild"
)

// rebuildChild tells a process of this test which database to rebuild.
const rebuildChild = "ANNALS_TEST_REBUILD_URL"

// A process that rebuilds is killed at each stage and at many moments more; another one goes on.
func TestARebuildThatIsKilledGoesOn(t *testing.T) {
	databasetest.Slow(t)
	t.Parallel()
	if url := os.Getenv(rebuildChild); url != "" {
		rebuildAsChild(t, url)
		return
	}
	for _, engine := range []database.Engine{database.SQLite, database.Postgres} {
		t.Run(engine.String(), func(t *testing.T) {
			t.Parallel()
			url := databasetest.Migrated(t, engine)
			opened(t, url, func(r *rebuilding) {
				for i := range 600 {
					r.remember(fmt.Sprintf("item-%03d", i), fmt.Sprintf("lesson %d: retry payments %d times with backoff", i, i%7),
						"team:pay", "public")
				}
			})
			stages := []string{
				"building", "building", "building", "building", "indexing", "indexing", "catching_up", "verifying", "ready",
			}
			for kills := 0; ; kills++ {
				until, after := "", time.Duration(rand.Int64N(int64(kills+1)*int64(20*time.Millisecond)))
				if kills < len(stages) {
					until, after = stages[kills], time.Duration(rand.Int64N(int64(30*time.Millisecond)))
				}
				if rebuiltUntilKilled(t, url, until, after) {
					t.Logf("rebuilt after %d kills", kills)
					break
				}
				opened(t, url, func(r *rebuilding) {
					r.remember(fmt.Sprint("after-kill-", kills), "what came meanwhile", "team:pay")
					r.submit(domain.GiveFeedback{
						Target:  domain.Target{By: r.by, ID: fmt.Sprintf("item-%03d", kills)},
						Verdict: domain.Harmful, TraceID: fmt.Sprint("kill-", kills),
					})
				})
			}
			opened(t, url, func(r *rebuilding) {
				last := r.last()
				if last.State != "active" || last.Version != 2 {
					t.Errorf("version %d is %s: %s, want the one that was begun first to be active", last.Version,
						last.State, last.Error)
				}
				equal(t, folded(r.items()), r.storedIn(2), "tables (-folded +rebuilt)")
				want := stagesOf(2, "started", "loaded", "caught_up", "verified", "switched")
				equal(t, r.recorded(), want, "recorded (-got +want)")
				equal(t, r.storedIn(1), r.storedIn(2), "tables (-live +rebuilt)")
			})
		})
	}
}

// opened opens the database for as long as do runs: a SQLite file has one owner.
func opened(t *testing.T, url string, do func(*rebuilding)) {
	t.Helper()
	t.Run("opened", func(t *testing.T) {
		do(newRebuilding(t, databasetest.Open(t, url), projections.Settings{}))
	})
}

// rebuiltUntilKilled lets a process rebuild, and kills it some time after it entered a stage; without a
// stage, after it began. It tells whether the process was faster.
func rebuiltUntilKilled(t *testing.T, url, stage string, after time.Duration) bool {
	t.Helper()
	child := databasetest.NewChild(t, rebuildChild+"="+url)
	done := false
	for child.Says.Scan() {
		entered, _ := strings.CutPrefix(child.Says.Text(), "stage ")
		if done = child.Says.Text() == "done"; done {
			break
		}
		if stage == "" || entered == stage {
			time.Sleep(after)
			break
		}
	}
	child.Kill()
	return done
}

// rebuildAsChild begins a rebuild, or goes on with it, in small steps, and says what it does.
func rebuildAsChild(t *testing.T, url string) {
	t.Helper()
	say := databasetest.Saying(t)
	soon := events.Options{Lease: 200 * time.Millisecond} // the lease of a killed process ends
	r := newRebuildingWith(t, databasetest.Open(t, url), projections.Settings{}, soon)
	r.SliceStreams, r.BatchRows = 50, 300
	for _, stage := range []string{"building", "indexing", "catching_up", "verifying", "ready"} {
		r.at(stage, func() { say("stage " + stage) })
	}
	all := rebuild.Rebuilds{Rebuilder: r.Rebuilder}
	for t.Context().Err() == nil {
		last, err := all.Last(t.Context(), "knowledge")
		switch {
		case errors.Is(err, domain.ErrNotFound):
			// The lease of the process before may not have ended yet.
			if _, err := r.Start(t.Context(), domain.RebuildOrder{}); err != nil && !errors.Is(err, domain.ErrConflict) {
				t.Fatal(err)
			}
		case err != nil:
			t.Fatal(err)
		case last.State == "active":
			say("done")
			return
		case last.State == "failed" || last.State == "retired":
			t.Fatalf("version %d is %s: %s %+v", last.Version, last.State, last.Error, last.Report)
		default:
			noError(t, r.Resume(t.Context()))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		noError(t, r.Wait(ctx))
		cancel()
		time.Sleep(5 * time.Millisecond)
	}
}

// pausedRebuild tells a process of these tests which database to rebuild.
const pausedRebuild = "ANNALS_TEST_PAUSED_URL"

// A process that is held up in the middle of a step of its rebuild neither keeps another from going on with it
// nor writes anything when it goes on itself.
func TestARebuildThatIsHeldUpGoesOnInAnotherProcess(t *testing.T) {
	t.Parallel()
	if url := os.Getenv(pausedRebuild); url != "" {
		beHeldUp(t, url)
		return
	}
	url := databasetest.Migrated(t, database.Postgres) // a SQLite file has one owner
	db := databasetest.Open(t, url)
	r := newRebuilding(t, db, projections.Settings{})
	r.rememberMany(100, "retry with backoff")
	child := databasetest.NewChild(t, pausedRebuild+"="+url)
	t.Cleanup(child.Kill)
	if !child.Says.Scan() || child.Says.Text() != "in the middle of a step" {
		t.Fatalf("the child said %q", child.Says.Text())
	}
	noError(t, child.Pause())
	for running := false; !running; {
		noError(t, t.Context().Err())
		noError(t, r.Resume(t.Context()))
		_, running = r.Progress()
		running = running || r.last().State == "active"
		time.Sleep(5 * time.Millisecond)
	}
	r.isActive(r.ended(), 2)
	noError(t, child.Continue())
	if !child.Says.Scan() || child.Says.Text() != "ended" {
		t.Fatalf("the child said %q", child.Says.Text())
	}
	want := stagesOf(2, "started", "loaded", "caught_up", "verified", "switched")
	equal(t, r.recorded(), want, "recorded (-got +want)")
	equal(t, r.storedIn(1), r.storedIn(2), "tables (-live +rebuilt)")
}

// beHeldUp rebuilds, and says so when it has an unfinished step that holds what others need.
func beHeldUp(t *testing.T, url string) {
	t.Helper()
	say := databasetest.Saying(t)
	r := newRebuildingWith(t, databasetest.Open(t, url), projections.Settings{}, events.Options{Lease: time.Second})
	r.at("indexing", func() { // says how it ended: it was thrown out
		err := r.stuck(t.Context(), func() { say("in the middle of a step") }, 20*time.Second)
		t.Log(err)
	})
	must(r.Start(t.Context(), domain.RebuildOrder{}))(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	noError(t, r.Wait(ctx))
	say("ended")
}

// stuck holds the entry of version 2 in a step of a rebuild, as building its indexes does, until it is thrown out.
func (r *rebuilding) stuck(ctx context.Context, then func(), most time.Duration) error {
	return r.db.Transact(database.ForWork(ctx, rebuild.RebuildWork), func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.ExecContext(ctx, "UPDATE projections SET updated_at = updated_at WHERE version = 2"); err != nil {
			return err
		}
		then()
		_, err := tx.ExecContext(ctx, "SELECT pg_sleep(?)", most.Seconds())
		return err
	})
}

// Giving up waits for no step that another process is in the middle of, and keeps nobody from writing.
func TestARebuildIsCancelledThoughAnotherProcessIsInTheMiddleOfAStep(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		if db.Engine == database.SQLite {
			return // the file has one owner
		}
		one, other := newRebuilding(t, db, projections.Settings{}), newRebuilding(t, db, projections.Settings{})
		one.remember("item", "retry with backoff", "team:pay")
		one.at("indexing", func() {
			began := make(chan struct{})
			done := make(chan error, 1)
			go func() { done <- one.stuck(t.Context(), func() { close(began) }, 30*time.Second) }()
			<-began
			if last := other.last(); last.Progress == nil || last.Progress.Phase != "indexing" {
				t.Errorf("another process sees %+v, want it building indexes", last.Progress)
			}
			report(t, other.Cancel(t.Context()))
			if err := <-done; err == nil {
				t.Error("the step was waited for")
			}
		})
		if last := one.run(); last.State != "retired" || last.Active != 1 {
			t.Errorf("version %d is %s: %s, want it cancelled", last.Version, last.State, last.Error)
		}
	})
}
