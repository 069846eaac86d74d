package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/servertest"
)

// asMia does something as another user than that of the console, on a server without keys.
func (w *world) asMia(method, path string, body any) {
	w.t.Helper()
	status, _, answer := servertest.Send(w.t, http.DefaultClient, servertest.Request(w.t, method, w.url+path, body,
		"Annals-Actor: user:mia"))
	if status >= http.StatusBadRequest {
		w.t.Fatalf("%s: %d %s", path, status, answer)
	}
}

// Nine reviews are decided on Home with nine keys or taps, each in place, and the last one is taken back.
func TestNineReviewsTakeNineKeysOnHome(t *testing.T) {
	onEachScreen(t, "", func(w *world, h *hand) {
		w.contradicted()
		w.stale(8)
		h.Go("/console/")
		h.Eval(`navigator.setAppBadge = async (n) => { window.badge = n }`, nil)
		phone := strings.Contains(w.t.Name(), "phone")
		for i := range 9 {
			h.WaitFor(fmt.Sprintf(`progress[value="%d"][max="9"]`, i+1))
			h.says("#progress", fmt.Sprintf("%d of 9", i+1), fmt.Sprintf("%d / 9", i+1))
			if h.Count(".sides") > 0 {
				containsAll(w.t, h.Text(".sides del")+h.Text(".sides ins"), "days")
			} else {
				h.says("article ul", "default reported stale", "default 报告过时")
				containsAll(w.t, h.Text("article ul"), "it moved")
			}
			h.Axe()
			switch pair := h.Count(".sides") > 0; {
			case phone && pair:
				h.use("button[name=stays]")
			case phone:
				h.use("button[value=forget]")
			case pair:
				h.key("ArrowLeft")
			default:
				h.key("d")
			}
		}
		h.WaitFor("#deciding .empty")
		h.took(9)
		var badge int
		if h.Eval("window.badge", &badge); badge != 0 {
			w.t.Errorf("the icon on a home screen shows %d", badge)
		}
		if got := strings.TrimPrefix(h.URL(), w.url); got != "/console/" {
			w.t.Errorf("the page is %s", got)
		}
		h.WaitFor(".undo button")
		h.use(".undo button")
		h.WaitFor(`progress[value="9"][max="9"]`)
	})
}

// The button that takes an act back goes after ten seconds.
func TestAnActCanBeTakenBackForTenSeconds(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.stale(2)
		p := w.open("/console/")
		p.Press("d")
		p.WaitFor(".undo button")
		var seconds float64
		p.Eval(`document.getAnimations().map((a) => a.effect.getTiming().delay / 1000)[0]`, &seconds)
		p.Eval(`(document.getAnimations().forEach((a) => a.finish()), new Promise((done) => {
			requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
		}))`, nil)
		var shown bool
		p.Eval(`document.querySelector(".undo button").checkVisibility({ visibilityProperty: true })`, &shown)
		if p.Press("u"); shown || seconds != 10 || w.status("item0") == "active" {
			t.Errorf("after %v seconds it is shown: %t", seconds, shown)
		}
	})
}

// After an act in place, the focus is on what came in its place. Under an open dialog, no key acts, wherever the focus is.
func TestTheFocusStaysWhereSomethingWasDecided(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.stale(2)
		p := w.open("/console/")
		focused := func(within string) {
			t.Helper()
			p.Eval(`new Promise((done) => { const wait = () => document.activeElement.closest("`+within+`") ? done(1) : setTimeout(wait, 20); wait(); })`, nil)
		}
		p.Eval(`document.querySelector("button[value=forget]").focus()`, nil)
		p.Press("Enter")
		p.WaitFor(".undo button")
		focused("#deciding")
		p.Press("?")
		p.WaitFor("#keys[open]")
		p.Eval(`document.activeElement.blur()`, nil)
		p.Press("d", "u")
		p.Press("Escape")
		if w.status("item1") != "active" || w.status("item0") == "active" {
			t.Errorf("a key acted under a dialog: %s, %s", w.status("item0"), w.status("item1"))
		}
		p.Go("/console/k/item1")
		p.WaitFor(".vote")
		p.Eval(`document.querySelector(".vote [value=harmful]").focus()`, nil)
		p.Press("Enter")
		p.WaitFor(".vote [name=undo]")
		focused(".vote")
		p.Press("Enter")
		p.WaitFor(".vote [value=harmful]")
		focused(".vote")
	})
}

// Who decided is told, and what was typed is kept. A form that is sent twice does its act once, and says so twice.
func TestASecondTabIsToldWhoDecidedAndHow(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.stale(2)
		browser := browse(t)
		_, page := w.ask("/console/")
		first := formIn(t, page, `<article class="hit">`)
		w.asMia("POST", "/v1/knowledge/item0/confirm", map[string]any{"reason": "I looked"})
		status, page := w.send(browser, "/console/review?from=home", append(first, "act", "forget", "reason", "it is wrong")...)
		containsAll(t, page, "Somebody was faster", "mia</bdi> <span title=\"knowledge.confirmed\">confirmed", "I looked", "it is wrong", "Task item1")
		if status != http.StatusConflict || w.status("item0") != "active" {
			t.Errorf("%d, and it is %s", status, w.status("item0"))
		}
		if valueOf(t, page, "id") != "item1" || valueOf(t, page, "reason") != "" {
			t.Error("what was typed about one item is in the form of another")
		}
		again := formIn(t, page, `<article class="hit">`)
		for range 2 {
			if _, page = w.send(browser, "/console/review?from=home", append(again, "act", "forget")...); !strings.Contains(page, "It is forgotten.") {
				t.Errorf("the form was refused:\n%s", page)
			}
		}
		w.asMia("POST", "/v1/knowledge/item1/restore", map[string]any{"reason": "we need it"})
		status, page = w.send(browser, "/console/review?from=home", append(formIn(t, page, `class="undo"`), "act", "restore")...)
		containsAll(t, page, "Somebody was faster", "we need it")
		if status != http.StatusConflict {
			t.Errorf("%d", status)
		}
	})
}

// What was typed outlives the session that ends before it is sent.
func TestADecisionOutlivesItsSession(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.remember(client.Knowledge{ID: "hers", Type: "tool", Content: "The tool.", Owner: "user:zoe", Scopes: []string{"user:zoe"}})
		if err := last(w.api.ReportStale(t.Context(), "hers", "it moved")); err != nil {
			t.Fatal(err)
		}
		p := w.open("/console/login")
		key, prefix := w.given("user:zoe")
		p.Type("#key", key)
		p.Click("main form button")
		p.WaitFor("button[value=confirm]")
		p.Click("article form details:last-of-type summary")
		p.Type("#reason", "I asked the vendor, and it holds.")
		w.revoke(prefix)
		p.Click("button[value=confirm]")
		p.WaitFor("a[href='/console/login'][target]")
		containsAll(t, p.Text("main"), "What you sent is not lost")
		var kept string
		if p.Eval(`document.querySelector("main [name=reason]").value`, &kept); kept != "I asked the vendor, and it holds." {
			t.Errorf("%q is kept", kept)
		}
	})
}

// Who looks after a team sees what waits for others, and for whom.
func TestHomeSaysWhatWaitsForOthers(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		for _, id := range []string{"a", "b"} {
			w.remember(client.Knowledge{ID: id, Type: "tool", Content: "The tool " + id, Owner: "user:zoe", Scopes: []string{"team:pay"}})
			if err := last(w.api.ReportStale(t.Context(), id, "it moved")); err != nil {
				t.Fatal(err)
			}
		}
		_, page := w.visit(w.login(rootKey), "/console/")
		containsAll(t, page, "Who decides", "zoe</bdi></a>", "2 to review", "assigned=user%3Azoe", "scope=team%3Apay", "See all that wait: 2")
		bob := w.login(w.issued(map[string]any{"subject": "user:bob", "memberships": []string{"team:pay"}}))
		_, page = w.visit(bob, "/console/")
		containsAll(t, page, "See all that wait: 2", `href="/console/teams/team:pay"`)
		_, page = w.visit(bob, "/console/review")
		containsAll(t, page, "Who decides", "zoe</bdi></a>", `name="verdict" value="helpful"`)
		if strings.Contains(page, `value="confirm"`) {
			t.Error("it offers what the reader may not do")
		}
	})
}

// The queues take one row of a phone, whose page is as wide as its screen.
func TestTheQueuesOfAReviewTakeOneRow(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.contradicted()
		w.stale(1)
		w.propose("duplicate")
		for _, voter := range []string{"mia", "zoe", "ben"} {
			if err := last(w.as("").GiveFeedback(t.Context(), "item0", client.Vote{Verdict: "harmful", TraceID: voter})); err != nil {
				t.Fatal(err)
			}
		}
		p := w.open("/console/review?queue=stale")
		p.Size(390, 800)
		var high, wide float64
		p.Eval(`document.querySelector(".tabs").getBoundingClientRect().height`, &high)
		if p.Eval("document.documentElement.scrollWidth", &wide); high > 60 || wide > 390 || p.Count(".tabs a") < 5 {
			t.Errorf("%d tabs are %.0f pixels high, and the page is %.0f wide", p.Count(".tabs a"), high, wide)
		}
		p.Axe()
	})
}

// What happened is five lines, of a session one, and nothing of what is erased.
func TestWhatHappenedIsShortAndNamesNothingThatIsErased(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		for i := range 7 {
			w.remember(client.Knowledge{ID: fmt.Sprint("item", i), Type: "tool", Content: fmt.Sprint("The tool ", i)})
		}
		for range 3 {
			if err := w.api.Say(t.Context(), "planning", client.Message{Role: "user", Content: "And then?"}); err != nil {
				t.Fatal(err)
			}
		}
		w.erase(browse(t), "item6")
		_, page := w.ask("/console/")
		feed := said(named(t, page, "ul", "todo feed")[0])
		if n := len(strings.Split(page, `<a class="quiet" href="/console/log/`)) - 1; n != 5 || strings.Contains(feed, "item6") ||
			strings.Count(feed, "planning") > 1 {
			t.Errorf("%d lines:\n%s", n, feed)
		}
		containsAll(t, feed, "planning", "The tool 5")
	})
}

// Who reads everything is told of what is meant for them, and not of what is private to others.
func TestNewToYouIsWhatIsMeantForTheReader(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.remember(client.Knowledge{ID: "first", Type: "tool", Content: "The log is not empty."})
		for _, role := range []string{"admin", "auditor"} {
			key := w.issued(map[string]any{"subject": "user:olga", "role": role, "memberships": []string{"team:pay"}})
			for scope, told := range map[string]bool{"user:mia": false, "team:other": false, "team:pay": true, "public": true} {
				title := role + " and " + strings.Replace(scope, ":", " ", 1)
				w.remember(client.Knowledge{Type: "tool", Task: title, Content: title, Scopes: []string{scope}, Owner: "user:mia"})
				_, page := w.visit(w.login(key), "/console/")
				news := strings.SplitN(page, "New to you", 2)[1]
				news, _, _ = strings.Cut(news, "</section>")
				if got := strings.Contains(news, title); got != told {
					t.Errorf("%s is told of %s: got %t, want %t\n%s", role, scope, got, told, news)
				}
			}
		}
	})
}

// formIn are the hidden fields of a form behind a text of the page.
func formIn(t *testing.T, page, behind string) []string {
	t.Helper()
	_, rest, found := strings.Cut(page, behind)
	if !found {
		t.Fatalf("no %s in:\n%s", behind, page)
	}
	rest, _, _ = strings.Cut(rest, "</form>")
	return hidden(t, rest)
}
