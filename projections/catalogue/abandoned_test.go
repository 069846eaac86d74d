package catalogue_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/catalogue"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestAVersionThatCannotBeWrittenKeepsNobodyFromWriting(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]string{
		"whose item is missing":  "DELETE FROM knowledge_2 WHERE id = 'item-3'",
		"whose table is missing": "DROP TABLE knowledge_2_votes",
		"that has the row already": `
			INSERT INTO knowledge_2_votes (tenant, id, event_id, voter, ballot, verdict, trace_id, query, outcome, at)
			SELECT tenant, id, '0198c0de-0000-7000-8000-000000000001', 'user:default', 'trace:t1', 'helpful', '', '', '',
				created_at
			FROM knowledge_2 WHERE id = 'item-3'`,
	} {
		t.Run(name, func(t *testing.T) {
			EachRebuilding(t, func(t *testing.T, r *Rebuilding) {
				r.RememberMany(5, "retry with backoff")
				vote := r.Helpful("item-3", "t1")
				r.At("verifying", func() {
					r.Corrupt(spoil)
					r.Submit(vote)
					r.Base.Versions.VersionSet.Store(&catalogue.VersionSet{})
					r.Remember("item-5", "retry with jitter", "team:pay")
				})
				last := r.Run()
				if last.State != "failed" || last.Active != 1 {
					t.Errorf("got version %d %s and version %d active, want it given up", last.Version, last.State, last.Active)
				}
				if last.Error == "" || strings.Contains(last.Error, "backoff") {
					t.Errorf("got the reason %q, want one without what people wrote", last.Error)
				}
				k, err := r.Base.Browser.Find(t.Context(), r.By.Tenant, "item-3")
				if err != nil || k.Helpful != 2 {
					t.Errorf("got %+v (%v), want the vote", k, err)
				}
				end := "failed"
				if name == "that has the row already" { // with another event: the verification finds it
					end = "refused"
				}
				want := StagesOf(2, "started", "loaded", "caught_up", end)
				for range 2 {
					Report(t, r.Base.Versions.DropRetired(t.Context()))
					Equal(t, r.Recorded(), want, "recorded (-got +want)")
				}
				r.At("verifying", nil)
				if again := r.Run(); again.State != "active" {
					t.Errorf("rebuilt again: version %d is %s (%s), want it active", again.Version, again.State, again.Error)
				}
			})
		})
	}
}

func TestAStandbyVersionThatCannotBeWrittenIsRetired(t *testing.T) {
	EachRebuilding(t, func(t *testing.T, r *Rebuilding) {
		r.Remember("item", "retry with backoff", "team:pay")
		r.Switches(domain.RebuildOrder{})
		r.Corrupt("DELETE FROM knowledge_1")
		r.Submit(r.Helpful("item", "t1"))
		if _, err := r.Base.Versions.Rollback(t.Context()); !errors.Is(err, domain.ErrNotFound) {
			t.Errorf("rolling back to a version that misses a vote: got %v, want none to be kept", err)
		}
	})
}

func TestADatabaseThatWasAwayAbandonsNoVersion(t *testing.T) {
	t.Parallel()
	r, proxy, operator := newRebuildingAfar(t)
	vote := r.Helpful("item", "t1")
	voted := make(chan error, 1)
	NoError(t, operator.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
		if err := r.Log.LockTenant(ctx, tx, r.By.Tenant); err != nil {
			return err
		}
		go func() {
			_, err := r.Log.Submit(t.Context(), domain.Submission{By: r.By, Command: vote})
			voted <- err
		}()
		for waiting := 0; waiting == 0; {
			err := tx.NewRaw("SELECT count(*) FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database "+
				"WHERE datname = current_database())").
				Scan(ctx, &waiting)
			if err != nil {
				return err
			}
		}
		proxy.Down() // in the middle of a statement
		return nil
	}))
	if err := <-voted; !errors.Is(err, domain.ErrUnavailable) {
		t.Errorf("got %v, want %v", err, domain.ErrUnavailable)
	}
	proxy.Up()
	r.Submit(vote)
	if _, err := r.Base.Versions.Rollback(t.Context()); err != nil {
		t.Errorf("roll back to the version that was written, too: %v", err)
	}
}
