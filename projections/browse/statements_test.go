package browse_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/browse"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// newLoadedWorld is a world of many items whose reads are listened to.
func newLoadedWorld(t *testing.T, db *database.DB) (*World, *Statements) {
	t.Helper()
	listener := &Statements{}
	db.AddQueryHook(listener)
	w := NewWorld(t, db, projections.Settings{Embedder: Tiny{}})
	load(w)
	return w, listener
}

// work is something that must not read a large table from end to end.
type work struct {
	name     string
	do       func(w *World)
	onSQLite bool     // PostgreSQL has no index for it: one of what votes change would cost every vote
	uses     []string // indexes of PostgreSQL that are enough, without a look at their tables
}

// reads are what people ask of the projection, and what appending reads.
func reads() []work {
	asking := func(entities ...domain.Entity) func(*World) {
		return func(w *World) {
			w.Search(domain.Search{Text: "server tomato", Context: domain.Context{Given: true, Entities: entities}})
		}
	}
	listing := func(by domain.Principal, filter domain.Filter, before int64) func(*World) {
		return func(w *World) {
			page, err := w.Base.Browser.List(w.T.Context(), domain.List{By: by, Filter: filter, Before: before})
			if err != nil || len(page.Items) == 0 {
				w.T.Errorf("listed %d items, %v", len(page.Items), err)
			}
		}
	}
	admin := domain.OpenPrincipal()
	member := As("user:alice", "team:pay")
	return append([]work{
		{name: "search a few items", do: asking("user:alice")},
		{name: "search a team's items", do: asking("team:pay")},
		{name: "search most items", do: asking("org:acme")},
		{name: "search everywhere", do: asking("user:alice", "team:pay", "org:acme")},
		{name: "search whatever there is", do: func(w *World) { w.Search(domain.Search{Text: "server tomato"}) }},
		{name: "search with a filter", do: func(w *World) {
			w.Search(domain.Search{
				Text: "server tomato", Filter: domain.Filter{Owner: "user:alice"},
				Context: domain.Context{Given: true, Entities: []domain.Entity{"user:alice"}},
			})
		}},
		{name: "list", do: listing(admin, domain.Filter{}, 0)},
		{name: "list further", do: listing(admin, domain.Filter{}, many/2)},
		{name: "list a member's", do: listing(member, domain.Filter{}, 0)},
		{name: "list an owner's", do: listing(admin, domain.Filter{Owner: "user:alice"}, 0)},
		{name: "list a scope's", do: listing(admin, domain.Filter{Scope: "user:alice"}, 0)},
		{name: "read a directory", do: reading(admin, "viking://x")},
		{name: "read the root", do: reading(admin, domain.RootURI)},
		{name: "read a directory as a member", do: func(w *World) {
			w.Base.Browser.Gathered = browse.Gathering{Below: 1, Seen: 0, Bytes: 1 << 20}
			reading(member, "viking://x")(w)
		}},
		{name: "gather a directory as a member", do: func(w *World) {
			w.Base.Browser.Gathered = browse.Gathering{Below: 1, Seen: many, Bytes: 1 << 20}
			reading(As("user:alice"), "viking://x")(w)
		}},
		{name: "find at a place", do: func(w *World) {
			if _, err := w.Base.Browser.At(w.T.Context(), w.By.Tenant, "viking://x/i77"); err != nil {
				w.T.Error(err)
			}
		}},
		{name: "find", do: func(w *World) {
			if _, err := w.Base.Browser.Find(w.T.Context(), w.By.Tenant, "i77"); err != nil {
				w.T.Error(err)
			}
		}},
		{name: "read feedback", do: func(w *World) {
			if got, err := w.Base.Browser.Feedback(w.T.Context(), w.By, "i77"); err != nil || len(got.Helpful) != 1 {
				w.T.Error(got, err)
			}
		}},
		{name: "vote", do: opening(1)},
		{name: "vote in a batch", do: opening(20)},
	}, rareReads()...)
}

// reading reads a directory's first places, and walks through the first of what lies below.
func reading(by domain.Principal, directory domain.URI) func(*World) {
	return func(w *World) {
		places, err := w.Base.Browser.Places(w.T.Context(), domain.Directory{By: by, URI: directory, Limit: 10})
		if err != nil || len(places) == 0 {
			w.T.Errorf("read %d places of %s, %v", len(places), directory, err)
		}
		items, err := w.Base.Browser.Below(w.T.Context(), domain.Walk{
			By: by, Below: directory,
			After: directory.Join("i5"), Limit: 10,
		})
		if err != nil || len(items) == 0 {
			w.T.Errorf("walked through %d items of %s, %v", len(items), directory, err)
		}
		for _, contents := range []bool{true, false} {
			leaves, _, err := w.Base.Browser.Leaves(w.T.Context(), domain.Walk{
				By: by, Below: directory, After: directory.Join("i5"),
				Limit: 10,
			}, contents)
			if err != nil || len(leaves) == 0 {
				w.T.Errorf("walked through %d leaves of %s, %v", len(leaves), directory, err)
			}
		}
	}
}

// book is a stage without other streams.
type book struct {
	events.Stage
	domain.LogReader
}

func (book) Stream(name string) domain.Stream { return domain.Stream{Name: name} }

// opening decides a batch of commands of every kind, and writes what follows. Nothing of it stays.
func opening(items int) func(*World) {
	return func(w *World) {
		var commands []domain.Command
		for i := range upTo(items) {
			target := domain.Target{By: w.By, ID: idOf(31 * i % many)}
			content := "something else"
			commands = append(commands,
				domain.GiveFeedback{Target: target, Verdict: domain.Helpful, TraceID: "t"},
				domain.RetractFeedback{Target: target, EventID: eventOf(31 * i % many)},
				domain.Confirm{Target: target},
				domain.Revise{Target: target, URI: "viking://y/" + target.ID, Changes: domain.Revised{Content: &content}},
			)
		}
		undone := errors.New("nothing of it was to stay")
		err := w.DB.Transact(w.T.Context(), func(ctx context.Context, tx bun.Tx) error {
			stage := Must(w.Base.Projection.Load(ctx, tx, w.By.Tenant, commands, nil))(w.T)
			for i, command := range commands {
				facts, err := command.Decide(book{Stage: stage}, time.Now())
				if err != nil || len(facts) == 0 {
					w.T.Fatalf("%T led to %v, %v", command, facts, err)
				}
				for j, fact := range facts {
					id, _ := domain.ItemOf(command.Stream())
					k := stage.Knowledge(id)
					NoError(w.T, stage.Apply(domain.Event{
						Tenant: w.By.Tenant, Position: int64(many + 10*i + j), EventID: eventOf(2*many + 10*i + j),
						Stream: domain.KnowledgeStream(k.ID), Version: k.Version + 1, RecordedAt: time.Now(), Fact: fact,
					}))
				}
			}
			if err := stage.Save(ctx, &database.Script{}); err != nil { // not with COMMIT: it is to be heard
				w.T.Fatal(err)
			}
			return undone
		})
		if !errors.Is(err, undone) {
			w.T.Fatal(err)
		}
	}
}

// rareReads look for what few items are, and most are not.
func rareReads() []work {
	stale := true
	by := domain.OpenPrincipal()
	listing := func(filter domain.Filter) func(*World) {
		return func(w *World) { nothing(w.T)(w.Base.Browser.List(w.T.Context(), domain.List{By: by, Filter: filter})) }
	}
	choosing := func(q domain.EventQuery) func(*World) {
		q.Tenant = by.Tenant
		return func(w *World) {
			w.Reader() // knows the past
			_, _, err := w.Base.Browser.Streams(w.T.Context(), q, 10)
			nothing(w.T)(nil, err)
		}
	}
	reporting := func(report func(browse.Reports, context.Context, domain.ReportQuery) ([]domain.ReportItem,
		error),
	) func(*World) {
		return func(w *World) {
			nothing(w.T)(report(w.Reports(), w.T.Context(),
				domain.ReportQuery{Tenant: by.Tenant, Limit: 10}))
		}
	}
	return []work{
		{name: "review", do: func(w *World) {
			reports := w.Reports()
			nothing(w.T)(reports.Review(w.T.Context(), domain.ReviewQuery{Tenant: by.Tenant, Limit: 10}))
		}, onSQLite: true},
		{name: "report what did harm", do: reporting(browse.Reports.Harm), onSQLite: true},
		{name: "report what is stale", do: reporting(browse.Reports.Stale)},
		{name: "list a strange scope's", do: listing(domain.Filter{Scope: "user:nobody"})},
		{name: "list what lies nowhere", do: listing(domain.Filter{URIPrefix: "viking://nowhere/"})},
		{name: "list what is public", do: listing(domain.Filter{Visibility: domain.PublicWide})},
		{name: "list what was forgotten", do: listing(domain.Filter{Statuses: []domain.Status{domain.IsDeleted}})},
		{name: "list what was superseded", do: listing(domain.Filter{Statuses: []domain.Status{domain.IsSuperseded}})},
		{name: "list what is stale", do: listing(domain.Filter{Stale: &stale})},
		{name: "follow a lineage", do: func(w *World) { nothing(w.T)(w.Base.Browser.Lineage(w.T.Context(), by.Tenant, "i77")) }},
		{name: "find what was learned", do: func(w *World) {
			nothing(w.T)(w.Base.Browser.Learned(w.T.Context(), by.Tenant, []string{"session:123/s"}))
		}},
		{name: "choose a stranger's items", do: choosing(domain.EventQuery{Owner: "user:nobody"})},
		{name: "choose a strange scope's items", do: choosing(domain.EventQuery{Scope: "user:nobody"})},
	}
}

// nothing ends the test if something could not be read.
func nothing(t *testing.T) func(any, error) {
	return func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
}
