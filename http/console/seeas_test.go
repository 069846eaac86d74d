package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/client"
)

func TestSeeAsShowsWhatAnAgentWouldGet(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.remember(client.Knowledge{
			ID: "deploy", Type: "strategy", Task: "How to deploy the shop", Content: "Deploy the shop with <i>make</i> ship.",
			Owner: "user:mia", Scopes: []string{"user:mia"},
		})
		status, page := w.ask("/console/see-as?stage=query&said=how+to+deploy+the+shop&user=mia")
		if status != http.StatusOK {
			t.Fatalf("%d\n%s", status, page)
		}
		containsAll(t, page, "&lt; i&gt;make", "tokens", `href="/console/k/deploy"`, "user:mia")
		w.named("user:mia", "Mia Chen")
		_, page = w.ask("/console/see-as?stage=query&said=how+to+deploy+the+shop&user=mia+chen")
		containsAll(t, page, `href="/console/k/deploy"`, `name="user" value="user:mia"`)
		_, page = w.ask("/console/see-as?stage=query&said=how+to+deploy+the+shop&user=mia+ch")
		containsAll(t, page, `id="user-wrong"`, "Similar: Mia Chen user:mia")
		if strings.Contains(page, "context.user_id") {
			t.Error("the error names a field of the API")
		}
		_, page = w.ask("/console/see-as?stage=query&said=how+to+deploy+the+shop&user=bob")
		containsAll(t, page, "Nothing is known for it.")
		status, page = w.ask("/console/see-as?stage=query")
		if status != http.StatusUnprocessableEntity {
			t.Errorf("nothing asked: %d\n%s", status, page)
		}
	})
}
