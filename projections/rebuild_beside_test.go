package projections_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/catalogue"
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
			eachRebuilding(t, func(t *testing.T, r *rebuilding) {
				r.rememberMany(5, "retry with backoff")
				vote := r.helpful("item-3", "t1")
				r.at("verifying", func() {
					r.corrupt(spoil)
					r.submit(vote)
					r.base.Versions.VersionSet.Store(&catalogue.VersionSet{})
					r.remember("item-5", "retry with jitter", "team:pay")
				})
				last := r.run()
				if last.State != "failed" || last.Active != 1 {
					t.Errorf("got version %d %s and version %d active, want it given up", last.Version, last.State, last.Active)
				}
				if last.Error == "" || strings.Contains(last.Error, "backoff") {
					t.Errorf("got the reason %q, want one without what people wrote", last.Error)
				}
				k, err := r.base.Browser.Find(t.Context(), r.by.Tenant, "item-3")
				if err != nil || k.Helpful != 2 {
					t.Errorf("got %+v (%v), want the vote", k, err)
				}
				end := "failed"
				if name == "that has the row already" { // with another event: the verification finds it
					end = "refused"
				}
				want := stagesOf(2, "started", "loaded", "caught_up", end)
				for range 2 {
					report(t, r.base.Versions.DropRetired(t.Context()))
					equal(t, r.recorded(), want, "recorded (-got +want)")
				}
				r.at("verifying", nil)
				if again := r.run(); again.State != "active" {
					t.Errorf("rebuilt again: version %d is %s (%s), want it active", again.Version, again.State, again.Error)
				}
			})
		})
	}
}

func TestAStandbyVersionThatCannotBeWrittenIsRetired(t *testing.T) {
	eachRebuilding(t, func(t *testing.T, r *rebuilding) {
		r.remember("item", "retry with backoff", "team:pay")
		r.switches(domain.RebuildOrder{})
		r.corrupt("DELETE FROM knowledge_1")
		r.submit(r.helpful("item", "t1"))
		if _, err := r.base.Versions.Rollback(t.Context()); !errors.Is(err, domain.ErrNotFound) {
			t.Errorf("rolling back to a version that misses a vote: got %v, want none to be kept", err)
		}
	})
}

func TestADatabaseThatWasAwayAbandonsNoVersion(t *testing.T) {
	t.Parallel()
	r, proxy, operator := newRebuildingAfar(t)
	vote := r.helpful("item", "t1")
	voted := make(chan error, 1)
	noError(t, operator.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
		if err := r.log.LockTenant(ctx, tx, r.by.Tenant); err != nil {
			return err
		}
		go func() {
			_, err := r.log.Submit(t.Context(), domain.Submission{By: r.by, Command: vote})
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
	r.submit(vote)
	if _, err := r.base.Versions.Rollback(t.Context()); err != nil {
		t.Errorf("roll back to the version that was written, too: %v", err)
	}
}

func TestUrisChangeHandsWithinABatch(t *testing.T) {
	eachRebuilding(t, func(t *testing.T, r *rebuilding) {
		move := func(id, uri string) domain.Submission {
			return domain.Submission{By: r.by, Command: domain.Revise{Target: domain.Target{By: r.by, ID: id}, URI: uri}}
		}
		for _, id := range []string{"a", "b", "c"} {
			r.remember(id, "about "+id, "team:pay")
			r.submit(move(id, "viking://x/"+id).Command)
		}
		// a and b change places by way of a third, and c takes that.
		moves := []domain.Submission{
			move("a", "viking://x/aside"), move("b", "viking://x/a"), move("a", "viking://x/b"), move("c", "viking://x/aside"),
		}
		swap := func() {
			for _, result := range r.log.SubmitAll(t.Context(), moves) {
				if result.Err != nil {
					t.Error(result.Err)
				}
			}
		}
		r.at("catching_up", swap) // read by catching up, on top of what was loaded
		r.switches(domain.RebuildOrder{})
		for id, want := range map[string]string{"a": "viking://x/b", "b": "viking://x/a", "c": "viking://x/aside"} {
			if k, err := r.base.Browser.Find(t.Context(), r.by.Tenant, id); err != nil || k.Text.URI != want {
				t.Errorf("%s: got %v (%v), want %s", id, k, err, want)
			}
		}
	})
}
