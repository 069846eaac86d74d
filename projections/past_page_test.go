package projections_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
)

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
	nodes, _ := w.explained(q)
	for _, table := range []string{"events", "event_texts"} {
		if slices.ContainsFunc(nodes, func(n *node) bool {
			return n.Relation == table && strings.Contains(n.Condition, "position")
		}) {
			found++
		}
	}
	return found == 2
}
