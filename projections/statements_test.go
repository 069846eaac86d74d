package projections_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/browse"
)

// statements collects what is sent to a database.
type statements struct {
	mu   sync.Mutex
	sent []string
}

var _ bun.QueryHook = (*statements)(nil)

func (s *statements) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }

func (s *statements) AfterQuery(_ context.Context, event *bun.QueryEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, event.Query)
}

// query is a statement that looks for rows, and the settings that stand before it.
type query struct{ settings, text string }

// during are the queries that something sends.
func (s *statements) during(do func()) []query {
	s.mu.Lock()
	s.sent = nil
	s.mu.Unlock()
	do()
	s.mu.Lock()
	defer s.mu.Unlock()
	var queries []query
	for _, sent := range s.sent {
		settings := ""
		for text := range strings.SplitSeq(sent, ";\n") {
			text = strings.TrimSpace(text)
			switch verb, _, _ := strings.Cut(text, " "); verb {
			case "SET":
				settings += text + ";\n"
			case "SELECT", "WITH", "DELETE", "UPDATE":
				queries = append(queries, query{settings, text})
			}
		}
	}
	return queries
}

// newLoadedWorld is a world of many items whose reads are listened to.
func newLoadedWorld(t *testing.T, db *database.DB) (*world, *statements) {
	t.Helper()
	listener := &statements{}
	db.AddQueryHook(listener)
	w := newWorld(t, db, projections.Settings{Embedder: tiny{}})
	w.load()
	return w, listener
}

// work is something that must not read a large table from end to end.
type work struct {
	name     string
	do       func(w *world)
	onSQLite bool     // PostgreSQL has no index for it: one of what votes change would cost every vote
	uses     []string // indexes of PostgreSQL that are enough, without a look at their tables
}

// reads are what people ask of the projection, and what appending reads.
func reads() []work {
	asking := func(entities ...domain.Entity) func(*world) {
		return func(w *world) {
			w.search(domain.Search{Text: "server tomato", Context: domain.Context{Given: true, Entities: entities}})
		}
	}
	listing := func(by domain.Principal, filter domain.Filter, before int64) func(*world) {
		return func(w *world) {
			page, err := w.base.Browser.List(w.t.Context(), domain.List{By: by, Filter: filter, Before: before})
			if err != nil || len(page.Items) == 0 {
				w.t.Errorf("listed %d items, %v", len(page.Items), err)
			}
		}
	}
	admin := domain.OpenPrincipal()
	member := domain.Principal{
		Tenant: admin.Tenant, Subject: "user:alice", Role: domain.Member,
		Memberships: []domain.Entity{"team:pay"},
	}
	return append([]work{
		{name: "search a few items", do: asking("user:alice")},
		{name: "search a team's items", do: asking("team:pay")},
		{name: "search most items", do: asking("org:acme")},
		{name: "search everywhere", do: asking("user:alice", "team:pay", "org:acme")},
		{name: "search whatever there is", do: func(w *world) { w.search(domain.Search{Text: "server tomato"}) }},
		{name: "search with a filter", do: func(w *world) {
			w.search(domain.Search{
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
		{name: "read a directory as a member", do: func(w *world) {
			w.base.Browser.Gathered = browse.Gathering{Below: 1, Seen: 0, Bytes: 1 << 20}
			reading(member, "viking://x")(w)
		}},
		{name: "gather a directory as a member", do: func(w *world) {
			w.base.Browser.Gathered = browse.Gathering{Below: 1, Seen: many, Bytes: 1 << 20}
			reading(domain.Principal{Tenant: admin.Tenant, Subject: "user:alice", Role: domain.Member}, "viking://x")(w)
		}},
		{name: "find at a place", do: func(w *world) {
			if _, err := w.base.Browser.At(w.t.Context(), w.by.Tenant, "viking://x/i77"); err != nil {
				w.t.Error(err)
			}
		}},
		{name: "find", do: func(w *world) {
			if _, err := w.base.Browser.Find(w.t.Context(), w.by.Tenant, "i77"); err != nil {
				w.t.Error(err)
			}
		}},
		{name: "read feedback", do: func(w *world) {
			if got, err := w.base.Browser.Feedback(w.t.Context(), w.by, "i77"); err != nil || len(got.Helpful) != 1 {
				w.t.Error(got, err)
			}
		}},
		{name: "vote", do: opening(1)},
		{name: "vote in a batch", do: opening(20)},
	}, rareReads()...)
}

// reading reads a directory's first places, and walks through the first of what lies below.
func reading(by domain.Principal, directory domain.URI) func(*world) {
	return func(w *world) {
		places, err := w.base.Browser.Places(w.t.Context(), domain.Directory{By: by, URI: directory, Limit: 10})
		if err != nil || len(places) == 0 {
			w.t.Errorf("read %d places of %s, %v", len(places), directory, err)
		}
		items, err := w.base.Browser.Below(w.t.Context(), domain.Walk{
			By: by, Below: directory,
			After: directory.Join("i5"), Limit: 10,
		})
		if err != nil || len(items) == 0 {
			w.t.Errorf("walked through %d items of %s, %v", len(items), directory, err)
		}
		for _, contents := range []bool{true, false} {
			leaves, _, err := w.base.Browser.Leaves(w.t.Context(), domain.Walk{
				By: by, Below: directory, After: directory.Join("i5"),
				Limit: 10,
			}, contents)
			if err != nil || len(leaves) == 0 {
				w.t.Errorf("walked through %d leaves of %s, %v", len(leaves), directory, err)
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
func opening(items int) func(*world) {
	return func(w *world) {
		var commands []domain.Command
		for i := range upTo(items) {
			target := domain.Target{By: w.by, ID: idOf(31 * i % many)}
			content := "something else"
			commands = append(commands,
				domain.GiveFeedback{Target: target, Verdict: domain.Helpful, TraceID: "t"},
				domain.RetractFeedback{Target: target, EventID: eventOf(31 * i % many)},
				domain.Confirm{Target: target},
				domain.Revise{Target: target, URI: "viking://y/" + target.ID, Changes: domain.Revised{Content: &content}},
			)
		}
		undone := errors.New("nothing of it was to stay")
		err := w.db.Transact(w.t.Context(), func(ctx context.Context, tx bun.Tx) error {
			stage := must(w.base.Projection.Load(ctx, tx, w.by.Tenant, commands, nil))(w.t)
			for i, command := range commands {
				facts, err := command.Decide(book{Stage: stage}, time.Now())
				if err != nil || len(facts) == 0 {
					w.t.Fatalf("%T led to %v, %v", command, facts, err)
				}
				for j, fact := range facts {
					id, _ := domain.ItemOf(command.Stream())
					k := stage.Knowledge(id)
					noError(w.t, stage.Apply(domain.Event{
						Tenant: w.by.Tenant, Position: int64(many + 10*i + j), EventID: eventOf(2*many + 10*i + j),
						Stream: domain.KnowledgeStream(k.ID), Version: k.Version + 1, RecordedAt: time.Now(), Fact: fact,
					}))
				}
			}
			if err := stage.Save(ctx, &database.Script{}); err != nil { // not with COMMIT: it is to be heard
				w.t.Fatal(err)
			}
			return undone
		})
		if !errors.Is(err, undone) {
			w.t.Fatal(err)
		}
	}
}

// rareReads look for what few items are, and most are not.
func rareReads() []work {
	stale := true
	by := domain.OpenPrincipal()
	listing := func(filter domain.Filter) func(*world) {
		return func(w *world) { nothing(w.t)(w.base.Browser.List(w.t.Context(), domain.List{By: by, Filter: filter})) }
	}
	choosing := func(q domain.EventQuery) func(*world) {
		q.Tenant = by.Tenant
		return func(w *world) {
			w.reader() // knows the past
			_, _, err := w.base.Browser.Streams(w.t.Context(), q, 10)
			nothing(w.t)(nil, err)
		}
	}
	reporting := func(report func(browse.Reports, context.Context, domain.ReportQuery) ([]domain.ReportItem,
		error),
	) func(*world) {
		return func(w *world) {
			nothing(w.t)(report(browse.Reports{Browser: w.base.Browser, Log: w.log}, w.t.Context(),
				domain.ReportQuery{Tenant: by.Tenant, Limit: 10}))
		}
	}
	return []work{
		{name: "review", do: func(w *world) {
			reports := browse.Reports{Browser: w.base.Browser, Log: w.log}
			nothing(w.t)(reports.Review(w.t.Context(), domain.ReviewQuery{Tenant: by.Tenant, Limit: 10}))
		}, onSQLite: true},
		{name: "report what did harm", do: reporting(browse.Reports.Harm), onSQLite: true},
		{name: "report what is stale", do: reporting(browse.Reports.Stale)},
		{name: "list a strange scope's", do: listing(domain.Filter{Scope: "user:nobody"})},
		{name: "list what lies nowhere", do: listing(domain.Filter{URIPrefix: "viking://nowhere/"})},
		{name: "list what is public", do: listing(domain.Filter{Visibility: domain.PublicWide})},
		{name: "list what was forgotten", do: listing(domain.Filter{Statuses: []domain.Status{domain.IsDeleted}})},
		{name: "list what was superseded", do: listing(domain.Filter{Statuses: []domain.Status{domain.IsSuperseded}})},
		{name: "list what is stale", do: listing(domain.Filter{Stale: &stale})},
		{name: "follow a lineage", do: func(w *world) { nothing(w.t)(w.base.Browser.Lineage(w.t.Context(), by.Tenant, "i77")) }},
		{name: "find what was learned", do: func(w *world) {
			nothing(w.t)(w.base.Browser.Learned(w.t.Context(), by.Tenant, []string{"session:123/s"}))
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
