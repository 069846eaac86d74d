package console_test

import (
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/client"
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
