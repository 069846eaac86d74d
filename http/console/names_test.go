package console_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// People are called by their names, and items by their first words; the id is a hint.
func TestPagesCallPeopleAndItemsByTheirNames(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		for member, name := range map[string]string{"user:mia": "Mia <b>Chen", "team:pay": "Payments"} {
			request := client.Request{Method: "PUT", Path: []string{"v1", "directory", member}, Body: api.NewMember{DisplayName: &name}}
			if _, err := w.api.Do(t.Context(), request, nil); err != nil {
				t.Fatal(err)
			}
		}
		made := w.remember(client.Knowledge{
			Type: "strategy", Content: "Deploys stop on Friday at noon", Owner: "user:mia",
			Scopes: []string{"team:pay", "project:shop", "public"},
		})
		for _, path := range []string{"/console/knowledge", "/console/k/" + made.Knowledge.ID, "/console/search?q=deploys"} {
			_, page := w.ask(path)
			containsAll(t, page, `<bdi title="user:mia">Mia &lt;b&gt;Chen</bdi>`, " stop on Friday")
		}
		_, page := w.ask("/console/knowledge")
		containsAll(t, page, `<bdi title="team:pay">Payments</bdi>`, `<bdi title="project:shop">project shop</bdi>`)
		for _, path := range []string{"/console/", "/console/log"} {
			_, page := w.ask(path)
			containsAll(t, page, ">Deploys stop on Friday at noon</bdi></a>", ">default</bdi>")
		}
	})
}

// What people type is no mark that a name takes the place of: it stays in fields, and ends no attribute.
func TestWhatPeopleTypeIsNoMark(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		const typed = "\uE000user:mia autofocus\uE002 \uE001other\uE002"
		w.named("user:mia", "Mia")
		w.remember(client.Knowledge{ID: "other", Type: "tool", Content: "The other item."})
		w.remember(client.Knowledge{ID: "typed", Type: "tool", Task: typed, Content: typed, Tags: client.Tags{"labels": {typed}}})
		for _, path := range []string{"/console/k/typed", "/console/k/typed/act/revise", "/console/search?q=" + typed, "/console/people?q=" + typed} {
			_, page := w.ask(strings.ReplaceAll(path, " ", "%20"))
			containsAll(t, page, typed)
			if strings.Contains(page, `title="user:mia`) || strings.Contains(page, "The other item.</bdi>") {
				t.Errorf("%s has a name in the place of what was typed:\n%s", path, page)
			}
		}
	})
}

// A page with more names than one answer of the API has calls each by its name.
func TestAPageOfManyItemsCallsAllByTheirNames(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.remember(client.Knowledge{ID: "new", Type: "tool", Content: "The newest way."})
		for i := range 130 {
			id := fmt.Sprintf("old%d", i)
			w.remember(client.Knowledge{ID: id, Type: "tool", Content: fmt.Sprintf("Way number %d.", i)})
			w.supersede(id, "new")
		}
		_, page := w.ask("/console/k/new?lineage=all")
		for i := range 130 {
			if want := fmt.Sprintf(">Way number %d.</bdi>", i); !strings.Contains(page, want) {
				t.Fatalf("%s is missing", want)
			}
		}
	})
}

// endless has names and titles without a blank, as long as they may be, on an item and on the one that took its
// place, and a report of staleness as long as it may be.
func (w *world) endless() {
	w.t.Helper()
	w.named("user:default", "ليلى"+strings.Repeat("n", 250))
	w.named("team:pay", strings.Repeat("t", 256))
	for i, id := range []string{"old", "item"} {
		w.remember(client.Knowledge{
			ID: id, Type: "tool", Task: strings.Repeat("w", 2000), Content: fmt.Sprint("staging", i, strings.Repeat("z", 9000)),
			Scopes: []string{"team:pay"}, Tags: client.Tags{"labels": {strings.Repeat("y", 100)}},
		})
	}
	w.supersede("old", "item")
	must(w.api.ReportStale(w.t.Context(), "item", strings.Repeat("r", 1900)))(w.t)
}

// fits expects pages to be no wider than a phone.
func (w *world) fits(paths ...string) {
	w.t.Helper()
	p := w.open("/console/")
	p.Size(390, 800)
	for _, path := range paths {
		p.Go("/console/" + path)
		var wide int
		if p.Eval("document.documentElement.scrollWidth", &wide); wide > 390 {
			w.t.Errorf("%s is %d pixels wide", path, wide)
		}
	}
}

func TestLongNamesFitAPhone(t *testing.T) {
	onOne(t, "", func(_ *testing.T, w *world) {
		w.endless()
		w.fits("", "review", "search?q=staging", "people", "people?q=staging", "people?kind=team", "people/team:pay", "teams/team:pay",
			"teams/team:pay?begin=yes", "k/item", "k/item?as_of=3", "scopes/digest?scope=team:pay")
	})
}
