package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/servertest"
)

// items counts the items that the API's caller sees.
func (w *world) items() (n int) {
	w.t.Helper()
	for _, err := range w.api.List(w.t.Context(), url.Values{"status": {"active,superseded,deleted"}}) {
		if n++; err != nil {
			w.t.Fatal(err)
		}
	}
	return n
}

// hidden are the hidden fields of the forms of a page, with further values.
func hidden(t *testing.T, page string, more ...string) []string {
	t.Helper()
	if _, main, is := strings.Cut(page, "<main"); is { // beside it is the box for a new item
		page = "<main" + main
	}
	for _, input := range named(t, page, "input", "") {
		if attribute(input, "type") == "hidden" && attribute(input, "name") != "next" {
			more = append(more, attribute(input, "name"), attribute(input, "value"))
		}
	}
	return more
}

func TestAReplacementHappensWholeOrNotAtAll(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.remember(client.Knowledge{ID: "hers", Type: "strategy", Content: "We deploy on Tuesdays at ten.", Owner: "user:zoe", Scopes: []string{"public"}})
		const mine = "We deploy on Thursdays at ten."
		bob, zoe := browse(t), browse(t)
		key, _ := w.given("user:bob")
		w.send(bob, "/console/login", "key", key)
		key, _ = w.given("user:zoe")
		w.send(zoe, "/console/login", "key", key)

		_, page := w.send(bob, "/console/remember", "content", mine)
		containsAll(t, page, "It is not saved yet", "Use that one", "Keep both")
		if strings.Contains(page, "Save mine") || strings.Contains(page, "Revise that one") {
			t.Errorf("the page offers what the reader may not do:\n%s", page)
		}
		for range 2 {
			if status, _ := w.send(bob, "/console/remember", "content", mine, "replace", "hers"); status != http.StatusForbidden {
				t.Errorf("somebody else's is replaced: %d", status)
			}
		}
		if got := w.items(); got != 1 {
			t.Errorf("there are %d items", got)
		}
		_, page = w.send(zoe, "/console/remember", "content", mine)
		containsAll(t, page, "Save mine", "Revise that one")
		carried := append(hidden(t, page, "content", mine, "type", "tool", "scopes", "", "task", ""), "step", "carry")
		if status, page := w.send(zoe, "/console/k/hers/act/revise", carried...); status != http.StatusOK ||
			valueOf(t, page, "content") != mine || !strings.Contains(page, `value="strategy" selected`) {
			t.Errorf("what was typed does not revise the other item: %d\n%s", status, page)
		}
		if status, page := w.send(zoe, "/console/remember", hidden(t, page, "content", mine, "replace", "hers")...); status != http.StatusOK {
			t.Errorf("%d\n%s", status, page)
		}
		if k, err := w.api.Knowledge(t.Context(), "hers"); err != nil || k.SupersededBy == "" || w.items() != 2 {
			t.Errorf("%v, superseded by %q", err, k.SupersededBy)
		}
		for act, want := range map[string]int{"revise": http.StatusForbidden, "restore": http.StatusForbidden, "release": http.StatusForbidden} {
			status, _, page := servertest.Send(t, bob, servertest.Request[string](t, http.MethodGet, w.url+"/console/k/hers/act/"+act, nil))
			if status != want || strings.Contains(string(page), "There is no such page") {
				t.Errorf("%s: %d\n%s", act, status, page)
			}
		}
	})
}

// A browser that sends a form a second time shows the second answer.
func TestAFormThatIsSentTwiceIsSavedOnce(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		browser := browse(t)
		w.remember(client.Knowledge{ID: "k", Type: "tool", Content: "The tool."})
		forms := []struct {
			path, done string
			values     []string
		}{
			{"/console/remember", "It is remembered.", []string{"content", "Retry 429s twice, with jitter."}},
			{"/console/k/k/act/harmful", "Your vote is recorded.", []string{"outcome", "it broke"}},
			{"/console/k/k/act/confirm", "It is confirmed.", []string{"days", "90"}},
			{"/console/k/k/act/revise", "The revision is saved.", []string{"content", "The other tool.", "step", "save"}},
			{"/console/k/k/act/forget", "It is forgotten.", []string{"reason", "gone"}},
		}
		for _, form := range forms {
			_, page := w.ask(form.path)
			values := hidden(t, page, form.values...)
			if strings.HasSuffix(form.path, "revise") {
				_, page = w.send(browser, form.path, hidden(t, page, "content", "The other tool.")...)
				values = append([]string{"step", "save"}, hidden(t, page)...)
			}
			for try := range 2 {
				if status, page := w.send(browser, form.path, values...); !strings.Contains(page, form.done) {
					t.Errorf("%s, sent %d times: %d\n%s", form.path, try+1, status, page)
				}
			}
		}
		if got := w.items(); got != 2 {
			t.Errorf("there are %d items", got)
		}
		p := w.open("/console/remember")
		p.Type("textarea[name=content]", "Two clicks make one item.")
		p.Eval(`(button => { button.click(); button.click() })(document.querySelector("form.wide button"))`, nil)
		p.WaitFor(".done")
		if got := w.items(); got != 3 {
			t.Errorf("after a double click there are %d items", got)
		}
	})
}

func TestADoubleClickMakesOneKeyAndShowsIt(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		admin := w.login(rootKey)
		p := w.open("/console/login")
		p.Type("#key", rootKey)
		p.Click("main form button")
		p.WaitFor("form[action='/console/logout']")
		for path, values := range map[string][]string{
			"/console/access/invite": {"subject", "user:mia", "display_name", "Mia", "role", "member", "lasts", "for an hour"},
			"/console/access":        {"subject", "user:mia", "role", "member"},
		} {
			count := func() (n int) {
				_, page := w.visit(admin, "/console/access?show=all")
				return len(named(t, page, "td", "name"))
			}
			before := count()
			_, page := w.visit(admin, path)
			values = hidden(t, page, values...)
			if _, page = w.send(admin, path, values...); !keyForm.MatchString(page) {
				t.Errorf("%s shows no key:\n%s", path, page)
			}
			sent := time.Now().Unix() // the end of the invitation follows from the form
			databasetest.Until(t, "the next second", func() bool { return time.Now().Unix() > sent })
			if _, page = w.send(admin, path, values...); keyForm.MatchString(page) {
				t.Errorf("%s, sent again, shows a key:\n%s", path, page)
			}
			containsAll(t, page, "This form was sent before")
			if made := count() - before; made != 1 {
				t.Errorf("%s, sent twice, makes %d keys", path, made)
			}
			p.Go(path) // the second click must not bring a page without the key
			p.Eval(`(form => {
				form.elements.subject.value = "user:zoe"
				if (form.elements.display_name) form.elements.display_name.value = "Zoe"
				const button = form.querySelector("button:not([type=button])")
				button.click(); button.click()
			})(document.querySelector("main form.wide"))`, nil)
			p.WaitFor("textarea.mono")
			if made := count() - before; made != 2 {
				t.Errorf("%s, after a double click: %d keys", path, made-1)
			}
		}
	})
}

func TestAFormOutlivesItsSession(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		const content = "We deploy on Tuesdays at ten, from main."
		p := w.open("/console/login")
		key, prefix := w.given("user:zoe")
		p.Type("#key", key)
		p.Click("main form button")
		p.WaitFor("form[action='/console/logout']")
		p.Go("/console/remember")
		p.Type("textarea[name=content]", content)
		w.revoke(prefix)
		p.Click("form.wide button")
		p.WaitFor("a[href='/console/login'][target]")
		if got := p.Text("main"); !strings.Contains(got, "The session has ended") || !strings.Contains(got, "What you sent is not lost") {
			t.Errorf("got %q", got)
		}
		key, _ = w.given("user:zoe")
		p.Eval(`fetch("/console/login", {method: "POST", body: new URLSearchParams({key: "`+key+`"})}).then(r => r.status)`, nil)
		p.Click("main form button")
		p.WaitFor(".done")
		if got := p.Text("main"); !strings.Contains(got, content) {
			t.Errorf("got %q", got)
		}
	})
}

func TestAFormThatIsForbiddenMarksItsFieldAndNamesNoCommand(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		bob := browse(t)
		key, _ := w.given("user:bob")
		w.send(bob, "/console/login", "key", key)
		for field, value := range map[string]string{"scope": "public", "scopes": "team:pay", "owner": "user:zoe"} {
			status, page := w.send(bob, "/console/remember", "content", "We deploy on Tuesdays.", field, value)
			if status != http.StatusForbidden || strings.Contains(page, "annals ") && strings.Contains(said(named(t, page, "div", "refused")[0]), "annals ") {
				t.Errorf("%s: %d\n%s", field, status, page)
			}
			containsAll(t, page, `id="`+field+`-wrong"`)
		}
	})
}

func TestAReaderSeesWhatWouldBeRemovedBeforeItIsSaved(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		browser := browse(t)
		const content = "Call the office: 13812345678."
		_, page := w.ask("/console/remember")
		status, page := w.send(browser, "/console/remember", hidden(t, page, "content", content)...)
		if containsAll(t, page, "Something in it would be removed</strong>: phone number: 1", content); status != http.StatusConflict || w.items() != 0 {
			t.Errorf("%d, %d items", status, w.items())
		}
		both := hidden(t, page, "content", content+" Or mail office@example.com.")
		status, page = w.send(browser, "/console/remember", both...)
		if containsAll(t, page, "e-mail address: 1, phone number: 1"); status != http.StatusConflict {
			t.Errorf("%d", status)
		}
		status, page = w.send(browser, "/console/remember", hidden(t, page, "content", content+" Or mail office@example.com.")...)
		if containsAll(t, page, "[REDACTED_PHONE]", "[REDACTED_EMAIL]"); status != http.StatusOK {
			t.Errorf("%d", status)
		}
		id := ""
		for k, err := range w.api.List(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			id = k.ID
		}
		path := "/console/k/" + id + "/act/revise"
		_, page = w.ask(path)
		_, page = w.send(browser, path, hidden(t, page, "content", content)...)
		status, page = w.send(browser, path, append(hidden(t, page), "step", "save")...)
		if containsAll(t, page, "phone number: 1", "<ins>"); status != http.StatusConflict {
			t.Errorf("%d", status)
		}
		status, page = w.send(browser, path, append(hidden(t, page), "step", "save")...)
		if containsAll(t, page, "The revision is saved."); status != http.StatusOK {
			t.Errorf("%d\n%s", status, page)
		}
	})
}

// A form that is too large is not taken as an empty one, and a field that is too long is named once.
func TestAFormThatIsTooLargeSaysSo(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.stale(1)
		status, page := w.send(browse(t), "/console/remember", "content", strings.Repeat("long ", 1<<18))
		if containsAll(t, page, "the form may have at most"); status != http.StatusRequestEntityTooLarge || strings.Contains(page, "must not be empty") {
			t.Errorf("%d", status)
		}
		_, page = w.ask("/console/")
		form := formIn(t, page, `<article class="hit">`)
		why := strings.Repeat("long ", 500)
		status, page = w.send(browse(t), "/console/review?from=home", append(form, "act", "forget", "reason", why)...)
		containsAll(t, page, "must have at most 2000 characters", why)
		if status != http.StatusUnprocessableEntity || strings.Contains(page, "see errors") {
			t.Errorf("%d\n%s", status, page)
		}
	})
}
