package rows_test

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
	. "github.com/annals-kb/annals/projections/projectiontest"
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
			databasetest.Either(t, func(t *testing.T, db *database.DB) {
				change := of.sqlite
				if db.Engine == database.Postgres {
					change = "DROP VIEW knowledge;\n" + of.postgres
				}
				before := NewWorld(t, db, projections.Settings{})
				before.Remember("common", "retry with backoff", domain.Public)
				for i := range 5 {
					live(before, fmt.Sprint("before-", i))
				}
				Report(t, Corrupt(t.Context(), db, change))
				r := NewRebuilding(t, db, projections.Settings{})
				var answered atomic.Int64
				ctx, end := context.WithCancel(t.Context())
				clients := sync.WaitGroup{}
				defer func() { end(); clients.Wait() }()
				for client := range map[bool]int{true: 1, false: 32}[testing.Short()] {
					clients.Go(func() {
						for i := 0; ctx.Err() == nil; i++ {
							live(r.World, fmt.Sprint("live-", client, "-", i))
							answered.Add(1)
						}
					})
				}
				NoError(t, r.Rebuilder.Resume(t.Context()))
				last := r.Ended()
				r.IsActive(last, 2)
				back := Must(r.Base.Versions.Rollback(t.Context()))(t)
				Equal(t, back, 1, "version after going back")
				live(r.World, "after")
				end()
				clients.Wait()
				Equal(t, Folded(r.Items()), r.StoredIn(2), "tables (-folded +rebuilt)")
				NoError(t, r.Rebuilder.Resume(t.Context()))
				Equal(t, r.Last().Version, 2, "newest version, since somebody went back")
				t.Logf("%d rounds were answered meanwhile; intended: %v", answered.Load(), last.Report.Intended)
			})
		})
	}
}

// live remembers an item, votes on it and on a common one, revises, reports, reads, lists and searches.
func live(w *World, id string) {
	ctx := context.WithoutCancel(w.T.Context())
	target, overview := domain.Target{By: w.By, ID: id}, "retries, at last"
	of := domain.Remembered{
		Class: domain.Class{Type: domain.Strategy, Category: "cases"}, Owner: "org:acme", Scopes: []domain.Scope{"team:pay"},
		Text: domain.Text{
			Content: "retry " + id + " with a pause", Task: "call a service", Overview: "retries",
			Tags: domain.Tags{"a": {"b"}},
		},
	}
	for _, command := range []domain.Command{
		w.Complete(domain.Remember{By: w.By, ID: id, Knowledge: of}), w.Helpful(id, "t-"+id), w.Helpful("common", id),
		domain.Revise{Target: target, Changes: domain.Revised{Overview: &overview}},
		domain.ReportStale{Target: target, Reason: "gone"},
		domain.Confirm{Target: target},
		domain.Revise{Target: target, Scopes: []domain.Scope{domain.Public}},
	} {
		if _, err := w.Log.Submit(ctx, domain.Submission{By: w.By, Command: command}); err != nil {
			w.T.Errorf("%T %s: %v", command, id, err)
		}
	}
	if _, err := w.Base.Browser.Find(ctx, w.By.Tenant, "common"); err != nil {
		w.T.Errorf("find: %v", err)
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
		if _, err := w.Base.Browser.List(ctx, domain.List{By: w.By, Filter: f, Limit: 5}); err != nil {
			w.T.Errorf("list %d: %v", i, err)
		}
		search, err := domain.Search{By: w.By, Text: "retry with a pause", Filter: f}.Complete()
		if err == nil {
			_, err = w.Base.Searcher.Search(ctx, search)
		}
		if err != nil {
			w.T.Errorf("search %d: %v", i, err)
		}
	}
}

// A check names an index of words in another form, and an erasure drops it.
func TestWordsInAnotherFormAreNotCheckedAndErased(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		before := NewWorld(t, db, projections.Settings{})
		before.Secret("secret")
		Report(t, Corrupt(t.Context(), db, `ALTER TABLE knowledge_1_changes RENAME TO knowledge_1_terms`))
		w := NewWorld(t, db, projections.Settings{})
		checked := Must(projections.Check(t.Context(), db, projections.Settings{}, nil))(t)
		if len(checked.Wrong) > 0 || !slices.Contains(checked.Unchecked, "the index of words, which has another form") {
			t.Errorf("checked: %+v", checked)
		}
		if got := w.Traces(); !slices.Contains(got, "knowledge_1_terms") {
			t.Errorf("%v hold the canary, want the index, too", got)
		}
		w.Erase("secret")
		if got := w.Traces(); got != nil {
			t.Errorf("%v hold the canary", got)
		}
	})
}

// A form of a later release is neither read nor written.
func TestFormOfALaterReleaseIsRefused(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("item", "retry with backoff", "team:pay")
		Report(t, Corrupt(t.Context(), w.DB, `UPDATE projections SET settings = replace(CAST(settings AS text),
			'"form":"`+rows.Form+`"', '"form":"99"')`+map[bool]string{true: "::json"}[w.DB.Engine == database.Postgres]))
		_, err := projections.Open(t.Context(), w.DB, projections.Settings{})
		if err == nil || !strings.Contains(err.Error(), "form 99 of a later release") {
			t.Errorf("opened: %v", err)
		}
	})
}

// Each form has a number, under which testdata keeps its columns. A new one is written there.
func TestEachFormHasItsNumber(t *testing.T) {
	for _, engine := range []database.Engine{database.SQLite, database.Postgres} {
		made := Must(rows.Definition(engine, "knowledge", 1))(t) + Must(rows.Definition(engine, "knowledge_indexes", 1))(t)
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
	EachRebuilding(t, func(t *testing.T, r *Rebuilding) {
		r.Remember("item", "retry with backoff", "team:pay")
		NoError(t, r.Rebuilder.Resume(t.Context()))
		Equal(t, r.Version(), 1, "version, which needs no other")
		r.Switches(domain.RebuildOrder{})
		again := NewRebuilding(t, r.DB, projections.Settings{})
		NoError(t, again.Rebuilder.Resume(t.Context()))
		Equal(t, again.Ended().Version, 2, "newest version")
	})
}
