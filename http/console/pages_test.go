package console_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/console/browsertest"
)

// allPages are pages with something on them.
var allPages = []string{
	"/console/", "/console/search", "/console/search?q=staging&why=1&expect=language",
	"/console/search?q=zzz&type=tool", "/console/knowledge", "/console/knowledge?min_confidence=much",
	"/console/search?q=staging&scope=nobody", "/console/remember", "/console/log",
	"/console/log?name=knowledge.*&follow=1", "/console/log?as_of=3", "/console/log/3", "/console/projections",
	"/console/proof", "/console/proof?event=3", "/console/review", "/console/review?queue=expired",
	"/console/review?as_of=2", "/console/log?name=nothing&from=never", "/console/log?as_of=9999",
	"/console/?as_of=2", "/console/search?q=staging&as_of=1", "/console/nowhere", "/console/log/none",
	"/console/k/staging", "/console/k/staging/compare?from=1", "/console/k/staging/blame",
	"/console/k/staging/use", "/console/k/staging/raw", "/console/k/staging?as_of=3",
	"/console/k/staging/act/revise", "/console/k/staging/act/confirm", "/console/search?q=staging&as_of=1&vs=now",
	"/console/knowledge?as_of=1&vs=now", "/console/k/staging?text=markdown", "/console/k/staging/act/retract",
	"/console/k/staging/act/supersede", "/console/k/staging/act/erase", "/console/access",
	"/console/access?show=all&as_of=2", "/console/access/tenants", "/console/access/invite", "/console/invited", "/console/reports",
	"/console/reports/actor?actor=user:default", "/console/reports/changes?scope=user:default&as_of=4",
	"/console/reports/harm", "/console/reports/stale", "/console/reports/declining?from=2026-01-01",
	"/console/reports/access?scope=user:default", "/console/reports/known?about=staging&on=today", "/console/reports/known?on=never&zone=Mars",
	"/console/health", "/console/projections/knowledge",
	"/console/projections/knowledge/act/rebuild", "/console/projections/past/quarantine", "/console/settings",
	"/console/projections/past/act/skip", "/console/projections/past",
	"/console/knowledge?sort=confidence&order=asc&type=definition&min_confidence=0.1",
	"/console/knowledge?as_of=3", "/console/knowledge/acts?id=staging&id=language&id=none",
	"/console/knowledge/acts", "/console/export?format=xml", "/console/scopes", "/console/scopes?health=yes", "/console/scopes?as_of=2",
	"/console/resources", "/console/resources?uri=viking://", "/console/resources?uri=viking://resources/nowhere",
	"/console/privacy?findings=1", "/console/privacy/plan?of=user:default", "/console/sessions",
	"/console/scopes/policies", "/console/review?queue=contradiction",
	"/console/scopes/digest", "/console/scopes/digest?scope=team:pay", "/console/scopes/digest?scope=pay&since=never",
	"/console/reports/health", "/console/subscriptions?all=true&ended=true", "/console/subscriptions/none",
	"/console/people", "/console/people?q=staging", "/console/teams/team:pay", "/console/teams/team:pay?begin=yes",
	"/console/people?kind=team&q=pay", "/console/people/import", "/console/people/user:mia",
	"/console/people/team:pay", "/console/people/user:mia/deactivate", "/console/people/user:ben?as_of=2",
	"/console/people/user:mia/role?group=team:pay", "/console/people/user:nobody", "/console/people/team:pay/rename",
	"/console/sessions/planning", "/console/see-as", "/console/see-as?stage=query&said=staging",
}

// In English on a wide screen, and in Chinese on a phone in the dark.
//
// On one engine, since the pages are the same on both.
func TestEveryPageIsAccessible(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.Migrated(t, database.SQLite))
	w := newWorld(t, db, "")
	w.tell()
	w.staff()
	w.contradicted()
	w.verified() // part: policies
	pages := slices.Clone(allPages)
	pages = append(pages, "/console/subscriptions/"+w.follow())                                                              // part: webhooks
	pages = append(pages, "/console/receipts", "/console/receipts?since=never", "/console/receipts/"+w.told()+"?today=true") // part: receipts
	pages = append(pages, "/console/containments", "/console/k/staging/act/contain", "/console/containments/"+w.contained()) // part: contain
	p := browsertest.Open(t, w.url)
	for _, look := range []struct {
		language string
		dark     bool
		width    int
	}{{"en", false, 1280}, {"zh", true, 360}} {
		p.Dark(look.dark)
		p.Size(look.width, 900)
		if look.language == "zh" {
			p.Click(".menu summary")
			p.Click("button[name=language]")
			p.WaitFor("html[lang=zh]")
		}
		for _, path := range pages {
			p.Go(path)
			if got := p.Count("h1"); got != 1 {
				t.Errorf("%s has %d headings", path, got)
			}
			var language string
			var wide int
			p.Eval("document.documentElement.lang", &language)
			p.Eval("document.documentElement.scrollWidth", &wide)
			if language != look.language || wide > look.width {
				t.Errorf("%s in %s is %d pixels wide, in %q", path, look.language, wide, language)
			}
			p.Axe()
		}
	}
}

func TestAReaderFindsAnItemAndSeesWhy(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		p := w.open("/console/")
		p.Press("/", "s", "t", "a", "g", "i", "n", "g", "Enter")
		p.WaitFor(".hit")
		if got := p.Text(".hit h2"); got != "Where is staging?" {
			t.Errorf("the first hit is %q", got)
		}
		p.Click(".weights summary")
		containsAll(t, p.Text(".weights"), "Meaning", "Words", "Confidence from", "Tier: user")
		p.Click("form.search summary") // as one types, only the answer is replaced
		p.Type("input[name=expect]", "language")
		p.WaitFor(".facets a[href*='expect=language']")
		containsAll(t, p.Text(".expected"), "Why not language?")
		containsAll(t, p.URL(), "expect=language")
	})
}

func TestASearchIsNarrowedByTheCountsOfItsHits(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		w.remember(client.Knowledge{ID: "host", Type: "tool", Content: "The staging host.", Tags: client.Tags{"labels": {"hot"}}})
		p := w.open("/console/search?q=staging")
		containsAll(t, strings.Join(strings.Fields(p.Text(".facets")), " "), "Type definition 1 tool 1", "hot 1")
		p.Click(".facets a[href*='tag=hot']")
		p.WaitFor(".facets a[aria-current]")
		if got := p.Text(".hits"); !strings.Contains(got, "The staging host.") || strings.Contains(got, "rebuilt") {
			t.Errorf("the hits with the label are %s", got)
		}
	})
}

func TestThePastIsMarkedAndShowsWhatWasKnown(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		p := w.open("/console/search?q=staging")
		containsAll(t, p.Text(".hit"), "morning")
		p.Press("[")
		p.WaitFor("body.past")
		containsAll(t, p.Text(".hit"), "night")
		containsAll(t, p.Text(".timebar"), "As of #4")
		p.Press("n")
		p.WaitFor("body:not(.past)")
		containsAll(t, p.Text(".hit"), "morning")
		for _, path := range []string{"/console/?as_of=5", "/console/log?as_of=5"} { // the newest event
			p.Go(path)
			containsAll(t, p.Text("main"), "revised")
		}
		p.Go("/console/log?as_of=4")
		if got := p.Text("main table"); strings.Contains(got, "revised") {
			t.Errorf("the log shows what came later: %s", got)
		}
	})
}

func TestAnElementIsClickedByTheKeyThatItNames(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		p := w.open("/console/health")
		p.Eval(`(() => { for (const [keys, hidden] of [["c", true], ["c", false], ["Shift+C", false], ["Space i", false]]) {
			const button = document.createElement("button");
			Object.assign(button, { textContent: keys, hidden });
			button.setAttribute("aria-keyshortcuts", keys);
			button.addEventListener("click", () => { document.title += "<" + (hidden ? "hidden" : keys) + ">"; });
			document.getElementById("main").append(button);
		} document.title = ""; })()`, nil)
		title := func(want string) {
			t.Helper()
			var got string
			if p.Eval("document.title", &got); got != want {
				t.Errorf("clicked %q, want %q", got, want)
			}
		}
		p.Press("c", "C", "i", " ")
		title("<c><Shift+C><Space i><Space i>")
		p.Press("g", "c") // g waits for the key of a page
		title("<c><Shift+C><Space i><Space i>")
		p.Press("/", "c") // is typed
		title("<c><Shift+C><Space i><Space i>")
		p.Eval("document.activeElement.blur()", nil)
		p.Press("?")
		containsAll(t, p.Text("#keys"), "On this page", "Space i")
		p.Click("#keys-on")
		p.Click("#keys form button")
		p.Press("c", "[")
		title("<c><Shift+C><Space i><Space i>")
	})
}

func TestALoginLastsUntilItsKeyIsRevoked(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		key, prefix := w.given("user:mia")
		p := w.open("/console/log?actor=user:mia")
		p.WaitFor("#key")
		p.Type("#key", "annals_wrong")
		p.Click("main button")
		p.WaitFor("[role=alert]")
		p.Type("#key", key)
		p.Click("main button")
		p.WaitFor("nav")
		containsAll(t, p.Text(".who"), "mia")
		containsAll(t, p.URL(), "/console/log?actor=user")
		var readable string
		p.Eval("document.cookie", &readable)
		if strings.Contains(readable, "session") {
			t.Errorf("scripts can read the session: %s", readable)
		}
		status, _ := w.revoke(prefix)
		if status >= http.StatusBadRequest {
			t.Fatalf("revoke: %d", status)
		}
		p.Go("/console/log")
		p.WaitFor("#key")
	})
}

func TestAnEventLeadsToItsCauseAndItsEffects(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		cause := w.remember(client.Knowledge{ID: "first", Type: "tool", Content: "One."}).Events
		effect := w.remember(client.Knowledge{ID: "second", Type: "tool", Content: "Two.", CausationID: cause}).Events
		_, page := w.ask("/console/log/2")
		containsAll(t, page, `href="/console/log/`+cause+`">#1</a>`)
		_, page = w.ask("/console/log/1")
		containsAll(t, page, `href="/console/log/`+effect+`">#2</a>`)
	})
}

func TestAFormThatIsRefusedKeepsWhatWasTyped(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		p := w.open("/console/log?name=nothing&from=never&actor=user:default")
		for _, field := range []string{"name", "from"} {
			if p.Count("input[name="+field+"][aria-invalid=true][aria-describedby="+field+"-wrong]") != 1 || p.Text("#"+field+"-wrong") == "" {
				t.Errorf("the page does not say what is wrong with %s", field)
			}
		}
		if p.Count("main input[value~='actor:user:default']") != 1 || p.Count("main input[value=nothing]") != 1 {
			t.Error("the form does not keep what was typed")
		}
		p.Go("/console/k/staging?as_of=9999")
		containsAll(t, p.Text("h1"), "There is no such moment")
		containsAll(t, p.Text("#as-of-wrong"), "lies in the future")
		if p.Count("input[name=as_of][value='9999'][aria-invalid=true]") != 1 || p.Count(".side a[href*=as_of]") != 0 {
			t.Error("the bar does not keep the moment to correct, or other pages keep it, too")
		}
	})
}

func TestEventsAreShownInWords(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		p := w.open("/console/")
		if got := p.Text("main"); strings.Contains(got, "knowledge.") || !strings.Contains(got, "found helpful") {
			t.Errorf("got %s", got)
		}
		if p.Count(`main span[title="knowledge.found_helpful"]`) != 1 {
			t.Error("the name is not to be found")
		}
		_, health := w.ask("/console/health", "Accept-Language: zh")
		if strings.Contains(health, "events are appended") || !strings.Contains(health, "事件只能追加") {
			t.Error("the protections are in English")
		}
	})
}

func TestARefusedFilterStaysInItsForm(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		for _, one := range []struct{ path, name, value string }{
			{"/console/search?q=staging&owner=nobody", "owner", "nobody"},
			{"/console/knowledge?min_confidence=much", "min_confidence", "much"},
			{"/console/knowledge?owner=nobody&as_of=2", "owner", "nobody"},
			{"/console/reports/stale?from=never", "from", "never"},
		} {
			status, page := w.ask(one.path)
			if status != http.StatusUnprocessableEntity {
				t.Errorf("%s answers %d", one.path, status)
			}
			containsAll(t, page, `role="alert"`, `value="`+one.value+`"`,
				`aria-describedby="`+one.name+`-wrong"`, `class="error" id="`+one.name+`-wrong"`)
		}
	})
}
