package receipts_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/receipts"
)

var day = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// world is a world in which callers are given receipts.
type world struct {
	*World
	*receipts.Receipts
	now *time.Time
}

// each runs a test in a new world on both engines. Its clock stands still unless the test moves it.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	EachAt(t, day, func(t *testing.T, w *World, now *time.Time) { test(t, (&world{World: w, now: now}).begin(0)) })
}

// begin is the world with a new run of receipts.
func (w *world) begin(keep time.Duration) *world {
	w.T.Helper()
	return w.beginWith(receipts.Options{Retention: receipts.Retention{Keep: keep}})
}

// beginWith is the world with a new run of receipts under settings.
func (w *world) beginWith(o receipts.Options) *world {
	w.T.Helper()
	again := *w
	o.DB, o.Log, o.Items, o.Ranking, o.Logger = w.DB, w.Log, w.Base.Browser, "test-1", databasetest.Log(w.T)
	again.Receipts = receipts.New(w.T.Context(), o)
	return &again
}

// item is an item as a caller is given it now.
func (w *world) item(id string) domain.GivenItem {
	w.T.Helper()
	k := Must(w.Base.Browser.Find(w.T.Context(), w.By.Tenant, id))(w.T)
	return domain.GivenItem{
		Item: k, Scope: k.Scopes[0], Band: domain.Sure, Score: 0.81239, Semantic: 0.5, Lexical: 0.25, Confidence: k.Confidence,
		Level: domain.Detail,
	}
}

// answer is an answer to a question with some items.
func (w *world) answer(asked string, ids ...string) domain.Given {
	w.T.Helper()
	g := domain.Given{
		Tenant: w.By.Tenant, At: *w.now, Kind: domain.GivenUse, Status: 200, Route: "POST /v1/search", Caller: "agent:coder",
		OnBehalfOf: "user:ann", Authentication: "key:abcdefghi2", Host: "claude-code/2.0", Session: "s-1", TraceID: "t-1",
		Asked: asked, Embedder: "builtin",
	}
	for _, id := range ids {
		g.Items = append(g.Items, w.item(id))
	}
	return g
}

// fill remembers items a, b, c … of a team.
func (w *world) fill(n int) (ids []string) {
	w.T.Helper()
	for i := range n {
		id := string(rune('a' + i))
		w.Remember(id, fmt.Sprintf("what %s says about payments", id), "team:pay")
		ids = append(ids, id)
	}
	return ids
}

func (w *world) find(id string) receipts.Receipt {
	w.T.Helper()
	return Must(w.Receipts.Find(w.T.Context(), w.By.Tenant, id))(w.T)
}

// ids are the ids of the receipts that a query selects, page by page.
func (w *world) ids(q receipts.Query) (ids []string) {
	w.T.Helper()
	q.Tenant = w.By.Tenant
	for {
		list := Must(w.Receipts.List(w.T.Context(), q))(w.T)
		for _, one := range list.Receipts {
			ids = append(ids, one.ID())
		}
		if q.Before = list.Next; q.Before == "" {
			return ids
		}
	}
}

// end ends the run of receipts as a server does that stops.
func (w *world) end() {
	w.T.Helper()
	ctx, cancel := context.WithCancel(w.T.Context())
	cancel()
	w.Run(ctx)
}
