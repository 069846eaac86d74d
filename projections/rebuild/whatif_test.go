package rebuild_test

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

var whatIf = domain.RebuildOrder{Confidence: "wilson/1", WhatIf: true}

// eachContested is each in a contested world.
func eachContested(t *testing.T, test func(t *testing.T, r *Rebuilding)) {
	t.Helper()
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) { test(t, contested(t, db)) })
}

// contested is a world of twelve items that say the same, and have been judged differently.
func contested(t *testing.T, db *database.DB) *Rebuilding {
	t.Helper()
	r := NewRebuilding(t, db, projections.Settings{})
	for i := range 12 {
		id := fmt.Sprint("item-", i)
		r.Remember(id, "retry payments with backoff", "team:pay")
		for vote := range i {
			verdict := domain.Helpful
			if i%3 == 0 && vote%2 > 0 {
				verdict = domain.Harmful
			}
			by := r.By
			by.OnBehalfOf = domain.Entity(fmt.Sprint("user:", vote))
			r.Submit(domain.GiveFeedback{Target: domain.Target{By: by, ID: id}, Verdict: verdict, TraceID: "t"})
		}
	}
	return r
}

func TestAWhatIfSaysWhatWouldChangeAndChangesNothing(t *testing.T) {
	eachContested(t, func(t *testing.T, r *Rebuilding) {
		question := domain.Search{Text: "retry payments"}
		before := r.Find(question)
		var seen atomic.Bool
		r.At("verifying", func() {
			r.Remember("meanwhile", "what came while it was built", "team:pay")
			seen.Store(r.Last().WhatIf)
		})
		last := r.RunFor(whatIf)
		r.At("verifying", nil)
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
			k := Must(r.Base.Browser.Find(t.Context(), r.By.Tenant, fmt.Sprint("item-", i)))(t)
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
		Equal(t, r.Find(question), before, "searches find (-got +want)")
		if _, err := r.Base.Versions.Rollback(t.Context()); !errors.Is(err, domain.ErrNotFound) {
			t.Errorf("rolling back to a what-if: got %v", err)
		}

		// What would be is what is when it is done.
		done := r.RunFor(domain.RebuildOrder{Confidence: whatIf.Confidence})
		if done.State != "active" || slices.Equal(r.Find(question), before) {
			t.Errorf("version %d is %s and finds %v, want another order", done.Version, done.State, r.Find(question))
		}
		r.PurgeAfter(time.Minute)
		if left := r.TablesOf(2); len(left) > 0 {
			t.Errorf("the what-if has left %v", left)
		}
	})
}

func TestAWhatIfThatWouldNotPassSaysSo(t *testing.T) {
	eachContested(t, func(t *testing.T, r *Rebuilding) {
		r.At("verifying", func() { r.Corrupt("UPDATE knowledge_2 SET helpful = 99 WHERE id = 'item-3'") })
		if last := r.RunFor(whatIf); last.State != "retired" || last.Report.Passed || len(last.Report.Wrong) != 1 {
			t.Errorf("got %+v with %+v, want one row wrong", last, last.Report)
		}
	})
}

// A what-if whose process ends at whatever stage is thrown away by the next one, and is in nobody's way.
func TestAWhatIfThatWasInterruptedIsThrownAway(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{"building", "catching_up", "verifying"} {
		t.Run(stage, func(t *testing.T) {
			eachContested(t, func(t *testing.T, r *Rebuilding) {
				interrupt(NewRebuilding(t, r.DB, projections.Settings{}), stage, whatIf)
				if last := r.Last(); !last.WhatIf || last.Progress == nil {
					t.Fatalf("got %+v, want a what-if that is not finished", last)
				}
				NoError(t, r.Rebuilder.Resume(t.Context()))
				if last := r.Last(); last.State != "retired" || last.Progress != nil {
					t.Errorf("got %+v, want it given up", last)
				}
				interrupt(NewRebuilding(t, r.DB, projections.Settings{}), stage, whatIf)
				if last := r.Run(); last.State != "active" || last.WhatIf || last.Version != 4 {
					t.Errorf("got %+v, want a rebuild that does not go on with a what-if", last)
				}
				r.Remember("afterwards", "everybody goes on writing", "team:pay")
				r.PurgeAfter(time.Minute)
				if left := append(r.TablesOf(2), r.TablesOf(3)...); len(left) > 0 {
					t.Errorf("what was given up has left %v", left)
				}
			})
		})
	}
}

func TestAnInterruptedRebuildIsNotTakenForAnotherOrder(t *testing.T) {
	eachContested(t, func(t *testing.T, r *Rebuilding) {
		interrupt(NewRebuilding(t, r.DB, projections.Settings{}), "catching_up", domain.RebuildOrder{})
		if _, err := r.Rebuilder.Start(t.Context(), whatIf); !errors.Is(err, domain.ErrConflict) {
			t.Errorf("a what-if while a rebuild waits: got %v", err)
		}
		r.IsActive(r.Run(), 2)
	})
}
