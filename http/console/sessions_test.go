package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/client"
)

func TestASessionShowsItsMessagesAndWhatWasLearned(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		const said = "Remember: I always prefer <b>tabs</b> to spaces."
		say := func(text string) {
			if err := w.api.Say(t.Context(), "planning", client.Message{Role: "user", Content: text}); err != nil {
				t.Fatal(err)
			}
		}
		say(said)
		browser := w.login(rootKey)
		_, page := w.visit(browser, "/console/sessions/planning")
		containsAll(t, page, "&lt;b&gt;tabs", "Nothing was committed.")
		if _, err := w.api.CommitSession(t.Context(), "planning", "stated"); err != nil {
			t.Fatal(err)
		}
		say("And then?")
		page = w.shows(browser, "/console/sessions/planning", "completed")
		_, log := w.visit(browser, "/console/log")
		containsAll(t, log, "events of the server</summary>")
		_, log = w.visit(browser, "/console/log?actor=agent:annals")
		if strings.Contains(log, "</summary><ul") {
			t.Error("what the reader asks for is folded")
		}
		containsAll(t, page, "created", "And then?", `href="/console/k/`, "viking://session/default/planning")
		_, page = w.visit(browser, "/console/sessions?owner=user:default")
		containsAll(t, page, "planning", "completed", "user:default")
		key, _ := w.given("user:mia")
		mia := w.login(key)
		if status, page := w.visit(mia, "/console/sessions/planning?owner=user:default"); status != http.StatusNotFound || strings.Contains(page, "tabs") {
			t.Errorf("another's session: %d", status)
		}
		if _, page := w.visit(mia, "/console/sessions"); strings.Contains(page, "planning") {
			t.Error("another's session is listed")
		}
		if status, page := w.send(browser, "/console/sessions/planning?as_of=1"); status != http.StatusConflict {
			t.Errorf("retried in the past: %d\n%s", status, page)
		}
	})
}
