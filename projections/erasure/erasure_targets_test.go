package erasure_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// A family is a tenant in which things were made from each other, took each other's places, were held, forgotten
// and erased, and belong to several.
type family struct {
	*World
	*rapid.T

	events []string // that something may be made from
	items  []string
	talks  []domain.SessionTarget
}

func (f *family) one(of []string, what string) string { return rapid.SampledFrom(of).Draw(f.T, what) }

func (f *family) owner() domain.Entity {
	return rapid.SampledFrom([]domain.Entity{"user:1", "user:1", "user:2", "team:pay"}).Draw(f.T, "owner")
}

func (f *family) converses() {
	talk := domain.SessionTarget{By: f.By, Owner: rapid.SampledFrom([]domain.Entity{"user:1", "user:2"}).
		Draw(f.T, "whose"), ID: fmt.Sprint("s", len(f.talks))}
	said := f.Says(talk, "so it is")
	f.talks, f.events = append(f.talks, talk), append(f.events, said.Events[len(said.Events)-1].EventID)
	if rapid.Bool().Draw(f.T, "archived") {
		f.Submit(domain.CommitSession{SessionTarget: talk})
		f.makes(domain.ArchiveItem(talk.Stream(), 1), talk.Owner, nil)
	}
}

func (f *family) makes(id string, owner domain.Entity, from []string) {
	scopes := rapid.SliceOfNDistinct(rapid.SampledFrom([]domain.Scope{"user:1", "user:2", "team:pay", "public"}), 1, 2,
		rapid.ID).Draw(f.T, "scopes")
	made := f.Know(id, domain.Remembered{
		Class: domain.Class{Type: domain.Strategy}, Owner: owner, Scopes: scopes, Text: domain.Text{Content: "what " + id + " says"},
		DerivedFrom: from,
	})
	f.items, f.events = append(f.items, id), append(f.events, made.Events[0].EventID)
}

func (f *family) grows() {
	var from []string
	if len(f.events) > 0 {
		from = rapid.SliceOfNDistinct(rapid.SampledFrom(f.events), 0, 2, rapid.ID).Draw(f.T, "from")
	}
	f.makes(fmt.Sprint("i", len(f.items)), f.owner(), from)
}

// lives lets something happen that may be refused.
func (f *family) lives() {
	target := domain.Target{By: f.By, ID: f.one(f.items, "which")}
	commands := map[string]domain.Command{
		"supersede": domain.Supersede{Target: target, Successor: f.one(f.items, "by")},
		"hold":      domain.Hold{Target: target, ReasonCode: "litigation"},
		"forget":    domain.Delete{Target: target},
		"erase":     domain.Erase{Target: target, ErasureReason: domain.ErasureReason{ReasonCode: "before"}},
	}
	if len(f.talks) > 0 {
		commands["erase a session"] = domain.EraseSession{SessionTarget: rapid.SampledFrom(f.talks).
			Draw(f.T, "talk"), ErasureReason: domain.ErasureReason{ReasonCode: "before"}}
	}
	_, _ = f.World.Log.Submit(f.Context(), domain.Submission{
		By:      f.By,
		Command: commands[f.one(slices.Sorted(maps.Keys(commands)), "what")],
	})
}

// orders is an order that may be given; false if it may not.
func (f *family) orders() (domain.OrderErasure, bool) {
	of := append([]string{"user:1", "user:2", "team:pay", "tenant:" + f.By.Tenant}, f.items...)
	for _, talk := range f.talks {
		of = append(of, talk.Stream())
	}
	order := domain.OrderErasure{By: f.By, ID: "order", Of: f.one(of, "of"), WithLineage: rapid.Bool().
		Draw(f.T, "with lineage")}
	if rapid.Bool().Draw(f.T, "by a member") {
		order.By = domain.Principal{
			Tenant: f.By.Tenant, Subject: "user:1", Role: domain.Member,
			Memberships: []domain.Entity{"team:pay"}, Authentication: "key:x",
		}
	}
	order, err := order.Complete()
	if err != nil {
		return order, false
	}
	_, err = f.World.Log.Submit(f.Context(), domain.Submission{By: order.By, Command: order})
	return order, err == nil
}

// The plan of an order is what the order does, and what it leaves is why: whatever is related to what, and also if
// another server has carried out some of it before it was killed.
func TestAnOrderDoesWhatItsPlanSays(t *testing.T) {
	Each(t, func(t *testing.T, first *World) {
		var families atomic.Int64
		rapid.Check(t, func(rt *rapid.T) {
			f := &family{World: first.In(fmt.Sprint("family-", families.Add(1))), T: rt}
			for range rapid.IntRange(0, 2).Draw(rt, "sessions") {
				f.converses()
			}
			for range rapid.IntRange(1, 6).Draw(rt, "items") {
				f.grows()
			}
			for range rapid.IntRange(0, 4).Draw(rt, "events") {
				f.lives()
			}
			order, allowed := f.orders()
			if !allowed {
				return
			}
			lineage := domain.LineageIgnored
			if order.WithLineage {
				lineage = domain.LineageErased
			}
			planned := Must(eraser(f.World).Doomed(t.Context(), f.By.Tenant, order.Of, lineage))(rt)
			stays := domain.Retained(order.By, planned)
			var goes []string
			for _, d := range planned {
				if d.WillErase && stays[d.Stream] == "" {
					goes = append(goes, d.Stream)
				}
			}
			f.isKilled(order, planned)
			NoError(rt, eraser(f.World).CarryOut(t.Context()))
			f.did(order, goes, stays)
		})
	})
}

// isKilled leaves of an order what a server leaves that was killed while it carried it out.
func (f *family) isKilled(order domain.OrderErasure, planned []domain.ErasureTarget) {
	before := rapid.IntRange(0, len(planned)).Draw(f.T, "erased before the server was killed")
	for _, d := range planned[:before] {
		if !d.WillErase {
			continue
		}
		_, err := f.World.Log.Submit(f.Context(), domain.Submission{
			By: order.By, Command: d.EraseCommand(order.By, order.ErasureReason),
			Origin: domain.Origin{CorrelationID: order.Stream()},
		})
		if err != nil && !errors.Is(err, domain.ErrConflict) && !errors.Is(err, domain.ErrForbidden) &&
			!errors.Is(err, domain.ErrNotFound) {
			f.Fatal(err)
		}
	}
}

// did sees that an order has erased some things, and has left the others.
func (f *family) did(order domain.OrderErasure, goes []string, stays map[string]string) {
	var erased []string
	query := "SELECT DISTINCT stream FROM events WHERE tenant = ? AND correlation_id = ? AND name LIKE '%.erased' AND " +
		"name <> 'tenant.erased'"
	NoError(f, f.DB.NewRaw(query, f.By.Tenant, order.Stream()).Scan(f.Context(), &erased))
	sorted := cmpopts.SortSlices(func(a, b string) bool { return a < b })
	if diff := gocmp.Diff(erased, goes, sorted, cmpopts.EquateEmpty()); diff != "" {
		f.Errorf("%s, with lineage %t, by %s: erased (-got +planned):\n%s", order.Of, order.WithLineage,
			order.By.Subject, diff)
	}
	state, err := eraser(f.World).Erasure(f.Context(), f.By.Tenant, order.ID)
	if err != nil || state.UnderWay() || state.Erased != int64(len(goes)) || state.NotErased != int64(len(stays)) {
		f.Errorf("%s: %+v, %v, want %d erased and %d not", order.Of, state, err, len(goes), len(stays))
	}
	var left []string
	for _, r := range state.Refused {
		left = append(left, r.Stream)
	}
	if diff := gocmp.Diff(left, slices.Collect(maps.Keys(stays)), sorted, cmpopts.EquateEmpty()); diff != "" {
		f.Errorf("%s, with lineage %t, by %s: refused (-got +planned):\n%s", order.Of, order.WithLineage,
			order.By.Subject, diff)
	}
}
