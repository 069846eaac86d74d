package console_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestSettingsSayWhereTheyComeFromAndWhichModelAnswers(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		browser := w.login(rootKey)
		status, page := w.visit(browser, "/console/settings")
		if status != http.StatusOK {
			t.Fatalf("%d\n%s", status, page)
		}
		containsAll(t, page, "ANNALS_RATE", "environment", "Requests a second.", "set, not shown", "not tested", "no error known")
		if strings.Contains(page, rootKey) {
			t.Error("the page has the root key")
		}
		_, page = w.send(browser, "/console/settings")
		containsAll(t, page, "512 dimensions", "does not answer", "no such host", "Test again")
		key, _ := w.given("user:mia")
		if status, page := w.visit(w.login(key), "/console/settings"); status != http.StatusForbidden || strings.Contains(page, `href="/console/settings"`) {
			t.Errorf("a member sees the settings: %d", status)
		}
	})
}
