package projections_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections"
)

// world is a log with its projections on a database of its own.
type world struct {
	t         *testing.T
	db        *database.DB
	log       *events.Log
	followers *follow.Followers
	base      *projections.Knowledge
	by        domain.Principal
	read      map[string]int64 // how far the projection of meaning has read each tenant's log
}

// each runs a test in parallel on both engines, each time in a new world.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) { test(t, newWorld(t, db, projections.Settings{})) })
}

// failing is a test, or a run of a property.
type failing interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// must is a value without which a test ends.
func must[V any](value V, err error) func(failing) V {
	return func(t failing) V {
		t.Helper()
		noError(t, err)
		return value
	}
}

func noError(t failing, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// report is noError for what a test goes on after.
func report(t failing, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%v", err)
	}
}

// equal compares what is there with what there should be.
func equal(t failing, got, want any, what string, args ...any) {
	t.Helper()
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("%s:\n%s", fmt.Sprintf(what, args...), diff)
	}
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
	options.Selection = base.Browser
	log, followers := follow.NewLog(db, base.Projection, options)
	t.Cleanup(func() {
		if err := log.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("close log: %v", err)
		}
	})
	return &world{t: t, db: db, log: log, followers: followers, base: base, by: domain.OpenPrincipal(), read: map[string]int64{}}
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
	past := must(projections.OpenPast(w.t.Context(), w.base, w.log, w.followers))(w.t)
	return projections.Reader{Knowledge: w.base, Past: past, Log: w.log, Followers: w.followers}
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

// submitAll is submit for many commands at once.
func (w *world) submitAll(commands ...domain.Command) {
	w.t.Helper()
	submissions := make([]domain.Submission, len(commands))
	for i, command := range commands {
		submissions[i] = domain.Submission{Command: command, By: w.by}
	}
	for _, result := range w.log.SubmitAll(w.t.Context(), submissions) {
		noError(w.t, result.Err)
	}
}

// remember adds an item that says something to the scopes.
func (w *world) remember(id, content string, scopes ...domain.Scope) domain.Receipt {
	w.t.Helper()
	return w.know(id, domain.Remembered{
		Class: domain.Class{Type: domain.Strategy}, Owner: "org:acme", Scopes: scopes, Text: domain.Text{Content: content},
	})
}

// rememberMany adds items that say the same to a team.
func (w *world) rememberMany(n int, content string) {
	w.t.Helper()
	for i := range n {
		w.remember(fmt.Sprint("item-", i), content, "team:pay")
	}
}

func (w *world) know(id string, knowledge domain.Remembered) domain.Receipt {
	w.t.Helper()
	return w.submit(w.knowing(id, knowledge))
}

// knowing is the command that adds an item.
func (w *world) knowing(id string, knowledge domain.Remembered) domain.Remember {
	w.t.Helper()
	return w.complete(domain.Remember{By: w.by, ID: id, Knowledge: knowledge})
}

func (w *world) complete(command domain.Remember) domain.Remember {
	w.t.Helper()
	return must(command.Complete())(w.t)
}

// table is what a query gives: a line of its columns and values for each row.
func (w *world) table(query string, args ...any) (rows []map[string]any) {
	w.t.Helper()
	found := must(w.db.QueryContext(w.t.Context(), query, args...))(w.t)
	defer found.Close()
	columns := must(found.Columns())(w.t)
	for found.Next() {
		values, row := make([]any, len(columns)), map[string]any{}
		for i := range values {
			values[i] = new(any)
		}
		noError(w.t, found.Scan(values...))
		for i, column := range columns {
			row[column] = *values[i].(*any)
		}
		rows = append(rows, row)
	}
	noError(w.t, found.Err())
	return rows
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
	search.Everyone, search.Copies = true, true // each item counts
	complete := must(search.Complete())(w.t)
	answer := must(w.base.Searcher.Search(w.t.Context(), complete))(w.t)
	return answer
}

// corrupt changes tables without their projection.
func corrupt(ctx context.Context, db *database.DB, statement string) error {
	return db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		return databasetest.TamperIn(ctx, db.Engine, tx, statement)
	})
}
