package reports_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	. "github.com/annals-kb/annals/http/servertest"
)

// eachDated runs a test on both engines, in a world with keys whose log began at noon of 1 March 2026. go sets the day of
// March.
func eachDated(t *testing.T, test func(t *testing.T, w *World, day func(int))) {
	t.Helper()
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		var ahead atomic.Int64 // days
		noon, began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), time.Now()
		now := func() time.Time { return noon.AddDate(0, 0, int(ahead.Load())).Add(time.Since(began)) }
		w := NewWorld(t, db, events.Options{Clock: now}, func(w *World, cfg *Config) {
			Keyed(w, cfg)
			cfg.Now = now
		})
		w.FollowPast()
		test(t, w, func(day int) { ahead.Store(int64(day - 1)) })
	})
}

func known(w *World, query string, headers ...Header) *Answer {
	w.T.Helper()
	return w.Ask("GET", "/v1/reports/known?"+query, nil, headers...)
}

// byTitle are items of a report by their titles.
func byTitle(items any) map[string]Object {
	all := map[string]Object{}
	for _, item := range items.([]any) {
		title, _ := item.(Object)["title"].(string)
		all[title] = item.(Object)
	}
	return all
}

func TestWhatWasKnownOnADayIsToldAsItWas(t *testing.T) {
	eachDated(t, func(t *testing.T, w *World, day func(int)) {
		olga := w.Admin()
		admin := Bearer(olga)
		mia, zoe, otto := w.GivenTo("user:mia", olga), w.GivenTo("user:zoe", olga),
			Bearer(w.Given(olga, Object{"subject": "user:otto", "role": "auditor"}))
		put := func(path string, body any) {
			t.Helper()
			w.Ask("PUT", "/v1/directory/"+path, body, admin).Want(http.StatusOK)
		}
		put("team:pay", Object{"display_name": "Payments"})
		put("team:ops", nil)
		put("user:mia", Object{"display_name": "Mia Chen"})
		put("user:zoe", nil)
		put("user:mia/groups/team:pay", nil)
		put("user:zoe/groups/team:pay", Object{"role": "maintainer"})
		write := func(id, content string) {
			t.Helper()
			w.Ask("POST", "/v1/knowledge", Shared(id, content, "user:olga", "team:pay"), admin).Want(http.StatusCreated)
		}
		change := func(method, path string, body any) {
			t.Helper()
			if a := w.Ask(method, "/v1/knowledge/"+path, body, admin); a.Status >= 300 {
				t.Fatalf("%s: %d %s", a.What, a.Status, a.Body)
			}
		}
		day(2)
		write("revised", "Kafka keeps messages for seven days.")
		write("moved", "Kafka brokers restart on Sundays.")
		write("deleted", "Kafka topics are named after teams.")
		write("erased", "Kafka passwords lie in the vault.")
		write("gone", "Kafka was here before that day, and was erased.")
		write("replaced", "Kafka runs version two.")
		write("other", "The canteen opens at noon.")
		change("DELETE", "gone?erase=true&reason_code=gdpr-17", nil)
		day(5)
		write("created", "Kafka has twelve partitions.")
		write("new", "Kafka runs version four.")
		change("PATCH", "revised", Object{"content": "Kafka keeps messages for ten days.", "reason": "more disks"})
		change("POST", "revised/feedback", Object{"verdict": "helpful", "trace_id": "a"})
		change("POST", "revised/feedback", Object{"verdict": "helpful", "trace_id": "b"})
		change("POST", "revised/confirm", Object{"until": "2026-06-01T00:00:00Z"})
		change("PATCH", "moved", Object{"scopes": []string{"team:ops"}})
		change("POST", "replaced/supersede", Object{"by": "new"})
		change("DELETE", "deleted", nil)
		change("DELETE", "erased?erase=true&reason_code=gdpr-17", nil)
		w.Ask("POST", "/v1/reviews/proposals", Object{
			"kind": "contradiction", "items": []string{"created", "revised"}, "reason": "how long?",
		}, admin).Want(http.StatusOK)
		w.Ask("DELETE", "/v1/directory/user:mia/groups/team:pay", nil, admin).Want(http.StatusOK)
		day(9)

		for _, asking := range []Header{otto, admin} {
			got := known(w, "about=kafka&on=2026-03-03", asking).Want(http.StatusOK).JSON()
			Like(t, got, Object{"on": "2026-03-03", "zone": "UTC", "until": "2026-03-03T23:59:59.999999Z"})
			Same(t, got["names"].(Object)["user:mia"], any("Mia Chen"))
			items := byTitle(got["items"])
			Same(t, len(items), 4, items)
			revised := items["Kafka keeps messages for seven days."]
			Like(t, revised, Object{
				"knowledge": Object{"id": "revised", "content": "Kafka keeps messages for seven days.", "status": "active"},
				"later": []any{
					Object{"what": "revised", "by": "user:olga", "reason": "more disks", "at": Beginning("2026-03-05T12:")},
					Object{"what": "found_helpful", "count": 2.0},
					Object{"what": "confirmed", "until": "2026-06-01T00:00:00Z"},
				},
				"disputed": []any{Object{"other": Object{"id": "created", "title": "Kafka has twelve partitions."}, "reason": "how long?"}},
			})
			Like(t, items["Kafka brokers restart on Sundays."]["later"], []any{Object{"what": "rescoped", "to": []any{"team:ops"}}})
			Like(t, items["Kafka topics are named after teams."]["later"], []any{Object{"what": "deleted"}})
			Like(t, items["Kafka runs version two."]["later"], []any{
				Object{"what": "superseded", "other": Object{"id": "new", "title": "Kafka runs version four."}},
			})
			Like(t, got["erased"], []any{Object{
				"id": "erased", "owner": "user:olga", "scopes": []any{"team:pay"}, "later": []any{Object{"what": "erased", "reason": "gdpr-17"}},
			}})
			Like(t, readersOf(got, "team:pay"), []any{
				Object{"subject": "user:mia", "reason": "directory"},
				Object{"subject": "user:olga", "reason": "role"},
				Object{"subject": "user:otto", "reason": "role"},
				Object{"subject": "user:zoe", "reason": "directory", "role": "maintainer"},
			})
		}

		// the rights are those of today
		got := known(w, "about=kafka&on=2026-03-03", mia).Want(http.StatusOK).JSON()
		Same(t, got["items"], any([]any{}), "of one who could read it then, and cannot now")
		Same(t, got["erased"], any([]any{}))
		got = known(w, "about=kafka&on=2026-03-03", zoe).Want(http.StatusOK).JSON()
		var titles []string
		for title := range byTitle(got["items"]) {
			titles = append(titles, title)
		}
		slices.Sort(titles)
		Same(t, titles, []string{"Kafka keeps messages for seven days.", "Kafka runs version two."}, "of a steward")
		Same(t, len(readersOf(got, "team:pay")), 4, "a maintainer reads who could")
		for _, scope := range got["readers"].([]any) {
			if of := scope.(Object); (of["hidden"] == true) != (of["scope"] == "user:olga") {
				t.Errorf("the steward reads who could read %v", of)
			}
		}
		got = known(w, "about=kafka&on=2026-03-05", admin).Want(http.StatusOK).JSON()
		Like(t, byTitle(got["items"])["Kafka keeps messages for ten days."]["later"], []any{})
	})
}

func readersOf(report Object, scope string) []any {
	for _, of := range report["readers"].([]any) {
		if of.(Object)["scope"] == scope {
			return of.(Object)["readers"].([]any)
		}
	}
	return nil
}

func TestADayEndsInItsTimeZone(t *testing.T) {
	eachDated(t, func(t *testing.T, w *World, day func(int)) {
		w.Remember("k", "Kafka keeps messages for seven days.") // at noon of 1 March, UTC
		day(4)
		for query, want := range map[string]string{
			"on=2026-03-01":                    "2026-03-01T23:59:59.999999Z",
			"on=2026-03-01&zone=Europe/Berlin": "2026-03-01T22:59:59.999999Z",
			"on=2026-03-29&zone=Europe/Berlin": "", // in the future
			"on=2026-03-01&zone=-11:00":        "2026-03-02T10:59:59.999999Z",
			"on=2026-03-01&zone=%2B13:00":      "", // ended before the log began
			"on=yesterday":                     "2026-03-03T23:59:59.999999Z",
			"on=2026-03-04":                    "2026-03-04T12:", // now
			"on=2026-03-05":                    "",
			"on=2026-03-05&zone=%2B13:00":      "2026-03-04T12:", // there it has begun
			"on=2026-02-28":                    "",
			"on=2026-02-30":                    "",
			"on=2026-03-01T09:30:00Z":          "",
			"on=17":                            "",
			"on=":                              "",
		} {
			a := known(w, "about=kafka&"+query)
			if want == "" {
				Like(t, a.Want(http.StatusUnprocessableEntity).Errors(), []any{Beginning("on: ")}, query)
				continue
			}
			got := a.Want(http.StatusOK).JSON()
			Like(t, got["until"], Beginning(want), query)
			Same(t, len(got["items"].([]any)), 1, query)
		}
		for query, field := range map[string]string{
			"about=kafka&on=2026-03-01&zone=Mars": "zone", "about=kafka&on=2026-03-01&zone=Local": "zone", "about=+&on=2026-03-01": "about",
			"about=kafka&on=2026-03-01&limit=0": "limit", "about=" + url.QueryEscape(strings.Repeat("x", 9000)) + "&on=never": "on",
		} {
			Like(t, known(w, query).Want(http.StatusUnprocessableEntity).Errors(), []any{Beginning(field + ": ")}, query)
		}
	})
}
