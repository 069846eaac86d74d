package projections_test

import (
	"context"
	"testing"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/vectors"
)

// world is a log with its projections on a database of its own.
type world struct {
	t    *testing.T
	db   *database.DB
	log  *follow.Log
	base *projections.Knowledge
	by   domain.Principal
	read map[string]int64 // how far the projection of meaning has read each tenant's log
}

func newWorld(t *testing.T, db *database.DB, settings projections.Settings) *world {
	t.Helper()
	return newWorldWith(t, db, settings, events.Options{})
}

func newWorldWith(t *testing.T, db *database.DB, settings projections.Settings, options events.Options) *world {
	t.Helper()
	base, err := projections.Open(t.Context(), db, settings)
	if err != nil {
		t.Fatalf("open projections: %v", err)
	}
	options.Logger = databasetest.Log(t)
	log := follow.NewLog(db, base, options)
	t.Cleanup(func() {
		if err := log.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("close log: %v", err)
		}
	})
	return &world{t: t, db: db, log: log, base: base, by: domain.OpenPrincipal(), read: map[string]int64{}}
}

// elsewhere lets something happen that is not about knowledge, to one of the things whose streams stand
// before and after those of knowledge.
func elsewhere(id string, version int) domain.Command {
	return domain.RecordProjection{Projection: id, Facts: []domain.Fact{
		domain.ProjectionRolledBack{Version: version, From: 3 - version},
		domain.ProjectionFailed{Version: 9, Reason: "it's ?"},
	}}
}

// reader is what an API reads from.
func (w *world) reader() projections.Reader {
	w.t.Helper()
	past, err := projections.OpenPast(w.t.Context(), w.base, w.log)
	if err != nil {
		w.t.Fatal(err)
	}
	return projections.Reader{Knowledge: w.base, Past: past, Log: w.log}
}

// in is the same world as an admin of another tenant sees it.
func (w *world) in(tenant string) *world {
	other := *w
	other.by.Tenant = tenant
	return &other
}

// submit decides a command and fails the test if it is refused.
func (w *world) submit(command domain.Command) domain.Receipt {
	w.t.Helper()
	receipt, err := w.log.Submit(w.t.Context(), domain.Submission{Command: command, By: w.by})
	if err != nil {
		w.t.Fatalf("submit %T %s: %v", command, command.Stream(), err)
	}
	return receipt
}

// remember adds an item that says something to the scopes.
func (w *world) remember(id, content string, scopes ...domain.Scope) domain.Receipt {
	w.t.Helper()
	return w.submit(w.complete(domain.Remember{By: w.by, ID: id, Knowledge: domain.Remembered{
		Type: domain.Strategy, Owner: "org:acme", Scopes: scopes, Text: domain.Text{Content: content},
	}}))
}

func (w *world) complete(command domain.Remember) domain.Remember {
	w.t.Helper()
	complete, err := command.Complete()
	if err != nil {
		w.t.Fatalf("complete %s: %v", command.ID, err)
	}
	return complete
}

// understand lets the projection of meaning read what is new in the log.
func (w *world) understand() {
	w.t.Helper()
	if err := w.follow(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) follow() error {
	page, err := w.log.Read(w.t.Context(), w.by.Tenant, w.read[w.by.Tenant], 100_000)
	if err != nil {
		return err
	}
	meaning := w.base.Meaning()
	after, afterID, _, err := w.log.Checkpoint(w.t.Context(), meaning.Name(), w.by.Tenant)
	if err != nil {
		return err
	}
	next := follow.Page{Tenant: w.by.Tenant, After: after, AfterID: afterID, Events: page}
	change, err := meaning.Prepare(w.t.Context(), next)
	if err != nil || len(page) == 0 {
		return err
	}
	err = w.db.Transact(w.t.Context(), func(ctx context.Context, tx bun.Tx) error {
		if err := change.Write(ctx, tx); err != nil {
			return err
		}
		return w.log.Advance(ctx, tx, meaning.Name(), next)
	})
	if err != nil {
		return err
	}
	change.Done()
	w.read[w.by.Tenant] += int64(len(page))
	return nil
}

// holdSketches lets the tenant's sketches be searched in memory, on PostgreSQL as on SQLite.
func (w *world) holdSketches() {
	w.t.Helper()
	if err := w.base.Meaning().LoadSketches(w.t.Context(), w.by.Tenant); err != nil {
		w.t.Fatal(err)
	}
}

// holdVectors reads the vectors into memory that searches have missed.
func (w *world) holdVectors() {
	w.t.Helper()
	if n, ok := w.base.Meaning().Nearest.(*vectors.PostgresNearest); ok {
		if err := n.HoldVectors(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
	}
}

// find searches and gives the ids of the hits in order.
func (w *world) find(search domain.Search) []string {
	w.t.Helper()
	ids := []string{}
	for _, hit := range w.search(search).Hits {
		ids = append(ids, hit.ID)
	}
	return ids
}

func (w *world) search(search domain.Search) domain.Answer {
	w.t.Helper()
	if search.By.Tenant == "" {
		search.By = w.by
	}
	complete, err := search.Complete()
	if err != nil {
		w.t.Fatal(err)
	}
	answer, err := w.base.Search(w.t.Context(), complete)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer
}

// corrupt changes tables without their projection.
func corrupt(ctx context.Context, db *database.DB, statement string) error {
	return db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		return databasetest.TamperIn(ctx, db.Engine, tx, statement)
	})
}
