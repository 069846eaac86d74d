package viking_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/http/viking"
)

func TestWhatGivesItemsHasAReceipt(t *testing.T) {
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		recorder := &servertest.Recorder{}
		w := newWorld(t, db, open, func(cfg *viking.Config) { cfg.Recorder = recorder })
		const at = "viking://user/default/memories/entities/tabs.md"
		w.ask("POST", "/api/v1/content/write", object{"uri": at, "content": "Mia uses tabs in Go.", "mode": "create"}).want(http.StatusOK)
		w.ask("POST", "/api/v1/skills", object{"data": "---\nname: sums\ndescription: adds numbers\n---\nAdd the numbers."}).want(http.StatusOK)
		for _, c := range []struct {
			method, path string
			body         any
			route, asked string
			level        domain.Level
		}{
			{"POST", "/api/v1/search/find", object{"query": "Mia tabs Go"}, "", "Mia tabs Go", domain.Abstract},
			{"POST", "/api/v1/search/search", object{"query": "Mia tabs Go"}, "", "Mia tabs Go", domain.Abstract},
			{"POST", "/api/v1/skills/find", object{"query": "add the numbers"}, "", "add the numbers", domain.Abstract},
			{"GET", "/api/v1/content/read?uri=" + at, nil, "/api/v1/content/read", "", domain.Detail},
			{"GET", "/api/v1/content/abstract?uri=" + at, nil, "/api/v1/content/abstract", "", domain.Abstract},
			{"GET", "/api/v1/content/overview?uri=" + at, nil, "/api/v1/content/overview", "", domain.Overview},
			{"GET", "/api/v1/content/download?uri=" + at, nil, "/api/v1/content/download", "", domain.Detail},
			{"GET", "/api/v1/skills/sums", nil, "/api/v1/skills/{name}", "", domain.Detail},
		} {
			got := w.ask(c.method, c.path, c.body, "Annals-Host: openclaw/1", "Annals-Session: s-1").want(http.StatusOK)
			last, receipt := recorder.Last(), fmt.Sprint("r1-", len(recorder.Given()))
			route := c.method + " " + c.path
			if c.route != "" {
				route = c.method + " " + c.route
			}
			servertest.Same(t, []string{string(last.Kind), last.Route, last.Asked, last.Host, last.Session},
				[]string{"use", route, c.asked, "openclaw/1", "s-1"})
			servertest.Same(t, got.header.Get("Annals-Receipt"), receipt, c.path)
			if c.path[len("/api/v1/"):] != "content/download?uri="+at {
				servertest.Same(t, got.json()["receipt"], any(receipt), c.path)
			}
			if len(last.Items) != 1 || last.Items[0].Level != c.level {
				t.Errorf("%s: got %+v, want an item at level %d", c.path, last.Items, c.level)
			}
		}
	})
}
