package console_test

import (
	"strings"
	"testing"
	"time"
)

func TestTheLogIsCountedOverTimeAndABarNarrowsIt(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		p := w.open("/console/log?name=knowledge.remembered")
		bars, sum := p.Count("main .bars a"), 0
		p.Eval(`[...document.querySelectorAll("main details table td.n")].reduce((n, cell) => n + Number(cell.textContent), 0)`, &sum)
		if bars == 0 || sum != 2 {
			t.Errorf("got %d bars with %d events, want 2 events", bars, sum)
		}
		var first string
		p.Eval(`document.querySelector("main .bars a").getAttribute("href")`, &first)
		p.Go(first)
		containsAll(t, p.URL(), "from=", "to=", "name=knowledge.remembered")
		if got := p.Text("main table"); !strings.Contains(got, "Where is staging?") {
			t.Errorf("the part of the first bar has no event: %s", got)
		}
		p.Go("/console/log?q=staging")
		if p.Count(".bars") != 0 {
			t.Error("words cannot be counted, but are")
		}
	})
}

func TestTheTimeBarGoesADayBackAndOn(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		if _, now := w.ask("/console/"); strings.Contains(now, "histogram") {
			t.Error("a page of the present counts the log")
		}
		p := w.open("/console/?as_of=4")
		if p.Count(".timebar .bars a") == 0 || p.Count(".timebar .bars .moment") != 1 {
			t.Error("the time bar shows no counts, or not the moment")
		}
		p.Press("{")
		p.WaitFor(`body.past .timebar input[name=as_of][value^="` + time.Now().UTC().Format("2006-01-02") + `"]`)
		containsAll(t, p.Text(".timebar"), "As of #1")
		p.Press("}")
		p.WaitFor("body:not(.past)")
	})
}

func TestTheActivityOfAWeekLeadsToItsPartOfTheLog(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.tell()
		for path, want := range map[string]string{"/console/scopes": "5 events</title>", "/console/scopes?as_of=2": "2 events</title>"} {
			_, page := w.visit(w.login(rootKey), path)
			containsAll(t, page, want, `href="/console/log?`)
		}
		key, _ := w.given("user:nobody")
		if _, page := w.visit(w.login(key), "/console/scopes"); strings.Contains(page, "events</title>") {
			t.Errorf("who sees no event sees activity:\n%s", page)
		}
	})
}
