package console_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/console/browsertest"
	"github.com/annals-kb/annals/http/servertest"
)

// act fills the form of an act and sends it.
func (w *world) act(browser *http.Client, item, act string, values ...string) (int, string) {
	w.t.Helper()
	path := "/console/k/" + item + "/act/" + act
	_, _, form := servertest.Send(w.t, browser, servertest.Request[string](w.t, http.MethodGet, w.url+path, nil))
	return w.send(browser, path, append(values, "revision", revision(w.t, string(form)))...)
}

func TestAReaderTakesTheirOwnVoteBack(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		browser := browse(t)
		_, form := w.ask("/console/k/staging/act/retract")
		votes := elements(t, form, isChoice)
		if len(votes) != 1 || !strings.Contains(form, "found it") {
			t.Fatalf("%d votes in:\n%s", len(votes), form)
		}
		status, page := w.act(browser, "staging", "retract", "event_id", attribute(votes[0], "value"))
		if k, err := w.api.Knowledge(t.Context(), "staging"); status != http.StatusOK || err != nil || *k.Eval.Helpful != 1 {
			t.Errorf("%d %v %+v", status, err, k.Eval)
		}
		containsAll(t, page, "Your vote is taken back.", "feedback retracted")
		if status, page := w.ask("/console/k/staging/act/retract"); status != http.StatusConflict {
			t.Errorf("there is a vote to take back: %d\n%s", status, page)
		}
	})
}

func TestAReaderPicksTheItemThatTakesAnothersPlace(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		w.remember(client.Knowledge{ID: "nightly", Type: "definition", Task: "When is staging rebuilt?", Content: "Every morning."})
		p := w.open("/console/k/staging/act/supersede")
		if got := p.Text("#choices label"); !strings.Contains(got, "When is staging rebuilt?") {
			t.Errorf("the nearest item is %q", got)
		}
		p.Type("input[name=find]", "中文")
		p.WaitFor("#choices label:first-of-type input[value=language]")
		p.Click("#choices input[value=language]")
		p.Click("main form[method=post] button")
		p.WaitFor(".done")
		if k, err := w.api.Knowledge(t.Context(), "staging"); err != nil || k.SupersededBy != "language" {
			t.Errorf("%v, superseded by %q", err, k.SupersededBy)
		}
		status, page := w.act(browse(t), "nightly", "supersede", "reason", "none was picked")
		if status != http.StatusUnprocessableEntity {
			t.Errorf("without a choice: %d\n%s", status, page)
		}
	})
}

func TestSharingSaysWhoGainsAndWhoLosesSight(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.remember(client.Knowledge{ID: "shared", Type: "tool", Content: "x", Scopes: []string{"team:pay", "team:ops"}})
		browser := browse(t)
		status, page := w.act(browser, "shared", "rescope", "scopes", "team:ops\nproject:atlas")
		good, bad := named(t, page, "span", "badge good"), named(t, page, "span", "badge bad")
		if status != http.StatusOK || len(good) != 1 || said(good[0]) != "project:atlas" || len(bad) != 1 || said(bad[0]) != "team:pay" {
			t.Fatalf("%d\n%s", status, page)
		}
		_, page = w.act(browser, "shared", "rescope", "scopes", "team:ops\nproject:atlas", "step", "save")
		containsAll(t, page, "Its scopes are changed.")
		_, page = w.act(browser, "shared", "handover", "owner", "user:mia")
		containsAll(t, page, `<span class="badge good">user:mia</span>`, `<span class="badge bad">user:default</span>`)
		_, page = w.act(browser, "shared", "handover", "owner", "user:mia", "step", "save")
		containsAll(t, page, "It has another owner.")
		if k, err := w.api.Knowledge(t.Context(), "shared"); err != nil || k.Owner != "user:mia" || len(k.Scopes) != 2 {
			t.Errorf("%v %+v", err, k)
		}
		if _, page := w.act(browser, "shared", "rescope", "scopes", "public", "step", ""); !strings.Contains(page, "public</span>") {
			t.Error("the page does not say that everybody gains sight")
		}
	})
}

// shows waits until a page has something, and gives the page.
func (w *world) shows(browser *http.Client, path, what string) (page string) {
	w.t.Helper()
	databasetest.Until(w.t, path+" shows "+what, func() bool {
		_, page = w.visit(browser, path)
		return strings.Contains(page, what)
	})
	return page
}

// erase erases an item, and waits until it is gone.
func (w *world) erase(browser *http.Client, id string) {
	w.t.Helper()
	status, page := w.send(browser, "/console/privacy/plan", "of", id, "typed", id, "reason_code", "gdpr-17")
	if status != http.StatusOK {
		w.t.Fatalf("%d\n%s", status, page)
	}
	databasetest.Until(w.t, id+" is erased", func() bool {
		_, err := w.api.Knowledge(w.t.Context(), id)
		return errors.Is(err, client.ErrGone)
	})
}

func TestAnErasureShowsItsPlanAndItsCertificate(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		browser := browse(t)
		if _, page := w.act(browser, "staging", "hold", "reason_code", "litigation"); !strings.Contains(page, "It is on hold.") {
			t.Fatalf("no hold:\n%s", page)
		}
		const plan = "/console/privacy/plan"
		_, page := w.ask("/console/k/staging/act/erase")
		if strings.Contains(page, `name="typed"`) {
			t.Error("a held item has a form")
		}
		containsAll(t, page, "Nothing would be erased", "staging is under legal hold")
		w.act(browser, "staging", "release", "reason_code", "settled")
		_, page = w.ask("/console/k/staging/act/erase")
		containsAll(t, page, "is erased", `name="typed"`)
		status, page := w.send(browser, plan, "of", "staging", "typed", "stagin")
		if _, err := w.api.Knowledge(t.Context(), "staging"); status != http.StatusUnprocessableEntity || err != nil {
			t.Fatalf("%d %v", status, err)
		}
		containsAll(t, page, "It must be staging.", `aria-invalid="true"`)
		status, _ = w.send(browser, plan, "of", "staging", "typed", "staging", "reason_code", "two words")
		if status != http.StatusUnprocessableEntity {
			t.Errorf("a reason of two words: %d", status)
		}
		w.erase(browser, "staging")
		_, page = w.ask("/console/k/staging")
		containsAll(t, page, "An erased item", "staging-erased.json", "/console/proof?event=")
		p := browsertest.Open(t, w.url)
		p.Go("/console/k/staging")
		p.Click("main a[href^='/console/proof']")
		p.WaitFor("#inclusion:not([hidden])")
		if got := p.Count("#inclusion [data-step=path] .good"); got != 1 {
			t.Error("the certificate has no path to the root")
		}
		if _, page := w.ask("/console/k/staging/act/erase"); strings.Contains(page, `name="typed"`) {
			t.Error("an erased item can be erased")
		}
	})
}

func TestAnErasedItemWithALongHistoryIsATombstone(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.remember(client.Knowledge{ID: "long", Type: "tool", Content: "x"})
		for range 1001 { // more than the page reads
			if _, err := w.api.Confirm(t.Context(), "long", ""); err != nil {
				t.Fatal(err)
			}
		}
		w.erase(browse(t), "long")
		status, page := w.ask("/console/k/long")
		containsAll(t, page, "An erased item")
		links := elements(t, page, func(n *html.Node) bool { return strings.HasPrefix(attribute(n, "href"), "/console/proof?event=") })
		if status != http.StatusGone || len(links) != 1 {
			t.Fatalf("%d, %d links", status, len(links))
		}
		_, event := w.ask("/console/log/" + strings.TrimPrefix(attribute(links[0], "href"), "/console/proof?event="))
		containsAll(t, said(named(t, event, "h1", "")[0]), "erased")
	})
}

func TestAnErasureTakesWhatWasMadeFromAnItemAlong(t *testing.T) {
	each(t, "", func(t *testing.T, w *world) {
		w.tell()
		if _, page := w.act(browse(t), "staging", "supersede", "by", "language"); !strings.Contains(page, "It is superseded.") {
			t.Fatal(page)
		}
		_, page := w.ask("/console/k/staging/act/erase")
		containsAll(t, page, "Will be erased: 1")
		p := w.open("/console/k/staging/act/erase?lineage=1")
		p.Type("#typed", "staging")
		p.Click("button.danger")
		p.WaitFor("#erasure:not([hx-get])")
		containsAll(t, p.Text("#erasure"), "completed", "2")
		for _, id := range []string{"staging", "language"} {
			if _, err := w.api.Knowledge(t.Context(), id); !errors.Is(err, client.ErrGone) {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
}

func TestAnItemOffersOnlyWhatTheReaderMayDo(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.staff()    // in which user:mia maintains team:pay
		w.verified() // part: policies
		mia, _ := w.given("user:zoe")
		bob, _ := w.given("user:bob")
		maintainer, _ := w.given("user:mia")
		w.remember(client.Knowledge{ID: "hers", Type: "tool", Content: "x", Owner: "user:zoe", Scopes: []string{"user:zoe", "user:bob", "team:pay"}})
		for key, want := range map[string]string{
			maintainer: "helpful harmful stale confirm supersede contain",
			mia:        "revise helpful harmful stale confirm supersede rescope handover forget erase",
			bob:        "helpful harmful stale",
			rootKey:    "revise helpful harmful stale confirm supersede rescope handover hold forget contain erase",
		} {
			browser := browse(t)
			w.send(browser, "/console/login", "key", key)
			_, _, page := servertest.Send(t, browser, servertest.Request[string](t, http.MethodGet, w.url+"/console/k/hers", nil))
			var offered []string
			for _, link := range named(t, string(page), "a", "button") {
				if _, act, is := strings.Cut(attribute(link, "href"), "/act/"); is {
					offered = append(offered, act)
				}
			}
			if got := strings.Join(offered, " "); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
}

func TestTheTabsAndActsOfAnItemNameTheirKeys(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		_, page := w.ask("/console/k/staging")
		keys := map[string]string{}
		for _, link := range elements(t, page, func(n *html.Node) bool {
			return n.Data == "a" || attribute(n, "name") == "verdict"
		}) {
			for key := range strings.FieldsSeq(attribute(link, "aria-keyshortcuts")) {
				if other := keys[key]; other != "" {
					t.Errorf("%s opens %s and %s", key, other, said(link))
				}
				keys[key] = said(link)
			}
		}
		delete(keys, "[")
		delete(keys, "w") // of every page
		want := map[string]string{
			"1": "What happened", "2": "Compare", "3": "Who wrote which words", "b": "Who wrote which words",
			"4": "Votes and use", "5": "Who was told", "6": "Proof", "v": "Helpful",
			"Shift+V": "Harmful", "s": "Report stale", "c": "Confirm", "r": "Revise", "u": "Supersede", "d": "Forget",
		}
		if diff := cmp.Diff(keys, want); diff != "" {
			t.Error(diff)
		}
	})
}
