package projections_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
)

func (w *world) eraser() *projections.Eraser {
	return projections.NewEraser(w.base, w.log, databasetest.Log(w.t))
}

// order orders to erase all that is somebody's.
func (w *world) order(id, of string) {
	w.t.Helper()
	command, err := domain.OrderErasure{By: w.by, ID: id, Of: of}.Complete()
	if err != nil {
		w.t.Fatal(err)
	}
	w.submit(command)
}

func (w *world) owned(id string, owner domain.Entity, scopes ...domain.Scope) {
	w.t.Helper()
	w.submit(w.complete(domain.Remember{By: w.by, ID: id, Knowledge: domain.Remembered{
		Type: domain.Strategy, Owner: owner, Scopes: scopes, Text: domain.Text{Content: "the " + canary + " of " + id},
	}}))
}

func TestAnErasureThatWasInterruptedGoesOn(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, projections.Settings{})
		const many = 120
		for i := range many {
			w.owned(fmt.Sprint("his-", i), "user:123", "public")
		}
		w.owned("for-him", "team:pay", "user:123")
		w.owned("held", "user:123", "public")
		w.submit(domain.Hold{Target: domain.Target{By: w.by, ID: "held"}, ReasonCode: "litigation"})
		w.owned("forgotten", "team:pay", "user:123")
		w.submit(domain.Delete{Target: domain.Target{By: w.by, ID: "forgotten"}})
		w.owned("other", "team:pay", "user:123", "public")
		session := domain.SessionTarget{By: w.by, Owner: "user:123", ID: "s"}
		w.submit(domain.AddMessages{SessionTarget: session, Messages: []domain.Said{{Role: "user", Message: domain.Message{Parts: []domain.Part{{Type: domain.PartText, Text: canary}}}}}})
		w.submit(domain.CreateKey{By: w.by, Prefix: "abc", Key: domain.KeyCreated{Hash: "5e", Subject: "user:123", Role: domain.Member, Note: canary}})
		w.order("one", "user:123")

		ctx, stop := context.WithCancel(t.Context())
		interrupted := make(chan struct{})
		go func() {
			defer close(interrupted)
			for ctx.Err() == nil {
				if _, erased, _, err := w.eraser().Erasure(ctx, w.by.Tenant, "one"); err == nil && erased > 0 {
					stop()
				}
			}
		}()
		_ = w.eraser().CarryOut(ctx) // it may have been faster
		stop()
		<-interrupted

		if err := w.eraser().CarryOut(t.Context()); err != nil {
			t.Fatal(err)
		}
		state, erased, _, err := w.eraser().Erasure(t.Context(), w.by.Tenant, "one")
		if err != nil || state.UnderWay() || erased != many+4 || state.NotErased != 1 || state.Refused[0].Stream != "knowledge:held" {
			t.Errorf("erased %d, %+v, %v", erased, state, err)
		}
		for id, k := range w.items() {
			if gone := k.Status == domain.IsErased; gone != (id != "held" && id != "other") {
				t.Errorf("%s is %s", id, k.Status)
			}
		}
		var texts int
		if err := db.NewRaw("SELECT count(*) FROM event_texts").Scan(t.Context(), &texts); err != nil || texts != 2 {
			t.Errorf("%d texts are left, want those of two items: %v", texts, err)
		}
		if left, err := w.log.ErasuresUnderWay(t.Context()); err != nil || len(left) > 0 {
			t.Errorf("under way: %v, %v", left, err)
		}
	})
}

func TestErasingATenantLeavesNoTextAndNoKey(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, projections.Settings{})
		system := domain.SystemPrincipal()
		system.Subject = "user:root"
		w.by = system
		w.submit(domain.CreateTenant{By: system, Name: "acme"})
		acme := w.in("acme")
		other := w.in("other")
		for _, in := range []*world{acme, other} {
			in.owned("one", "user:123", "public")
			in.owned("two", "org:acme", "org:acme")
			in.submit(domain.CreateKey{By: in.by, Prefix: "abc" + in.by.Tenant, Key: domain.KeyCreated{Hash: "5e", Subject: "user:7", Role: domain.Admin, Note: canary}})
		}
		acme.order("all", "tenant:acme")
		if err := w.eraser().CarryOut(t.Context()); err != nil {
			t.Fatal(err)
		}
		var texts int
		if err := db.NewRaw("SELECT count(*) FROM event_texts WHERE tenant = 'acme'").Scan(t.Context(), &texts); err != nil || texts != 0 {
			t.Errorf("%d texts are left: %v", texts, err)
		}
		if err := db.NewRaw("SELECT count(*) FROM event_texts WHERE tenant = 'other'").Scan(t.Context(), &texts); err != nil || texts != 3 {
			t.Errorf("%d texts are left of another tenant: %v", texts, err)
		}
		key, err := w.log.State(t.Context(), "acme", domain.KeyStream("abcacme"))
		if k, _ := key.State.(domain.Key); err != nil || k.RevokedAt.IsZero() {
			t.Errorf("the key is %+v, %v", k, err)
		}
		tenant, err := w.log.State(t.Context(), domain.SystemTenant, domain.TenantStream("acme"))
		if s, _ := tenant.State.(domain.Tenant); err != nil || s.ErasedAt.IsZero() {
			t.Errorf("the tenant is %+v, %v", s, err)
		}
	})
}
