package projections_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/rows"
)

// forms are what another release, or a person, may have made of the tables of version 1, as statements for either
// engine. Empty statements are for the other one alone.
var forms = map[string]struct{ sqlite, postgres string }{
	"dropped": both(`ALTER TABLE knowledge_1 DROP COLUMN overview`),
	"many dropped": both(strings.Repeat(`ALTER TABLE knowledge_1 DROP COLUMN %s;`, 21), strings.Fields(`visibility
		type context_type category polarity media held task content abstract overview tags meta source trace_id scopes
		baseline relations words helpful revision`)...),
	"dropped of votes and reports": both(`ALTER TABLE knowledge_1_votes DROP COLUMN query;
		ALTER TABLE knowledge_1_votes DROP COLUMN trace_id; ALTER TABLE knowledge_1_reports DROP COLUMN suspended`),
	"added":   both(`ALTER TABLE knowledge_1 ADD COLUMN mood text`),
	"renamed": both(`ALTER TABLE knowledge_1 RENAME COLUMN overview TO summary`),
	"retyped": {
		`ALTER TABLE knowledge_1 ADD COLUMN other TEXT; UPDATE knowledge_1 SET other = helpful;
		ALTER TABLE knowledge_1 DROP COLUMN helpful; ALTER TABLE knowledge_1 RENAME COLUMN other TO helpful`,
		`ALTER TABLE knowledge_1 ALTER COLUMN helpful TYPE text USING helpful || ' votes', ALTER COLUMN tags TYPE json,
			ALTER COLUMN words TYPE bigint,
			ALTER COLUMN stale_since TYPE text, ALTER COLUMN held TYPE text, ALTER COLUMN scopes TYPE jsonb;
		ALTER TABLE knowledge_1 ADD COLUMN mood bytea NOT NULL DEFAULT '';
		ALTER TABLE knowledge_1 ALTER COLUMN mood DROP DEFAULT;
		ALTER TABLE knowledge_1_votes ADD COLUMN weight integer NOT NULL DEFAULT 1;
		ALTER TABLE knowledge_1_votes ALTER COLUMN weight DROP DEFAULT`,
	},
	"lacking words":    both(`DROP TABLE knowledge_1_blocks`),
	"other words":      both(`ALTER TABLE knowledge_1_changes RENAME COLUMN was TO before`),
	"lacking an index": both(`DROP INDEX knowledge_1_owner; DROP INDEX knowledge_1_gone; DROP INDEX knowledge_1_updated`),
}

func both(statements string, values ...string) struct{ sqlite, postgres string } {
	var of []any
	for _, value := range values {
		of = append(of, value)
	}
	if len(of) > 0 {
		statements = fmt.Sprintf(statements, of...)
	}
	return struct{ sqlite, postgres string }{statements, statements}
}

// A program that finds its tables in another form serves them at once, reads and writes, while it builds its own form
// beside them, switches to it, and can go back.
func TestAnotherFormIsServedWhileItIsRebuilt(t *testing.T) {
	t.Parallel()
	for name, of := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			databasetest.Each(t, func(t *testing.T, db *database.DB) {
				change := of.sqlite
				if db.Engine == database.Postgres {
					change = "DROP VIEW knowledge;\n" + of.postgres
				}
				before := newWorld(t, db, projections.Settings{})
				before.remember("common", "retry with backoff", domain.Public)
				for i := range 5 {
					before.live(fmt.Sprint("before-", i))
				}
				report(t, corrupt(t.Context(), db, change))
				r := newRebuilding(t, db, projections.Settings{})
				var answered atomic.Int64
				ctx, end := context.WithCancel(t.Context())
				clients := sync.WaitGroup{}
				defer func() { end(); clients.Wait() }()
				for client := range map[bool]int{true: 4, false: 32}[testing.Short()] {
					clients.Go(func() {
						for i := 0; ctx.Err() == nil; i++ {
							r.live(fmt.Sprint("live-", client, "-", i))
							answered.Add(1)
						}
					})
				}
				noError(t, r.Resume(t.Context()))
				last := r.ended()
				r.isActive(last, 2)
				back := must(r.base.Versions.Rollback(t.Context()))(t)
				equal(t, back, 1, "version after going back")
				r.live("after")
				end()
				clients.Wait()
				equal(t, folded(r.items()), r.storedIn(2), "tables (-folded +rebuilt)")
				noError(t, r.Resume(t.Context()))
				equal(t, r.last().Version, 2, "newest version, since somebody went back")
				t.Logf("%d rounds were answered meanwhile; intended: %v", answered.Load(), last.Report.Intended)
			})
		})
	}
}

// live remembers an item, votes on it and on a common one, revises, reports, reads, lists and searches.
func (w *world) live(id string) {
	ctx := context.WithoutCancel(w.t.Context())
	target, overview := domain.Target{By: w.by, ID: id}, "retries, at last"
	of := domain.Remembered{
		Class: domain.Class{Type: domain.Strategy, Category: "cases"}, Owner: "org:acme", Scopes: []domain.Scope{"team:pay"},
		Text: domain.Text{
			Content: "retry " + id + " with a pause", Task: "call a service", Overview: "retries",
			Tags: domain.Tags{"a": {"b"}},
		},
	}
	for _, command := range []domain.Command{
		w.complete(domain.Remember{By: w.by, ID: id, Knowledge: of}), w.helpful(id, "t-"+id), w.helpful("common", id),
		domain.Revise{Target: target, Changes: domain.Revised{Overview: &overview}},
		domain.ReportStale{Target: target, Reason: "gone"},
		domain.Confirm{Target: target},
		domain.Revise{Target: target, Scopes: []domain.Scope{domain.Public}},
	} {
		if _, err := w.log.Submit(ctx, domain.Submission{By: w.by, Command: command}); err != nil {
			w.t.Errorf("%T %s: %v", command, id, err)
		}
	}
	if _, err := w.base.Browser.Find(ctx, w.by.Tenant, "common"); err != nil {
		w.t.Errorf("find: %v", err)
	}
	for i, f := range []domain.Filter{
		{},
		{Types: []domain.Type{domain.Strategy}},
		{Tags: domain.Tags{"a": {"b"}}},
		{Scope: "team:pay"},
		{Stale: new(bool)},
		{Contested: new(bool)},
		{Owner: "org:acme"},
		{Statuses: []domain.Status{domain.IsDeleted}},
		{Polarity: domain.Negative},
	} {
		if _, err := w.base.Browser.List(ctx, domain.List{By: w.by, Filter: f, Limit: 5}); err != nil {
			w.t.Errorf("list %d: %v", i, err)
		}
		search, err := domain.Search{By: w.by, Text: "retry with a pause", Filter: f}.Complete()
		if err == nil {
			_, err = w.base.Searcher.Search(ctx, search)
		}
		if err != nil {
			w.t.Errorf("search %d: %v", i, err)
		}
	}
}

// A check names an index of words in another form, and an erasure drops it.
func TestWordsInAnotherFormAreNotCheckedAndErased(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		before := newWorld(t, db, projections.Settings{})
		before.secret("secret")
		report(t, corrupt(t.Context(), db, `ALTER TABLE knowledge_1_changes RENAME TO knowledge_1_terms`))
		w := newWorld(t, db, projections.Settings{})
		checked := must(projections.Check(t.Context(), db, projections.Settings{}, nil))(t)
		if len(checked.Wrong) > 0 || !slices.Contains(checked.Unchecked, "the index of words, which has another form") {
			t.Errorf("checked: %+v", checked)
		}
		if got := w.traces(); !slices.Contains(got, "knowledge_1_terms") {
			t.Errorf("%v hold the canary, want the index, too", got)
		}
		w.erase("secret")
		if got := w.traces(); got != nil {
			t.Errorf("%v hold the canary", got)
		}
	})
}

// Tables of meaning in another form are made again, and searches use words meanwhile. No text whose vector can be
// read is sent to the model again.
func TestMeaningInAnotherFormIsMadeAgain(t *testing.T) {
	t.Parallel()
	for change, again := range map[string]bool{
		"ALTER TABLE meaning_1 DROP COLUMN sketch":                     false,
		"ALTER TABLE meaning_1 ADD COLUMN mood text":                   false,
		"ALTER TABLE vectors_1 RENAME COLUMN vector TO representation": true,
		"DROP TABLE vectors_1":                                         true,
	} {
		databasetest.Each(t, func(t *testing.T, db *database.DB) {
			e := newEndpoint(t)
			settings := projections.Settings{Embedder: e.model(t, "small")}
			before, stop := served(t, db, settings)
			before.remember("item", "retry with backoff", "team:pay")
			before.until("the item has a vector", func() bool { return before.lag() == 0 })
			stop()
			report(t, corrupt(t.Context(), db, change))
			w, _ := served(t, db, settings)
			hit := func() domain.Hit { return w.search(domain.Search{Text: "backoff"}).Hits[0].Hit }
			equal(t, hit().ID, "item", "found at once")
			w.remember("later", "wait and try once more", "team:pay")
			w.until("the item is found by meaning", func() bool { return hit().Semantic > 0 })
			for text, times := range e.times("small") {
				if strings.Contains(text, "retry") && times > 1 != again {
					t.Errorf("%s: the model was asked %d times for %q", change, times, text)
				}
			}
			equal(t, w.spaces(), []string{"openai:small:96 active"}, "spaces (-got +want)")
			equal(t, newWorld(t, db, settings).spaces(), w.spaces(), "spaces of the next start (-got +want)")
		})
	}
}

// A form of a later release is neither read nor written.
func TestFormOfALaterReleaseIsRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("item", "retry with backoff", "team:pay")
		report(t, corrupt(t.Context(), w.db, `UPDATE projections SET settings = replace(CAST(settings AS text),
			'"form":"`+rows.Form+`"', '"form":"99"')`+map[bool]string{true: "::json"}[w.db.Engine == database.Postgres]))
		_, err := projections.Open(t.Context(), w.db, projections.Settings{})
		if err == nil || !strings.Contains(err.Error(), "form 99 of a later release") {
			t.Errorf("opened: %v", err)
		}
	})
}

// Each form has a number, under which testdata keeps its columns. A new one is written there.
func TestEachFormHasItsNumber(t *testing.T) {
	for _, engine := range []database.Engine{database.SQLite, database.Postgres} {
		made := must(rows.Definition(engine, "knowledge", 1))(t) + must(rows.Definition(engine, "knowledge_indexes", 1))(t)
		var form strings.Builder
		layout := database.LayoutMade(made)
		for _, c := range layout.Columns {
			fmt.Fprintln(&form, c.Table, c.Name, c.Type, c.Required)
		}
		fmt.Fprintln(&form, strings.Join(layout.Indexes, "\n"))
		file := fmt.Sprintf("testdata/forms/%s.%s.txt", rows.Form, engine)
		kept, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			err = os.WriteFile(file, []byte(form.String()), 0o600)
			t.Errorf("%s was missing and is written (%v)", file, err)
		} else if string(kept) != form.String() {
			t.Errorf("the tables have other columns or indexes than %s: raise rows.Form", file)
		}
	}
}

// Tables that this program makes are in its form.
func TestTablesAreInTheirForm(t *testing.T) {
	eachRebuilding(t, func(t *testing.T, r *rebuilding) {
		r.remember("item", "retry with backoff", "team:pay")
		noError(t, r.Resume(t.Context()))
		equal(t, r.version(), 1, "version, which needs no other")
		r.switches(domain.RebuildOrder{})
		again := newRebuilding(t, r.db, projections.Settings{})
		noError(t, again.Resume(t.Context()))
		equal(t, again.ended().Version, 2, "newest version")
	})
}
