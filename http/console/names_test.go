package console_test

import (
	"testing"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// People are called by their names, and items by their first words; the id is a hint.
func TestPagesCallPeopleAndItemsByTheirNames(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		for member, name := range map[string]string{"user:mia": "Mia <b>Chen", "team:pay": "Payments"} {
			request := client.Request{Method: "PUT", Path: []string{"v1", "directory", member}, Body: api.NewMember{DisplayName: &name}}
			if _, err := w.api.Do(t.Context(), request, nil); err != nil {
				t.Fatal(err)
			}
		}
		made := w.remember(client.Knowledge{
			Type: "strategy", Content: "Deploys stop on Friday at noon", Owner: "user:mia",
			Scopes: []string{"team:pay", "project:shop", "public"},
		})
		for _, path := range []string{"/console/knowledge", "/console/k/" + made.Knowledge.ID, "/console/search?q=deploys"} {
			_, page := w.ask(path)
			containsAll(t, page, `<bdi title="user:mia">Mia &lt;b&gt;Chen</bdi>`, " stop on Friday")
		}
		_, page := w.ask("/console/knowledge")
		containsAll(t, page, `<bdi title="team:pay">Payments</bdi>`, `<bdi title="project:shop">project shop</bdi>`)
		for _, path := range []string{"/console/", "/console/log"} {
			_, page := w.ask(path)
			containsAll(t, page, ">Deploys stop on Friday at noon</bdi></a>", ">default</bdi>")
		}
	})
}
