package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/client"
)

func TestAnErasureIsPlannedTypedOrderedAndCertified(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.remember(client.Knowledge{ID: "hers", Type: "tool", Content: "mia's own", Owner: "user:mia", Scopes: []string{"user:mia"}})
		browser := w.login(rootKey)
		_, page := w.visit(browser, "/console/privacy/plan?of=user:mia")
		containsAll(t, page, "Will be erased: 1", `href="/console/k/hers"`, "no way back")
		status, page := w.send(browser, "/console/privacy/plan", "of", "user:mia", "typed", "user:mai")
		if status != http.StatusUnprocessableEntity {
			t.Fatalf("mistyped: %d\n%s", status, page)
		}
		containsAll(t, page, "It must be user:mia.")
		if status, _ := w.visit(browser, "/console/k/hers"); status != http.StatusOK {
			t.Fatalf("it was erased by a mistyped order: %d", status)
		}
		status, page = w.send(browser, "/console/privacy/plan", "of", "user:mia", "typed", "user:mia", "ticket", "DSR-12")
		if status != http.StatusOK {
			t.Fatalf("%d\n%s", status, page)
		}
		containsAll(t, page, "The erasure is ordered.", "DSR-12", "/certificate", "erasure.ordered", "/console/proof?event=")
		at, _, _ := strings.Cut(page[strings.Index(page, "/console/privacy/01"):], `"`)
		w.shows(browser, at, "erasure.completed")
		_, file := w.visit(browser, at+"/certificate")
		containsAll(t, file, `"of":"user:mia"`, `"state":"completed"`)
		_, page = w.visit(browser, "/console/privacy?findings=1")
		containsAll(t, page, "user:mia", "completed", "Scrubbing")
	})
}

func TestAMemberPlansTheErasureOfTheirOwnOnly(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		key, _ := w.given("user:mia")
		browser := w.login(key)
		_, page := w.visit(browser, "/console/privacy")
		containsAll(t, page, "Only auditors and admins")
		if status, _ := w.visit(browser, "/console/privacy/plan?of=user:bob"); status != http.StatusForbidden {
			t.Errorf("the plan for another: %d", status)
		}
		if status, _ := w.visit(browser, "/console/privacy/plan?of=user:mia"); status != http.StatusOK {
			t.Errorf("their own plan: %d", status)
		}
	})
}
