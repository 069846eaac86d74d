package knowledge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/logtest"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestALogKeepsItsPromisesWithTheKnowledgeTable(t *testing.T) {
	t.Parallel()
	logtest.Run(t, func(t *testing.T, db *database.DB) events.Inline {
		base := Must(projections.Open(t.Context(), db, projections.Settings{}))(t)
		return base.Projection
	})
}

func TestWhatElseIsInTheLogDoesNotConcernKnowledge(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		r := NewRebuilding(t, db, projections.Settings{Embedder: Tiny{}})
		r.Rebuilder.SliceStreams, r.Rebuilder.BatchRows = 2, 3
		for i := range 7 { // a tenant with nothing else, too
			r.Submit(Elsewhere(fmt.Sprint("before-", i), 1))
			r.In("other").Submit(Elsewhere(fmt.Sprint("other-", i), 1))
			r.Remember(fmt.Sprint("item-", i), "server tomato", "team:pay")
		}
		r.At("catching_up", func() {
			for i := range 9 {
				r.Submit(Elsewhere(fmt.Sprint("meanwhile-", i), 2))
			}
			r.Submit(domain.Delete{Target: domain.Target{By: r.By, ID: "item-6"}})
		})
		r.At("verifying", func() { r.Submit(Elsewhere("late", 2)) })
		last := r.Run()
		if last.State != "active" || !last.Report.Passed || last.Report.Items != 7 {
			t.Errorf("the rebuild is %s, its report %+v, want 7 items", last.State, last.Report)
		}
		r.Understand()
		found := r.Find(domain.Search{Text: "tomato", Context: Pay})
		slices.Sort(found)
		Equal(t, found, []string{"item-0", "item-1", "item-2", "item-3", "item-4", "item-5"}, "found (-got +want)")
		Equal(t, r.Stored(), Folded(r.Items()), "tables (-live +folded)")
		page, err := r.Base.Browser.List(t.Context(), domain.List{By: r.By})
		if err != nil || len(page.Items) != 6 {
			t.Errorf("listed %d items (%v), want 6", len(page.Items), err)
		}
	})
}

// whatever means something to SQL, to arrays or to the query builder.
const whatever = `dir\file o'neill it's a "quoted" C:\path\'x' \ {a,b} NULL "NULL" $1 ? ?0 :name %s -- ; /* */ ` +
	"`tick` \t\n\r 知识''库 \u2028 \U0001F4A1"

func TestWhateverPeopleWriteIsStoredAsItIs(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		for id, content := range map[string]string{
			"short": whatever,
			"long":  whatever + DistinctWords(2000), // too long for a bag
		} {
			w.Know(id, domain.Remembered{
				Class: domain.Class{Type: domain.Tool}, Scopes: []domain.Scope{"team:pay"},
				Text: domain.Text{
					Content: content, Task: strings.TrimSpace(whatever), Abstract: whatever, Overview: whatever,
					Tags: domain.Tags{"path": {`C:\it's\"here"`}}, Meta: []byte(`{"quote":"it's \"\\"}`),
				},
				Source: domain.Source{Name: whatever, URLs: []string{`file:///C:\'`}, TraceID: `a'b"c\d`},
			})
		}
		Equal(t, Folded(w.Items()), w.Stored(), "tables (-folded +stored)")
		for _, question := range []string{`c:\path`, "知识"} {
			if got := len(w.Find(domain.Search{Text: question})); got != 2 {
				t.Errorf("found %d items about %s, want both", got, question)
			}
		}
	})
}
