package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/console/browsertest"
)

func TestAnAuditorSeesWhatWasKnownOnADay(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		w.staff()
		w.remember(client.Knowledge{
			ID: "window", Type: "plan", Content: "The staging window is on Tuesdays.", Owner: "user:ben", Scopes: []string{"team:pay"},
		})
		must(w.api.Confirm(t.Context(), "window", ""))(t)
		must(w.api.ReportStale(t.Context(), "window", "it moved"))(t)
		browser := browsertest.Open(t, w.url)
		browser.Go("/console/reports")
		browser.Click(`a[href="/console/reports/known"]`)
		browser.WaitFor("main input[name=about]")
		browser.Type("main input[name=about]", "staging")
		browser.Eval(`document.querySelector("[name=on]").value = "`+time.Now().UTC().Format(time.DateOnly)+`"`, nil)
		browser.Click("main form[action='/console/reports/known'] button")
		browser.WaitFor("article.hit")
		containsAll(t, browser.Text("main"), "Where is staging?", "rebuilt every morning", "Nothing. It stands as it was.",
			"Times are in UTC", "confirmed", "reported stale", "it moved", "Who could read it", "The staging window is on Tuesdays.")
		for _, machine := range []string{"knowledge.", "directory", "user:ben", "team:pay"} {
			if text := browser.Text("main > section, main > article, main > p"); strings.Contains(text, machine) {
				t.Errorf("the page says %q:\n%s", machine, text)
			}
		}
		browser.Axe()

		query := "?about=staging&on=today"
		status, file := w.ask("/console/reports/known/file"+query, "Accept-Language: zh")
		if status != http.StatusOK || !strings.HasPrefix(file, "<!DOCTYPE html>") {
			t.Errorf("the file: %d\n%s", status, file)
		}
		containsAll(t, file, `<html lang="zh">`, `href="http://`, "后来发生的事")
		_, page := w.ask("/console/reports/known"+query, "Accept-Language: zh")
		containsAll(t, page, "/console/reports/known/file?about=staging", "后来发生的事", `href="/console/k/staging"`)
		for query, field := range map[string]string{"on=never": "on", "on=2999-01-01": "on", "on=2001-01-01": "on", "on=today&zone=Mars": "zone"} {
			status, page := w.ask("/console/reports/known?about=" + url.QueryEscape(`"><script>`) + "&" + query)
			if status != http.StatusUnprocessableEntity || !strings.Contains(page, `id="`+field+`-wrong"`) ||
				valueOf(t, page, "about") != `"><script>` || len(elements(t, page, isDangerous)) != 0 {
				t.Errorf("%s: %d\n%s", query, status, page)
			}
		}
	})
}

// What was known on a day is one form, one page and one file.
func TestWhatWasKnownTakesOneFormOnePageAndOneFile(t *testing.T) {
	onEachScreen(t, "", func(w *world, h *hand) {
		w.tell()
		w.staff()
		w.named("user:mia", "Mia Chen")
		id := w.remember(client.Knowledge{
			Type: "plan", Content: "The staging window is on Tuesdays.", Owner: "user:mia", Scopes: []string{"team:pay"},
		}).Knowledge.ID
		h.Go("/console/reports")
		h.use(`a[href="/console/reports/known"]`)
		h.fill("main [name=about]", "staging")
		h.Eval(`document.querySelector("[name=on]").value = "`+time.Now().UTC().Format(time.DateOnly)+`"`, nil)
		h.use("main form[action='/console/reports/known'] button")
		h.WaitFor("article.hit")
		containsAll(h.t, h.Text("main"), "Where is staging?", "Mia Chen", "The staging window is on Tuesdays.")
		for _, machine := range []string{id, "user:", "team:", "knowledge.", "%"} {
			if text := h.Text("main"); strings.Contains(text, machine) {
				h.t.Errorf("the page says %q:\n%s", machine, text)
			}
		}
		h.clicks++
		file := string(h.Download(`a[href*="known/file"]`))
		containsAll(h.t, file, "<!DOCTYPE html>", `"proofs":[`, "Mia Chen")
		h.took(3)
	})
}
