package rebuild_test

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
	. "github.com/annals-kb/annals/projections/projectiontest"
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
			opened(t, url, func(r *Rebuilding) {
				r.RememberMany(600, "lesson %d: retry payments with backoff")
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
				opened(t, url, func(r *Rebuilding) {
					r.Remember(fmt.Sprint("after-kill-", kills), "what came meanwhile", "team:pay")
					r.Submit(domain.GiveFeedback{
						Target:  domain.Target{By: r.By, ID: fmt.Sprint("item-", kills)},
						Verdict: domain.Harmful, TraceID: fmt.Sprint("kill-", kills),
					})
				})
			}
			opened(t, url, func(r *Rebuilding) {
				last := r.Last()
				if last.State != "active" || last.Version != 2 {
					t.Errorf("version %d is %s: %s, want the one that was begun first to be active", last.Version,
						last.State, last.Error)
				}
				Equal(t, Folded(r.Items()), r.StoredIn(2), "tables (-folded +rebuilt)")
				want := StagesOf(2, "started", "loaded", "caught_up", "verified", "switched")
				Equal(t, r.Recorded(), want, "recorded (-got +want)")
				Equal(t, r.StoredIn(1), r.StoredIn(2), "tables (-live +rebuilt)")
			})
		})
	}
}

// opened opens the database for as long as do runs: a SQLite file has one owner.
func opened(t *testing.T, url string, do func(*Rebuilding)) {
	t.Helper()
	t.Run("opened", func(t *testing.T) {
		do(NewRebuilding(t, databasetest.Open(t, url), projections.Settings{}))
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
	r := NewRebuildingWith(t, databasetest.Open(t, url), projections.Settings{}, soon)
	r.Rebuilder.SliceStreams, r.Rebuilder.BatchRows = 50, 300
	for _, stage := range []string{"building", "indexing", "catching_up", "verifying", "ready"} {
		r.At(stage, func() { say("stage " + stage) })
	}
	all := rebuild.Rebuilds{Rebuilder: r.Rebuilder}
	databasetest.Until(t, "it is rebuilt", func() bool {
		last, err := all.Last(t.Context(), "knowledge")
		switch {
		case errors.Is(err, domain.ErrNotFound):
			// The lease of the process before may not have ended yet.
			if _, err := r.Rebuilder.Start(t.Context(), domain.RebuildOrder{}); err != nil && !errors.Is(err, domain.ErrConflict) {
				t.Fatal(err)
			}
		case err != nil:
			t.Fatal(err)
		case last.State == "active":
			return true
		case last.State == "failed" || last.State == "retired":
			t.Fatalf("version %d is %s: %s %+v", last.Version, last.State, last.Error, last.Report)
		default:
			NoError(t, r.Rebuilder.Resume(t.Context()))
		}
		NoError(t, r.Rebuilder.Wait(t.Context()))
		return false
	})
	say("done")
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
	r := NewRebuilding(t, db, projections.Settings{})
	r.RememberMany(100, "retry with backoff")
	child := databasetest.NewChild(t, pausedRebuild+"="+url)
	t.Cleanup(child.Kill)
	if !child.Says.Scan() || child.Says.Text() != "in the middle of a step" {
		t.Fatalf("the child said %q", child.Says.Text())
	}
	NoError(t, child.Pause())
	databasetest.Until(t, "it goes on", func() bool {
		NoError(t, r.Rebuilder.Resume(t.Context()))
		_, running := r.Rebuilder.Progress()
		return running || r.Last().State == "active"
	})
	r.IsActive(r.Ended(), 2)
	NoError(t, child.Continue())
	if !child.Says.Scan() || child.Says.Text() != "ended" {
		t.Fatalf("the child said %q", child.Says.Text())
	}
	want := StagesOf(2, "started", "loaded", "caught_up", "verified", "switched")
	Equal(t, r.Recorded(), want, "recorded (-got +want)")
	Equal(t, r.StoredIn(1), r.StoredIn(2), "tables (-live +rebuilt)")
}

// beHeldUp rebuilds, and says so when it has an unfinished step that holds what others need.
func beHeldUp(t *testing.T, url string) {
	t.Helper()
	say := databasetest.Saying(t)
	r := NewRebuildingWith(t, databasetest.Open(t, url), projections.Settings{}, events.Options{Lease: 2 * time.Second})
	r.At("indexing", func() { // says how it ended: it was thrown out
		err := stuck(t.Context(), r, func() { say("in the middle of a step") }, 20*time.Second)
		t.Log(err)
	})
	Must(r.Rebuilder.Start(t.Context(), domain.RebuildOrder{}))(t)
	NoError(t, r.Rebuilder.Wait(t.Context()))
	say("ended")
}

// stuck holds the entry of version 2 in a step of a rebuild, as building its indexes does, until it is thrown out.
func stuck(ctx context.Context, r *Rebuilding, then func(), most time.Duration) error {
	return r.DB.Transact(database.ForWork(ctx, rebuild.RebuildWork), func(ctx context.Context, tx bun.Tx) error {
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
		one, other := NewRebuilding(t, db, projections.Settings{}), NewRebuilding(t, db, projections.Settings{})
		one.Remember("item", "retry with backoff", "team:pay")
		one.At("indexing", func() {
			began := make(chan struct{})
			done := make(chan error, 1)
			go func() { done <- stuck(t.Context(), one, func() { close(began) }, 30*time.Second) }()
			<-began
			if last := other.Last(); last.Progress == nil || last.Progress.Phase != "indexing" {
				t.Errorf("another process sees %+v, want it building indexes", last.Progress)
			}
			Report(t, other.Rebuilder.Cancel(t.Context()))
			if err := <-done; err == nil {
				t.Error("the step was waited for")
			}
		})
		if last := one.Run(); last.State != "retired" || last.Active != 1 {
			t.Errorf("version %d is %s: %s, want it cancelled", last.Version, last.State, last.Error)
		}
	})
}
