package viking_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

// What a question costs does not depend on how much there is to answer with.
func TestAQuestionCostsTheSameRoundTripsHoweverMuchThereIs(t *testing.T) {
	t.Parallel()
	near := databasetest.Open(t, databasetest.Migrated(t, database.Postgres))
	proxy := databasetest.NewProxy(t, databasetest.LetServe(t, near))
	w := newWorld(t, databasetest.Open(t, proxy.URL), keyed)
	questions := []struct {
		method, path string
		body         any
	}{
		{"GET", accounts, nil},
		{"GET", accounts + "/default/users", nil},
		{"GET", at("/api/v1/fs/ls", "viking://resources/guide"), nil},
		{"GET", at("/api/v1/fs/ls", "viking://resources/guide", "recursive=true"), nil},
		{"GET", at("/api/v1/fs/tree", "viking://resources"), nil},
		{"GET", at("/api/v1/fs/stat", "viking://resources/guide"), nil},
		{"GET", at("/api/v1/content/overview", "viking://resources/guide"), nil},
		{"GET", at("/api/v1/relations", "viking://resources/linked.md"), nil},
		{"GET", "/api/v1/skills", nil},
		{"GET", "/api/v1/sessions", nil},
		{"GET", "/api/v1/sessions/talk/context", nil},
		{"GET", "/api/v1/tasks", nil},
		{"GET", "/api/v1/stats/memories", nil},
		{"POST", "/api/v1/search/find", object{"query": "chapter", "limit": 20}},
		{"POST", "/api/v1/search/search", object{"query": "chapter", "limit": 20, "session_id": "talk"}},
		{"POST", "/api/v1/search/grep", object{"uri": "viking://resources", "pattern": "chapter"}},
		{"POST", "/api/v1/search/glob", object{"pattern": "**/*.md"}},
		{"POST", "/api/v1/skills/find", object{"query": "chapter"}},
	}
	cost := func() []int64 { // the least of some: now and then it is seen to that the version is still the one that is read
		trips := make([]int64, len(questions))
		for i, q := range questions {
			for range 4 {
				before := proxy.Trips()
				w.ask(q.method, q.path, q.body, as(rootKey)).want(http.StatusOK)
				if took := proxy.Trips() - before; took < trips[i] || trips[i] == 0 {
					trips[i] = took
				}
			}
		}
		return trips
	}
	w.write("viking://resources/linked.md", "linked")
	grow := func(from, to int) {
		for i := from; i < to; i++ {
			chapter := fmt.Sprintf("viking://resources/guide/%d/chapter.md", i)
			w.write(chapter, fmt.Sprint("chapter ", i))
			w.ask("POST", "/api/v1/relations/link", object{"from_uri": "viking://resources/linked.md", "to_uris": chapter}, as(rootKey)).object()
			w.ask("POST", "/api/v1/skills", object{"data": object{"name": fmt.Sprint("skill-", i), "description": "a chapter", "content": "Do."}}, as(rootKey)).object()
			w.ask("POST", accounts, object{"account_id": fmt.Sprint("acme-", i), "admin_user_id": "ada"}, as(rootKey)).object()
			w.ask("POST", accounts+"/default/users", object{"user_id": fmt.Sprint("user-", i)}, as(rootKey)).object()
			w.ask("POST", fmt.Sprintf("/api/v1/sessions/s-%d/messages", i), object{"role": "user", "content": "chapter"}, as(rootKey)).object()
			w.ask("POST", "/api/v1/sessions/talk/messages", object{"role": "user", "content": fmt.Sprint("chapter ", i)}, as(rootKey)).object()
			w.ask("POST", "/api/v1/sessions/talk/commit", object{}, as(rootKey)).object()
		}
	}
	grow(0, 2)
	few := cost()
	grow(2, 8)
	many := cost()
	for i, q := range questions {
		same(t, many[i], few[i], q.method, q.path)
	}
}

// write makes a file.
func (w *world) write(uri, content string) {
	w.t.Helper()
	w.ask("POST", "/api/v1/content/write", object{"uri": uri, "content": content, "mode": "create"}, as(rootKey)).object()
}

func TestADirectoryHasTheDateOfTheNewestInIt(t *testing.T) {
	each(t, keyed, func(t *testing.T, w *world) {
		began := time.Now().Add(-time.Minute)
		dates := func(uri string) map[string]time.Time {
			found := map[string]time.Time{}
			for _, e := range w.ask("GET", at("/api/v1/fs/ls", uri), nil, as(rootKey)).result().([]any) {
				when, err := time.Parse(time.RFC3339, e.(object)["modTime"].(string))
				if err != nil || when.Before(began) {
					t.Errorf("%v: %v", e, err)
				}
				found[e.(object)["uri"].(string)] = when
			}
			return found
		}
		if len(dates("viking://user/memories")) != 3 { // of a server on which nothing is written yet
			t.Error("the presets are not listed")
		}
		w.write("viking://resources/a/one.md", "one")
		time.Sleep(1100 * time.Millisecond) // dates are in seconds
		w.write("viking://resources/a/two.md", "two")
		files, of := dates("viking://resources/a"), dates("viking://resources")
		newest := files["viking://resources/a/two.md"]
		stat := w.ask("GET", at("/api/v1/fs/stat", "viking://resources/a"), nil, as(rootKey)).object()["modTime"]
		if !newest.After(files["viking://resources/a/one.md"]) || !of["viking://resources/a"].Equal(newest) || stat != newest.Format(time.RFC3339) {
			t.Errorf("%v in %v, %v", files, of, stat)
		}
		if empty := dates("viking://")["viking://session"]; empty.After(newest) || empty.IsZero() {
			t.Errorf("an empty directory is of %v", empty)
		}
	})
}
