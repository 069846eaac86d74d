package projections_test

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
)

// TestWhatAnEarlierFoldSaidOfThePastIsReadAnew opens a database of a program by which an item that was restored
// after it had been superseded and forgotten held again.
func TestWhatAnEarlierFoldSaidOfThePastIsReadAnew(t *testing.T) {
	eachPast(t, func(t *testing.T, w pastWorld) {
		w.remember("old", "tabs are eight columns wide", "team:pay")
		w.remember("new", "tabs are four columns wide", "team:pay")
		target := domain.Target{By: w.by, ID: "old"}
		w.submit(domain.Supersede{Target: target, Successor: "new"})
		w.submit(domain.Delete{Target: target})
		w.submit(domain.Restore{Target: target})
		w.readOn(500)
		want := w.pastTables()
		noError(t, w.db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
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
		w.past = w.reader().Past
		before := must(w.past.List(t.Context(), domain.List{By: w.by, AsOf: 5}))(t)
		equal(t, len(before.Items), 2, "items that the earlier version answers with, meanwhile")
		w.readOn(500)
		equal(t, w.pastTables(), want, "(-read anew +what the log says)")
		w.past = w.reader().Past
		equal(t, w.past.Name(), "past_2", "version")
		equal(t, w.number("SELECT count(*) FROM projections WHERE name = 'past'"), 1, "versions that are kept")
		page, err := w.past.List(t.Context(), domain.List{By: w.by, AsOf: 5})
		if err != nil || !slices.EqualFunc(page.Items, []string{"new"},
			func(k *domain.Knowledge, id string) bool { return k.ID == id }) {
			t.Errorf("what holds is %v, %v", page.Items, err)
		}
	})
}

func TestAPageOfThePastIsReadWithItsTextsInOneStatement(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		listener := &statements{}
		db.AddQueryHook(listener)
		w := pastWorld{world: newWorld(t, db, projections.Settings{})}
		w.past = w.reader().Past
		w.fill(newCorpus(8), 300)
		w.readOn(500)
		if db.Engine == database.Postgres {
			w.exec("ANALYZE")
		}
		position := w.head()
		w.remember("later", "what came later", domain.Public)
		member := domain.Principal{Tenant: w.by.Tenant, Subject: "user:alice", Role: domain.Member}
		for name, list := range map[string]domain.List{
			"everything": {By: w.by}, "a member's": {By: member},
			"a scope's": {By: w.by, Filter: domain.Filter{Scope: domain.Public}},
		} {
			list.AsOf, list.Limit = position, 5
			sent := slices.DeleteFunc(listener.during(func() {
				page, err := w.past.List(t.Context(), list)
				if err != nil || len(page.Items) == 0 || page.Items[0].Text.Content == "" {
					t.Errorf("%s: %+v, %v", name, page, err)
				}
			}), func(q query) bool { // the catalogue is read again from time to time
				return !strings.Contains(q.text, "past_1") && !strings.Contains(q.text, "events")
			})
			if len(sent) != 1 {
				t.Errorf("%s took %d statements: %v", name, len(sent), sent)
				continue
			}
			if !w.leadsToTexts(sent[0]) {
				t.Errorf("%s: no index leads to its texts in\n%s", name, sent[0].text)
			}
		}
	})
}

var sqliteLeads = regexp.MustCompile(`^SEARCH (e|t) USING .*\(tenant=\? AND position=\?\)`)

// leadsToTexts tells whether a query can find events and their texts by their positions, as it does in a large log.
func (w *world) leadsToTexts(q query) bool {
	found := 0
	if w.db.Engine == database.SQLite {
		for _, step := range w.steps(q.text) {
			if sqliteLeads.MatchString(step) {
				found++
			}
		}
		return found == 2
	}
	for _, way := range []string{"seqscan", "bitmapscan", "hashjoin", "mergejoin", "material"} { // ways for small tables
		q.settings += "SET LOCAL enable_" + way + " = off;\n"
	}
	nodes, _ := w.explained(q, "")
	for _, table := range []string{"events", "event_texts"} {
		if slices.ContainsFunc(nodes, func(n *node) bool {
			return n.Relation == table && strings.Contains(n.Condition, "position")
		}) {
			found++
		}
	}
	return found == 2
}

// tagBits are how many of the rows of an item tell what tags it had.
func (w pastWorld) tagBits(id string) int {
	w.t.Helper()
	return w.number("SELECT count(*) FROM past_1 WHERE tenant = ? AND id = ? AND tag_bits NOT IN (0, -1)", w.by.Tenant, id)
}

func TestErasingDestroysWhatTellsOfTags(t *testing.T) {
	eachPast(t, func(t *testing.T, w pastWorld) {
		w.secret("secret")
		w.secret("kept")
		w.readOn(500)
		if w.tagBits("secret") < 2 || w.tagBits("kept") < 2 {
			t.Fatalf("%d and %d rows tell of tags", w.tagBits("secret"), w.tagBits("kept"))
		}
		w.erase("secret")
		if w.tagBits("secret") > 0 {
			t.Error("the bits are there as soon as the texts are gone")
		}
		w.readOn(500)
		if w.tagBits("secret") > 0 || w.tagBits("kept") < 2 {
			t.Errorf("then, %d and %d rows tell of tags", w.tagBits("secret"), w.tagBits("kept"))
		}
	})
}

func TestTagsOfThePastAreThoseOfEachTime(t *testing.T) {
	eachPast(t, func(t *testing.T, w pastWorld) {
		var positions []int64
		tagged := func(tags domain.Tags) {
			w.submit(domain.Revise{Target: domain.Target{By: w.by, ID: "i"}, Changes: domain.Revised{Tags: &tags}})
			w.readOn(500)
			positions = append(positions, w.head())
		}
		w.remember("i", "something", domain.Public)
		for n := range 70 { // every bit is used, and some are of several
			tagged(domain.Tags{fmt.Sprint("key", n): {fmt.Sprint("value", n), "支付"}})
		}
		tagged(domain.Tags{})
		for n, position := range positions[:70] {
			key := fmt.Sprint("key", n)
			for _, values := range [][]string{nil, {"支付"}, {"none", fmt.Sprint("value", n)}} {
				found := func(at int64) int {
					page := must(w.past.List(t.Context(), domain.List{
						By: w.by, AsOf: at,
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
