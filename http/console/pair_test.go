package console_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// contradicted remembers two deploy windows, and proposes to review them.
func (w *world) contradicted() {
	w.t.Helper()
	w.remember(client.Knowledge{ID: "other", Type: "plan", Task: "When do we deploy?", Content: "We deploy on Thursdays at ten."})
	w.remember(client.Knowledge{ID: "window", Type: "plan", Task: "When do we deploy?", Content: "We deploy on Tuesdays at ten."})
	w.propose("contradiction")
}

// propose proposes to review items together; the two deploy windows if none are named.
func (w *world) propose(kind string, items ...string) (id string) {
	w.t.Helper()
	if len(items) == 0 {
		items = []string{"window", "other"}
	}
	proposal := api.NewProposal{Kind: kind, Items: items}
	var made api.Proposal
	if _, err := w.api.Do(w.t.Context(), client.Post(proposal, "v1", "reviews", "proposals"), &made); err != nil {
		w.t.Fatal(err)
	}
	return made.ID
}

func TestAContradictionIsSolvedSideBySide(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.contradicted()
		p := w.open("/console/review")
		p.WaitFor(".sides")
		left := p.Text(".sides section:first-child del") // the item under review
		if right := p.Text(".sides section:last-child ins"); left == right || len(left) < len("Tuesdays") {
			t.Errorf("%q and %q are marked", left, right)
		}
		kept, superseded := "window", "other"
		if strings.Contains(left, "Tuesdays") {
			kept, superseded = superseded, kept
		}
		p.Press("ArrowRight")
		p.WaitFor(".done")
		containsAll(t, p.Text("main"), "takes the place of the others", "Nothing to do")
		if got := w.status(kept) + " " + w.status(superseded); got != "active superseded" {
			t.Error(got)
		}
		p.Press("u")
		p.WaitFor(".done:not(:has(button))")
		containsAll(t, p.Text(".done"), "The merge is undone")
		if got := w.status(kept) + " " + w.status(superseded); got != "active active" {
			t.Error(got)
		}
		w.propose("duplicate")
		p.Go("/console/review?queue=duplicate")
		p.WaitFor(".sides")
		p.Press("k")
		p.WaitFor(".done")
		containsAll(t, p.Text("main"), "All are right", "Nothing to do")
	})
}

// A group is settled by one click, and by the keys of the terminal.
func TestOneDecisionSettlesAGroup(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		days := []string{"Monday", "Tuesday", "Wednesday", "Friday"}
		for _, day := range days {
			w.remember(client.Knowledge{ID: day, Type: "plan", Content: "We deploy on " + day + "."})
		}
		p := w.open("/console/")
		for _, settle := range []func(){
			func() { p.Click(".sides section:nth-child(3) button") },
			func() { p.Press("3") },
			func() { p.Press("k") },
		} {
			for _, day := range days[1:] {
				w.propose("contradiction", "Monday", day)
			}
			p.Go("/console/k/Monday")
			containsAll(t, p.Text(".facts"), "Disputed by 3 others")
			p.Click(`main a[href*="item=Monday"]`)
			p.WaitFor(".sides section:nth-child(4)")
			containsAll(t, p.Text("main"), append(days, "1 of 1")...)
			p.Axe()
			p.Press("c") // alone
			p.WaitFor(".done")
			containsAll(t, p.Text(".done"), "It is confirmed", "It still contradicts", "We deploy on")
			var holds string
			p.Eval(`document.querySelector(".sides section:nth-child(3) button").value`, &holds)
			settle()
			p.WaitFor(".empty")
			merged := p.Count(".done button") > 0
			for _, day := range days {
				if got := w.status(day); (got == "active") != (day == holds || !merged) {
					t.Errorf("%s holds, and %s is %s", holds, day, got)
				}
			}
			if merged {
				p.Press("u")
				p.WaitFor(".done:not(:has(button))")
			}
		}
		first, second := w.propose("duplicate", days[:2]...), w.propose("duplicate", days[1:]...)
		w.send(http.DefaultClient, "/console/review", "act", "distinct", "proposal", second)
		status, _ := w.send(http.DefaultClient, "/console/review", "act", "dismissed", "proposal", first, "proposal", second)
		if status != http.StatusConflict {
			t.Error(status)
		}
		if status, page := w.send(http.DefaultClient, "/console/review", "act", "distinct", "proposal", first); status != http.StatusOK {
			t.Errorf("it was closed by a decision that was refused: %d\n%s", status, page)
		}
	})
}

func TestAStewardIsOfferedWhatTheyMayDo(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.staff()
		mia, _ := w.given("user:mia")
		hers := w.login(mia)
		for _, id := range []string{"other", "window"} {
			w.remember(client.Knowledge{ID: id, Type: "plan", Content: "The " + id + ".", Owner: "user:zoe", Scopes: []string{"team:pay"}})
		}
		w.propose("duplicate")
		const path = "/console/review?queue=duplicate"
		_, page := w.visit(hers, path)
		containsAll(t, page, "Keep this one", "Only an owner may give", "/act/supersede", `value="confirm"`)
		for _, offered := range []string{"/act/revise", "/act/handover", `value="forget"`, ` id="content"`} {
			if strings.Contains(page, offered) {
				t.Errorf("it offers %s", offered)
			}
		}
		root := w.login(rootKey)
		_, page = w.visit(root, path)
		containsAll(t, page, "/act/revise", "Merge with this text", "The window.\n\nThe other.")
		merge := []string{
			"id", "window", "revision", "1", "id", "other", "revision", "1",
			"merged", "window", "content", "Both of them.", "reason", "one is enough",
		}
		status, page := w.send(hers, path, merge...)
		if containsAll(t, page, "one is enough"); status != http.StatusForbidden {
			t.Error(status)
		}
		overtaken := slices.Clone(merge)
		overtaken[3] = "7"
		if status, page = w.send(root, path, overtaken...); status != http.StatusPreconditionFailed {
			t.Error(status)
		}
		containsAll(t, page, "Both of them.", "one is enough")
		if _, page = w.send(root, path, merge...); w.status("other") != "superseded" {
			t.Error(page)
		}
		if k, err := w.api.Knowledge(t.Context(), "window"); err != nil || k.Content != "Both of them." {
			t.Error(k.Content, err)
		}
	})
}
