package past_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// TestWhatAnEarlierFoldSaidOfThePastIsReadAnew opens a database of a program by which an item that was restored
// after it had been superseded and forgotten held again.
func TestWhatAnEarlierFoldSaidOfThePastIsReadAnew(t *testing.T) {
	EachPast(t, func(t *testing.T, w PastWorld) {
		w.Remember("old", "tabs are eight columns wide", "team:pay")
		w.Remember("new", "tabs are four columns wide", "team:pay")
		target := domain.Target{By: w.By, ID: "old"}
		w.Submit(domain.Supersede{Target: target, Successor: "new"})
		w.Submit(domain.Delete{Target: target})
		w.Submit(domain.Restore{Target: target})
		w.ReadOn(500)
		want := w.PastTables()
		NoError(t, w.DB.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
			for _, was := range []string{
				`UPDATE past_1 SET status = 'active', superseded_by = '' WHERE id = 'old'`,
				`UPDATE projections SET settings = '{"fold":"past/1","tokenizer":"` + text.TokenizerVersion +
					`"}' WHERE name = 'past'`,
			} {
				if _, err := tx.ExecContext(ctx, was); err != nil {
					return err
				}
			}
			return nil
		}))
		w.Past = w.Reader().Past
		before := Must(w.Past.List(t.Context(), domain.List{By: w.By, AsOf: 5}))(t)
		Equal(t, len(before.Items), 2, "items that the earlier version answers with, meanwhile")
		w.ReadOn(500)
		Equal(t, w.PastTables(), want, "(-read anew +what the log says)")
		w.Past = w.Reader().Past
		Equal(t, w.Past.Name(), "past_2", "version")
		Equal(t, w.Number("SELECT count(*) FROM projections WHERE name = 'past'"), 1, "versions that are kept")
		page, err := w.Past.List(t.Context(), domain.List{By: w.By, AsOf: 5})
		if err != nil || !slices.EqualFunc(page.Items, []string{"new"},
			func(k *domain.Knowledge, id string) bool { return k.ID == id }) {
			t.Errorf("what holds is %v, %v", page.Items, err)
		}
	})
}

func TestAPageOfThePastIsReadWithItsTextsInOneStatement(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		listener := &Statements{}
		db.AddQueryHook(listener)
		w := PastWorld{World: NewWorld(t, db, projections.Settings{})}
		w.Past = w.Reader().Past
		w.Fill(NewCorpus(8), 300)
		w.ReadOn(500)
		if db.Engine == database.Postgres {
			w.Exec("ANALYZE")
		}
		position := w.Head()
		w.Remember("later", "what came later", domain.Public)
		member := domain.Principal{Tenant: w.By.Tenant, Subject: "user:alice", Role: domain.Member}
		for name, list := range map[string]domain.List{
			"everything": {By: w.By}, "a member's": {By: member},
			"a scope's": {By: w.By, Filter: domain.Filter{Scope: domain.Public}},
		} {
			list.AsOf, list.Limit = position, 5
			sent := slices.DeleteFunc(listener.During(func() {
				page, err := w.Past.List(t.Context(), list)
				if err != nil || len(page.Items) == 0 || page.Items[0].Text.Content == "" {
					t.Errorf("%s: %+v, %v", name, page, err)
				}
			}), func(q Query) bool { // the catalogue is read again from time to time
				return !strings.Contains(q.Text, "past_1") && !strings.Contains(q.Text, "events")
			})
			if len(sent) != 1 {
				t.Errorf("%s took %d statements: %v", name, len(sent), sent)
				continue
			}
			if !leadsToTexts(w.World, sent[0]) {
				t.Errorf("%s: no index leads to its texts in\n%s", name, sent[0].Text)
			}
		}
	})
}

var sqliteLeads = regexp.MustCompile(`^SEARCH (e|t) USING .*\(tenant=\? AND position=\?\)`)

// leadsToTexts tells whether a query can find events and their texts by their positions, as it does in a large log.
func leadsToTexts(w *World, q Query) bool {
	found := 0
	if w.DB.Engine == database.SQLite {
		for _, step := range w.Steps(q.Text) {
			if sqliteLeads.MatchString(step) {
				found++
			}
		}
		return found == 2
	}
	for _, way := range []string{"seqscan", "bitmapscan", "hashjoin", "mergejoin", "material"} { // ways for small tables
		q.Settings += "SET LOCAL enable_" + way + " = off;\n"
	}
	nodes, _ := w.Explained(q, "")
	for _, table := range []string{"events", "event_texts"} {
		if slices.ContainsFunc(nodes, func(n *Node) bool {
			return n.Relation == table && strings.Contains(n.Condition, "position")
		}) {
			found++
		}
	}
	return found == 2
}

// tagBits are how many of the rows of an item tell what tags it had.
func tagBits(w PastWorld, id string) int {
	w.T.Helper()
	return w.Number("SELECT count(*) FROM past_1 WHERE tenant = ? AND id = ? AND tag_bits NOT IN (0, -1)", w.By.Tenant, id)
}

func TestErasingDestroysWhatTellsOfTags(t *testing.T) {
	EachPast(t, func(t *testing.T, w PastWorld) {
		w.Secret("secret")
		w.Secret("kept")
		w.ReadOn(500)
		if tagBits(w, "secret") < 2 || tagBits(w, "kept") < 2 {
			t.Fatalf("%d and %d rows tell of tags", tagBits(w, "secret"), tagBits(w, "kept"))
		}
		w.Erase("secret")
		if tagBits(w, "secret") > 0 {
			t.Error("the bits are there as soon as the texts are gone")
		}
		w.ReadOn(500)
		if tagBits(w, "secret") > 0 || tagBits(w, "kept") < 2 {
			t.Errorf("then, %d and %d rows tell of tags", tagBits(w, "secret"), tagBits(w, "kept"))
		}
	})
}

func TestTagsOfThePastAreThoseOfEachTime(t *testing.T) {
	EachPast(t, func(t *testing.T, w PastWorld) {
		var positions []int64
		tagged := func(tags domain.Tags) {
			w.Submit(domain.Revise{Target: domain.Target{By: w.By, ID: "i"}, Changes: domain.Revised{Tags: &tags}})
			w.ReadOn(500)
			positions = append(positions, w.Head())
		}
		w.Remember("i", "something", domain.Public)
		for n := range 70 { // every bit is used, and some are of several
			tagged(domain.Tags{fmt.Sprint("key", n): {fmt.Sprint("value", n), "支付"}})
		}
		tagged(domain.Tags{})
		for n, position := range positions[:70] {
			if testing.Short() && n%9 > 0 {
				continue
			}
			key := fmt.Sprint("key", n)
			for _, values := range [][]string{nil, {"支付"}, {"none", fmt.Sprint("value", n)}} {
				found := func(at int64) int {
					page := Must(w.Past.List(t.Context(), domain.List{
						By: w.By, AsOf: at,
						Filter: domain.Filter{Tags: domain.Tags{key: values}},
					}))(t)
					return len(page.Items)
				}
				if found(position) != 1 || found(positions[n+1]) != 0 {
					t.Errorf("%s %v: %d items at its time, %d later", key, values, found(position), found(positions[n+1]))
				}
			}
		}
	})
}
