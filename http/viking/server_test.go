package viking_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

func TestAnIDLeadsToNothingElse(t *testing.T) {
	each(t, open, func(_ *testing.T, w *world) {
		w.ask("POST", "/api/v1/skills", object{"data": object{"name": "deploy", "description": "Deploys", "content": "Build first"}}).object()
		w.ask("DELETE", "/api/v1/sessions/..%2Fskills%2Fdeploy", nil).invalid()
		for _, path := range []string{"/api/v1/sessions/../skills/deploy", "/api/v1/sessions/%2E%2E/skills/deploy", "/api/v1//skills/deploy", "/api/v1/skills/./deploy", "/api/v1/skills/deploy/"} {
			w.ask("DELETE", path, nil).missing()
		}
		w.ask("GET", "/api/v1/skills/deploy", nil).object()
	})
}

func TestABodyThatIsTooLargeIsRefusedAsSuch(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		for _, route := range [][2]string{{"POST", "/api/v1/search/find"}, {"POST", "/api/v1/skills"}, {"POST", "/api/v1/content/write"}} {
			got := w.ask(route[0], route[1], object{"query": strings.Repeat("x", 8<<20)})
			same(t, got.refused(http.StatusRequestEntityTooLarge, "INVALID_ARGUMENT"),
				"a body may have at most 8388608 bytes here", route[1])
		}
	})
}

func TestADatabaseThatIsAwayIsNamed(t *testing.T) {
	t.Parallel()
	near := databasetest.Open(t, databasetest.Migrated(t, database.Postgres))
	proxy := databasetest.NewProxy(t, databasetest.LetServe(t, near))
	w := newWorld(t, databasetest.Open(t, proxy.URL), open)
	w.write("viking://resources/one.md", "one")
	proxy.Down()
	for _, a := range []*answer{
		w.ask("GET", at("/api/v1/content/read", "viking://resources/one.md"), nil),
		w.ask("POST", "/api/v1/content/write", object{"uri": "viking://resources/two.md", "content": "two", "mode": "create"}),
	} {
		same(t, a.refused(http.StatusServiceUnavailable, "UNAVAILABLE"), "the database cannot be reached just now", a.what)
	}
}
