package console_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/servertest"
)

func TestCharactersThatTurnATextAreShown(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		const content = "Pay \u202eten\u2066."
		w.remember(client.Knowledge{ID: "paid", Type: "plan", Task: "Pay", Content: content, Owner: "user:ben", Scopes: []string{"team:pay"}})
		_, page := w.ask("/console/k/paid")
		containsAll(t, page, `Pay <span class="turning">U+202E</span>ten<span class="turning">U+2066</span>.`)
		_, page = w.ask("/console/k/paid/act/revise")
		if !strings.Contains(page, content+"</textarea>") {
			t.Errorf("the form does not send the text back as it is:\n%s", page)
		}
	})
}

func TestRefusalsAreInChineseOnChinesePages(t *testing.T) {
	english := regexp.MustCompile(`(?s)(?:<h1>|class="error"[^>]*>|class="refused"[^>]*>)[^<]*[a-z]{2,} [a-z]{2,} [a-z]{2,}`)
	onOne(t, "", func(t *testing.T, w *world) {
		for _, path := range []string{
			"/console/knowledge?min_confidence=7&status=z&sort=bad&stale=maybe&order=up", "/console/log?from=never&name=foo&stream=bad",
			"/console/log/nope", "/console/k/nope", "/console/sessions/nope", "/console/resources?uri=http://x", "/console/privacy/nope",
			"/console/scopes/digest?scope=pay&since=never&until=no", "/console/review?queue=bad", "/console/nope",
			"/console/reports/known?about=x&on=2999-01-01&zone=Mars", "/console/reports/known?about=x&on=2001-01-01", "/console/reports/known?on=never",
		} {
			r := servertest.Request[string](t, http.MethodGet, w.url+path, nil)
			r.Header.Set("Accept-Language", "zh")
			_, _, page := servertest.Send(t, browse(t), r)
			if found := english.Find(page); found != nil || !strings.Contains(string(page), `lang="zh"`) {
				t.Errorf("%s: %s", path, found)
			}
		}
	})
}

func TestTextsOfPeopleHaveTheirOwnDirection(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.remember(client.Knowledge{ID: "paid", Type: "plan", Content: "ادفع يوم الاثنين", Owner: "user:ben", Scopes: []string{"team:pay"}})
		for _, path := range []string{"/console/k/paid", "/console/search?q=ادفع", "/console/scopes/digest?scope=team:pay"} {
			_, page := w.ask(path)
			page = strings.NewReplacer("<mark>", "", "</mark>", "").Replace(page)
			if !strings.Contains(page, ` dir="auto" lang="">ادفع يوم الاثنين`) &&
				!strings.Contains(page, ` dir="auto" lang=""><p>ادفع يوم الاثنين`) {
				t.Errorf("%s:\n%s", path, page)
			}
		}
	})
}

func TestTheFirstClickLeavesTheThemeOfTheSystem(t *testing.T) {
	onOne(t, "", func(_ *testing.T, w *world) {
		for dark, other := range map[bool]string{true: "light", false: "dark"} {
			p := w.open("/console/")
			p.Dark(dark)
			p.Click("html:not([data-theme]) .who button[value=" + other + "]")
			p.WaitFor("html[data-theme=" + other + "] .who button[name=theme]:not([value=" + other + "])")
		}
	})
}

func TestASearchSaysInChineseWhatIsWrong(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		_, page := w.ask("/console/search?q=gateway&status=lost", "Accept-Language: zh")
		if !strings.Contains(page, "<code>status:lost</code> 必须是以下之一：active, ") {
			t.Error(page)
		}
	})
}
