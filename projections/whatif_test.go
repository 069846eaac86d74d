package projections_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
)

var whatIf = domain.RebuildOrder{Confidence: "wilson/1", WhatIf: true}

// eachContested is each in a contested world.
func eachContested(t *testing.T, test func(t *testing.T, r *rebuilding)) {
	t.Helper()
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) { test(t, contested(t, db)) })
}

// contested is a world of twelve items that say the same, and have been judged differently.
func contested(t *testing.T, db *database.DB) *rebuilding {
	t.Helper()
	r := newRebuilding(t, db, projections.Settings{})
	for i := range 12 {
		id := fmt.Sprint("item-", i)
		r.remember(id, "retry payments with backoff", "team:pay")
		for vote := range i {
			verdict := domain.Helpful
			if i%3 == 0 && vote%2 > 0 {
				verdict = domain.Harmful
			}
			by := r.by
			by.OnBehalfOf = domain.Entity(fmt.Sprint("user:", vote))
			r.submit(domain.GiveFeedback{Target: domain.Target{By: by, ID: id}, Verdict: verdict, TraceID: "t"})
		}
	}
	return r
}

func TestAWhatIfSaysWhatWouldChangeAndChangesNothing(t *testing.T) {
	eachContested(t, func(t *testing.T, r *rebuilding) {
		question := domain.Search{Text: "retry payments"}
		before := r.find(question)
		var seen atomic.Bool
		r.at("verifying", func() {
			r.remember("meanwhile", "what came while it was built", "team:pay")
			seen.Store(r.last().WhatIf)
		})
		last := r.runFor(whatIf)
		r.at("verifying", nil)
		if last.State != "retired" || !last.WhatIf || last.Active != 1 || last.Progress != nil || last.Report == nil ||
			!last.Report.Passed || !seen.Load() {
			t.Fatalf("got %+v with %+v, want version 1 active and a report", last, last.Report)
		}
		usual, cautious := domain.DefaultConfidence(), domain.CautiousConfidence()
		named, moved := map[string][2]any{}, 0
		for _, d := range last.Report.Differences {
			named[d.ID] = [2]any{d.Before["confidence"], d.After["confidence"]}
		}
		for i := range 12 {
			k := must(r.base.Browser.Find(t.Context(), r.by.Tenant, fmt.Sprint("item-", i)))(t)
			was, is := usual.Confidence(k.Helpful, k.Harmful, 0), cautious.Confidence(k.Helpful, k.Harmful, 0)
			if k.Confidence != was {
				t.Errorf("%s has %v, want what it had", k.ID, k.Confidence)
			}
			if is == was {
				continue
			}
			if moved++; named[k.ID] != [2]any{was, is} {
				t.Errorf("%s moves from %v to %v, named: %v", k.ID, was, is, named[k.ID])
			}
		}
		if r := last.Report; moved == 0 || int(r.Differing) != moved || len(named) != moved || r.Unintended > 0 {
			t.Errorf("%d items differ, %d unasked, and %d are named, want %d", r.Differing, r.Unintended, len(named), moved)
		}
		equal(t, r.find(question), before, "searches find (-got +want)")
		if _, err := r.base.Versions.Rollback(t.Context()); !errors.Is(err, domain.ErrNotFound) {
			t.Errorf("rolling back to a what-if: got %v", err)
		}

		// What would be is what is when it is done.
		done := r.runFor(domain.RebuildOrder{Confidence: whatIf.Confidence})
		if done.State != "active" || slices.Equal(r.find(question), before) {
			t.Errorf("version %d is %s and finds %v, want another order", done.Version, done.State, r.find(question))
		}
		r.purgeAfter(time.Minute)
		if left := r.tablesOf(2); len(left) > 0 {
			t.Errorf("the what-if has left %v", left)
		}
	})
}

func TestAWhatIfThatWouldNotPassSaysSo(t *testing.T) {
	eachContested(t, func(t *testing.T, r *rebuilding) {
		r.at("verifying", func() { r.corrupt("UPDATE knowledge_2 SET helpful = 99 WHERE id = 'item-3'") })
		if last := r.runFor(whatIf); last.State != "retired" || last.Report.Passed || len(last.Report.Wrong) != 1 {
			t.Errorf("got %+v with %+v, want one row wrong", last, last.Report)
		}
	})
}

// interrupt lets another process begin a rebuild, and stops it at a stage.
func interrupt(t *testing.T, db *database.DB, stage string, order domain.RebuildOrder) {
	t.Helper()
	dying := newRebuilding(t, db, projections.Settings{})
	reached, hold := make(chan struct{}), make(chan struct{})
	dying.at(stage, func() { close(reached); <-hold })
	must(dying.Start(t.Context(), order))(t)
	<-reached
	var closing sync.WaitGroup
	closing.Go(dying.Close)
	time.Sleep(20 * time.Millisecond) // it is told to stop before it goes on
	close(hold)
	closing.Wait()
}

// A what-if whose process ends at whatever stage is thrown away by the next one, and is in nobody's way.
func TestAWhatIfThatWasInterruptedIsThrownAway(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{"building", "catching_up", "verifying"} {
		t.Run(stage, func(t *testing.T) {
			eachContested(t, func(t *testing.T, r *rebuilding) {
				interrupt(t, r.db, stage, whatIf)
				if last := r.last(); !last.WhatIf || last.Progress == nil {
					t.Fatalf("got %+v, want a what-if that is not finished", last)
				}
				noError(t, r.Resume(t.Context()))
				if last := r.last(); last.State != "retired" || last.Progress != nil {
					t.Errorf("got %+v, want it given up", last)
				}
				interrupt(t, r.db, stage, whatIf)
				if last := r.run(); last.State != "active" || last.WhatIf || last.Version != 4 {
					t.Errorf("got %+v, want a rebuild that does not go on with a what-if", last)
				}
				r.remember("afterwards", "everybody goes on writing", "team:pay")
				r.purgeAfter(time.Minute)
				if left := append(r.tablesOf(2), r.tablesOf(3)...); len(left) > 0 {
					t.Errorf("what was given up has left %v", left)
				}
			})
		})
	}
}

func TestAnInterruptedRebuildIsNotTakenForAnotherOrder(t *testing.T) {
	eachContested(t, func(t *testing.T, r *rebuilding) {
		interrupt(t, r.db, "catching_up", domain.RebuildOrder{})
		if _, err := r.Start(t.Context(), whatIf); !errors.Is(err, domain.ErrConflict) {
			t.Errorf("a what-if while a rebuild waits: got %v", err)
		}
		r.isActive(r.run(), 2)
	})
}
