package projectiontest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/browse"
	"github.com/annals-kb/annals/projections/embedding"
	"github.com/annals-kb/annals/projections/vectors"
)

// World is a log with its projections on a database of its own.
type World struct {
	T         *testing.T
	DB        *database.DB
	Log       *events.Log
	Followers *follow.Followers
	Base      *projections.Knowledge
	By        domain.Principal
	Read      map[string]int64 // how far the projection of meaning has read each tenant's log
}

// Each runs a test in parallel on both engines, each time in a new world.
func Each(t *testing.T, test func(t *testing.T, w *World)) {
	t.Helper()
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) { test(t, NewWorld(t, db, projections.Settings{})) })
}

// EachAt is [Each] with a clock, which stands still unless the test moves it.
func EachAt(t *testing.T, day time.Time, test func(t *testing.T, w *World, now *time.Time)) {
	t.Helper()
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		now := day
		clock := func() time.Time { return now }
		test(t, NewWorldWith(t, db, projections.Settings{Now: clock}, events.Options{Clock: clock}), &now)
	})
}

// failing is a test, or a run of a property.
type failing interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// Must is a value without which a test ends.
func Must[V any](value V, err error) func(failing) V {
	return func(t failing) V {
		t.Helper()
		NoError(t, err)
		return value
	}
}

func NoError(t failing, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Report is [NoError] for what a test goes on after.
func Report(t failing, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%v", err)
	}
}

// Equal compares what is there with what there should be.
func Equal(t failing, got, want any, what string, args ...any) {
	t.Helper()
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("%s:\n%s", fmt.Sprintf(what, args...), diff)
	}
}

func NewWorld(t *testing.T, db *database.DB, settings projections.Settings) *World {
	t.Helper()
	return NewWorldWith(t, db, settings, events.Options{})
}

func NewWorldWith(t *testing.T, db *database.DB, settings projections.Settings, options events.Options) *World {
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
	return &World{
		T: t, DB: db, Log: log, Followers: followers, Base: base, By: domain.OpenPrincipal(), Read: map[string]int64{},
	}
}

// Elsewhere lets something happen that is not about knowledge, to one of the things whose streams stand
// before and after those of knowledge.
func Elsewhere(id string, version int) domain.Command {
	return domain.RecordProjection{Projection: id, Facts: []domain.Fact{
		domain.ProjectionRolledBack{Version: version, From: 3 - version},
		domain.ProjectionFailed{Version: 9, Reason: "it's ?"},
	}}
}

// Reports is what an API reads reports from.
func (w *World) Reports() browse.Reports { return browse.Reports{Browser: w.Base.Browser, Log: w.Log} }

// Reader is what an API reads from.
func (w *World) Reader() projections.Reader {
	w.T.Helper()
	past := Must(projections.OpenPast(w.T.Context(), w.Base, w.Log, w.Followers))(w.T)
	return projections.Reader{Knowledge: w.Base, Past: past, Log: w.Log, Followers: w.Followers}
}

// In is the same world as an admin of another tenant sees it.
func (w *World) In(tenant string) *World {
	other := *w
	other.By.Tenant = tenant
	return &other
}

// Submit decides a command and fails the test if it is refused.
func (w *World) Submit(command domain.Command) domain.Receipt {
	w.T.Helper()
	receipt, err := w.Log.Submit(w.T.Context(), domain.Submission{Command: command, By: w.By})
	if err != nil {
		w.T.Fatalf("submit %T %s: %v", command, command.Stream(), err)
	}
	return receipt
}

// SubmitAll is Submit for many commands at once.
func (w *World) SubmitAll(commands ...domain.Command) {
	w.T.Helper()
	submissions := make([]domain.Submission, len(commands))
	for i, command := range commands {
		submissions[i] = domain.Submission{Command: command, By: w.By}
	}
	for _, result := range w.Log.SubmitAll(w.T.Context(), submissions) {
		NoError(w.T, result.Err)
	}
}

// Remember adds an item that says something to the scopes.
func (w *World) Remember(id, content string, scopes ...domain.Scope) domain.Receipt {
	w.T.Helper()
	return w.Know(id, domain.Remembered{
		Class: domain.Class{Type: domain.Strategy}, Owner: "org:acme", Scopes: scopes, Text: domain.Text{Content: content},
	})
}

// RememberMany adds items to a team, each of which says its number at %d.
func (w *World) RememberMany(n int, content string) {
	w.T.Helper()
	commands := make([]domain.Command, n)
	for i := range commands {
		commands[i] = w.Knowing(fmt.Sprint("item-", i), domain.Remembered{
			Class: domain.Class{Type: domain.Strategy}, Owner: "org:acme", Scopes: []domain.Scope{"team:pay"},
			Text: domain.Text{Content: strings.ReplaceAll(content, "%d", strconv.Itoa(i))},
		})
	}
	w.SubmitAll(commands...)
}

func (w *World) Know(id string, knowledge domain.Remembered) domain.Receipt {
	w.T.Helper()
	return w.Submit(w.Knowing(id, knowledge))
}

// Knowing is the command that adds an item.
func (w *World) Knowing(id string, knowledge domain.Remembered) domain.Remember {
	w.T.Helper()
	return w.Complete(domain.Remember{By: w.By, ID: id, Knowledge: knowledge})
}

func (w *World) Complete(command domain.Remember) domain.Remember {
	w.T.Helper()
	return Must(command.Complete())(w.T)
}

// Table is what a query gives: a line of its columns and values for each row.
func (w *World) Table(query string, args ...any) (rows []map[string]any) {
	w.T.Helper()
	found := Must(w.DB.QueryContext(w.T.Context(), query, args...))(w.T)
	defer found.Close()
	columns := Must(found.Columns())(w.T)
	for found.Next() {
		values, row := make([]any, len(columns)), map[string]any{}
		for i := range values {
			values[i] = new(any)
		}
		NoError(w.T, found.Scan(values...))
		for i, column := range columns {
			row[column] = *values[i].(*any)
		}
		rows = append(rows, row)
	}
	NoError(w.T, found.Err())
	return rows
}

// Number is the one number that a query gives.
func (w *World) Number(query string, args ...any) (n int) {
	w.T.Helper()
	NoError(w.T, w.DB.NewRaw(query, args...).Scan(w.T.Context(), &n))
	return n
}

// Understand lets the projection of meaning read what is new in the log.
func (w *World) Understand() {
	w.T.Helper()
	NoError(w.T, w.Follow())
}

func (w *World) Follow() error {
	page, err := w.Log.Reader.Read(w.T.Context(), w.By.Tenant, w.Read[w.By.Tenant], 100_000)
	if err != nil {
		return err
	}
	for _, meaning := range w.Base.Models.Meanings() {
		if err := read(w, meaning, page); err != nil {
			return err
		}
	}
	w.Read[w.By.Tenant] += int64(len(page))
	return nil
}

// read lets a projection of vectors read a page.
func read(w *World, meaning *vectors.Projection, page []domain.Event) error {
	after, afterID, _, err := w.Followers.Checkpoint(w.T.Context(), meaning.Name(), w.By.Tenant)
	if err != nil {
		return err
	}
	next := follow.Page{Tenant: w.By.Tenant, After: after, AfterID: afterID, Events: page}
	change, err := meaning.Prepare(w.T.Context(), next)
	if err != nil || len(page) == 0 {
		return err
	}
	err = w.DB.Transact(w.T.Context(), func(ctx context.Context, tx bun.Tx) error {
		if err := change.Write(ctx, tx); err != nil {
			return err
		}
		return w.Followers.Advance(ctx, tx, meaning.Name(), next)
	})
	if err != nil {
		return err
	}
	change.Done()
	return nil
}

// Find searches and gives the ids of the hits in order.
func (w *World) Find(search domain.Search) []string {
	w.T.Helper()
	ids := []string{}
	for _, hit := range w.Search(search).Hits {
		ids = append(ids, hit.ID)
	}
	return ids
}

func (w *World) Search(search domain.Search) domain.Answer {
	w.T.Helper()
	if search.By.Tenant == "" {
		search.By = w.By
	}
	search.Everyone, search.Copies = true, true // each item counts
	complete := Must(search.Complete())(w.T)
	answer := Must(w.Base.Searcher.Search(w.T.Context(), complete))(w.T)
	return answer
}

// Corrupt changes tables without their projection.
func Corrupt(ctx context.Context, db *database.DB, statement string) error {
	return db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		return databasetest.TamperIn(ctx, db.Engine, tx, statement)
	})
}

func IDsOf(page domain.ListPage) (ids []string) {
	for _, k := range page.Items {
		ids = append(ids, k.ID)
	}
	return ids
}

// List reads every page of a list.
func (w *World) List(list domain.List) (ids []string) {
	w.T.Helper()
	for {
		page := Must(w.Base.Browser.List(w.T.Context(), list))(w.T)
		for _, k := range page.Items {
			ids = append(ids, k.ID)
		}
		if page.Next == 0 {
			return ids
		}
		list.Before = page.Next
	}
}

// As is a member with these memberships.
func As(subject domain.Entity, memberships ...domain.Entity) domain.Principal {
	return domain.Principal{Tenant: domain.DefaultTenant, Subject: subject, Memberships: memberships, Role: domain.Member}
}

// Nearest are the ids of what lies near a text, which words cannot find.
func (w *World) Nearest(text string, context domain.Context) []string {
	w.T.Helper()
	return w.Find(domain.Search{
		Vector: w.Embed(embedding.Query, text)[0], Context: context, Order: domain.ByScore,
	})
}

var Pay = domain.Context{Given: true, Entities: []domain.Entity{"team:pay"}}

// Reopened is the world as a server sees it that starts now.
func (w *World) Reopened(do func(again *World)) {
	w.T.Helper()
	base := Must(projections.Open(w.T.Context(), w.DB, projections.Settings{}))(w.T)
	again := *w
	again.Base, again.Read = base, map[string]int64{}
	do(&again)
}

func (w *World) Helpful(id, trace string) domain.Command {
	by := w.By
	by.OnBehalfOf = domain.Entity("user:" + trace)
	return domain.GiveFeedback{Target: domain.Target{By: by, ID: id}, Verdict: domain.Helpful, TraceID: trace}
}

func (w *World) Says(session domain.SessionTarget, said ...string) domain.Receipt {
	w.T.Helper()
	command := domain.AddMessages{SessionTarget: session}
	for _, text := range said {
		command.Messages = append(command.Messages, domain.NewMessage{
			Role: domain.RoleUser, Tokens: 3, Message: domain.Message{Parts: []domain.Part{{Type: domain.PartText, Text: text}}},
		})
	}
	return w.Submit(command)
}
