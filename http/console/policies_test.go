package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/client"
)

// verified sets policies.
func (w *world) verified() {
	w.t.Helper()
	for scope, verifier := range map[string]string{"team:pay": "user:mia", "all": ""} {
		request := client.Request{
			Method: http.MethodPut, Path: []string{"v1", "verification", scope}, Body: map[string]any{"every_days": 90, "verifier": verifier},
		}
		if _, err := w.api.Do(w.t.Context(), request, nil); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestPoliciesAreSetAndRemovedInTheBrowser(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.staff()
		w.verified()
		root := w.login(rootKey)
		const path = "/console/scopes/policies"
		_, page := w.visit(root, path)
		containsAll(t, page, "all scopes", "90 days", "/console/people/user:mia")
		status, page := w.send(root, path, "scope", "team:pay", "type", "plan", "every_days", "soon", "verifier", "user:nobody")
		if status != http.StatusUnprocessableEntity {
			t.Fatalf("%d\n%s", status, page)
		}
		containsAll(t, page, `value="soon"`, `value="user:nobody"`, `value="plan" selected`)
		_, page = w.send(root, path, "scope", "team:pay", "type", "plan", "every_days", "7", "verifier", "")
		containsAll(t, page, "The policy is set", "7 days")
		_, page = w.send(root, path, "scope", "team:pay", "type", "", "approve", "agent", "approve", "import")
		containsAll(t, page, "90 days", "Agents", "Imports") // and how often stays
		_, page = w.visit(root, path+"?scope=team:pay&type=")
		containsAll(t, page, `value="90"`, `value="import" checked`)
		_, page = w.send(root, path, "scope", "team:pay", "type", "", "every_days", "90", "verifier", "user:mia", "changes", "1")
		if strings.Contains(page, `<span class="badge">Imports`) {
			t.Error("imports need approval")
		}
		_, page = w.send(root, path, "scope", "team:pay", "type", "plan", "step", "remove")
		containsAll(t, page, "The policy is removed")
		if strings.Contains(page, "7 days") {
			t.Error("the policy is there")
		}
	})
}

func TestAReviewSaysToWhomItIsAssignedAndWhy(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.staff()
		w.verified()
		w.remember(client.Knowledge{ID: "paid", Type: "plan", Content: "Pay at ten.", Owner: "user:ben", Scopes: []string{"team:pay"}})
		_, page := w.ask("/console/review")
		containsAll(t, page, "Owner deactivated", `href="/console/people/user:ben"`, "Assigned to", "user:mia", "the verifier of its policy", "Hand over")
		_, page = w.ask("/console/review?assigned=user:mia")
		containsAll(t, page, "Pay at ten.", `name="assigned" value="user:mia"`)
		_, page = w.ask("/console/review?assigned=user:olga")
		containsAll(t, page, "Nothing to do")
	})
}

// What waits for approval says so, and is accepted in the review.
func TestAProposedItemSaysThatItWaitsAndIsAcceptedInTheReview(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.staff()
		root := w.login(rootKey)
		w.send(root, "/console/scopes/policies", "scope", "team:pay", "approve", "person")
		mia := w.login(w.issued(map[string]any{"subject": "user:mia", "memberships": []string{"team:pay"}}))
		_, page := w.send(mia, "/console/remember", "content", "Pay at ten.", "scope", "team:pay")
		containsAll(t, page, "It is proposed", "waits for approval", "/console/review?item=")
		_, page = w.visit(root, "/console/review?queue=proposed")
		containsAll(t, page, `value="accept"`, `value="decline"`)
		_, page = w.send(root, "/console/review?queue=proposed", "act", "accept", "id", valueOf(t, page, "id"), "revision", valueOf(t, page, "revision"))
		containsAll(t, page, "It is accepted")
	})
}
