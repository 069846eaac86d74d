package console_test

import (
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/client"
)

// Who reads everything is told of what is meant for them, and not of what is private to others.
func TestNewToYouIsWhatIsMeantForTheReader(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.remember(client.Knowledge{ID: "first", Type: "tool", Content: "The log is not empty."})
		for _, role := range []string{"admin", "auditor"} {
			key := w.issued(map[string]any{"subject": "user:olga", "role": role, "memberships": []string{"team:pay"}})
			for scope, told := range map[string]bool{"user:mia": false, "team:other": false, "team:pay": true, "public": true} {
				title := role + " and " + strings.Replace(scope, ":", " ", 1)
				w.remember(client.Knowledge{Type: "tool", Task: title, Content: title, Scopes: []string{scope}, Owner: "user:mia"})
				_, page := w.visit(w.login(key), "/console/")
				news := strings.SplitN(page, "New to you", 2)[1]
				news, _, _ = strings.Cut(news, "</section>")
				if got := strings.Contains(news, title); got != told {
					t.Errorf("%s is told of %s: got %t, want %t\n%s", role, scope, got, told, news)
				}
			}
		}
	})
}
