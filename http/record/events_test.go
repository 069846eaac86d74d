package record_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	. "github.com/annals-kb/annals/http/servertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// told is a log with items of several people, votes and a forgotten item.
func told(w *World) {
	w.T.Helper()
	ask := func(method, path string, body any, headers ...Header) {
		w.T.Helper()
		if a := w.Ask(method, path, body, headers...); a.Status >= 300 {
			w.T.Fatalf("%s: %d %s", a.What, a.Status, a.Body)
		}
	}
	shared := Item("shared", "=cmd()|' /C calc'!A0")
	shared["scopes"], shared["owner"] = []string{"project:p", "user:mia"}, "user:mia"
	ask("POST", "/v1/knowledge", shared, "Annals-Actor: user:mia", "X-Request-Id: r-1") // 1
	own := Item("own", "Bo's own")
	own["scopes"], own["owner"], own["occurred_at"] = []string{"user:bo"}, "user:bo", "2026-03-02T10:00:00Z"
	ask("POST", "/v1/knowledge", own, "Annals-Actor: user:bo", "Annals-Correlation-Id: c-1") // 2
	public := Item("public", "for all")
	public["scopes"], public["owner"] = []string{"public"}, "team:t"
	public["source"] = Object{"trace_id": "t-9"}
	ask("POST", "/v1/knowledge", public)                                                                                              // 3
	ask("POST", "/v1/knowledge/shared/feedback", Object{"verdict": "harmful", "trace_id": "t-1"}, "Annals-Actor: agent:a")            // 4
	ask("POST", "/v1/knowledge/own/stale", Object{"reason": "a, \"b\"\nc"}, "Annals-Actor: agent:a", "Annals-On-Behalf-Of: user:bo")  // 5
	ask("PATCH", "/v1/knowledge/public", Object{"task": "x"}, "Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01") // 6
	ask("DELETE", "/v1/knowledge/shared", nil, "Annals-Actor: user:mia")                                                              // 7
}

func TestEventsAreSelectedByEverythingThatIsKnownOfThem(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		told(w)
		for query, want := range map[string][]float64{
			"":                             {1, 2, 3, 4, 5, 6, 7},
			"order=desc":                   {7, 6, 5, 4, 3, 2, 1},
			"after=1":                      {2, 3, 4, 5, 6, 7},
			"order=desc&after=3":           {2, 1},
			"limit=1":                      {1},
			"actor=user:bo":                {2, 5},
			"name=knowledge.found_harmful": {4},
			"name=knowledge.found_harmful,knowledge.remembered": {1, 2, 3, 4},
			"stream=knowledge:own":                              {2, 5},
			"to=2020-01-01":                                     nil,
			"from=2020-01-01":                                   {1, 2, 3, 4, 5, 6, 7},
			"name=knowledge.*":                                  {1, 2, 3, 4, 5, 6, 7},
			"name=knowledge.re*":                                {1, 2, 3, 5, 6},
			"name=knowledge.found_*,knowledge.deleted":          {4, 7},
			"scope=project:p":                                   {1, 4, 7}, // forgotten meanwhile
			"scope=user:bo":                                     {2, 5},
			"scope=public":                                      {3, 6},
			"scope=team:nobody":                                 nil,
			"owner=user:mia":                                    {1, 4, 7},
			"owner=team:t":                                      {3, 6},
			"owner=user:mia&scope=public":                       nil,
			"on_behalf_of=user:bo":                              {5},
			"request_id=r-1":                                    {1},
			"correlation_id=c-1":                                {2},
			"trace_id=t-1":                                      {4},
			"trace_id=t-9":                                      {3},
			"trace_id=0af7651916cd43dd8448eb211c80319c":         {6},
			"occurred_from=2026-03-01&occurred_to=2026-03-03":   {2},
			"occurred_from=2026-03-03":                          nil,
			"q=BO'S":                                            {2},
			"q=calc+CMD":                                        {1},
			"q=calc+nowhere":                                    nil,
			"q=b":                                               {2, 3, 5},
			"q=t-9":                                             {3},
			"q=content":                                         nil, // the name of a field
			"q=own&order=desc&limit=1":                          {2},
		} {
			Same(t, Positions(w.Ask("GET", "/v1/events?"+query, nil).Want(http.StatusOK).Items()), want, query)
		}
		Same(t, Positions(w.Pages("/v1/events?order=desc&limit=3")), []float64{7, 6, 5, 4, 3, 2, 1}, "page by page")
	})
}

func TestMembersReadTheLogOfWhatTheyMaySeeNow(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		told(w)
		for who, want := range map[string][]float64{
			"user:bo":   {2, 3, 5, 6},
			"user:mia":  {1, 3, 4, 6, 7}, // hers, though forgotten
			"user:else": {3, 6},
			"project:p": {3, 6}, // what was forgotten is seen by its owner alone
		} {
			behalf := For(who)
			Same(t, Positions(w.Ask("GET", "/v1/events", nil, behalf).Want(http.StatusOK).Items()), want, who)
			Same(t, len(w.Ask("GET", "/v1/events?stream=knowledge:own", nil, behalf).Items()) > 0, who == "user:bo", who)
		}
		w.Ask("PATCH", "/v1/knowledge/public", Object{"scopes": []string{"team:t"}}).Want(http.StatusOK)
		Like(t, w.Ask("GET", "/v1/events", nil, "Annals-On-Behalf-Of: user:else").Items(), Count(0), "what is shared no more")
	})
}

func TestEventsAreCountedOverTimeOfThoseThatTheCallerReads(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		empty := w.Ask("GET", "/v1/events/histogram", nil).Want(http.StatusOK)
		Like(t, empty.JSON()["buckets"], []any{}, "an empty log")
		told(w)
		counted := func(query string, headers ...Header) (count, first float64) {
			t.Helper()
			a := w.Ask("GET", "/v1/events/histogram?from=2020-01-01&buckets=1"+query, nil, headers...).Want(http.StatusOK)
			bucket := a.JSON()["buckets"].([]any)[0].(Object)
			first, _ = bucket["first_position"].(float64)
			return bucket["count"].(float64), first
		}
		for query, want := range map[string][2]float64{
			"": {7, 1}, "&actor=user:bo": {2, 2}, "&name=knowledge.found_*": {1, 4}, "&stream=knowledge:own": {2, 2},
			"&scope=public": {2, 3}, "&owner=user:mia": {3, 1}, "&scope=team:nobody": {0, 0}, "&request_id=r-1": {1, 1},
			"&to=2021-01-01": {0, 0}, "&occurred_from=2026-03-01&occurred_to=2026-03-03": {1, 2},
		} {
			count, first := counted(query)
			Same(t, [2]float64{count, first}, want, query)
		}
		for who, want := range map[string][2]float64{"user:bo": {4, 2}, "user:mia": {5, 1}, "user:else": {2, 3}} {
			count, first := counted("", For(who))
			Same(t, [2]float64{count, first}, want, who)
		}
		all := w.Ask("GET", "/v1/events/histogram", nil).JSON()["buckets"].([]any)
		Same(t, len(all), 60, "without buckets")
		for i, bad := range w.Ask("GET", "/v1/events/histogram?buckets=0&from=never&name=nothing&actor=x", nil).
			Want(http.StatusUnprocessableEntity).Errors() {
			if field := []string{"actor", "name", "from", "buckets"}[i]; !strings.HasPrefix(bad, field+":") {
				t.Errorf("got %q, want a message about %s", bad, field)
			}
		}
	})
}

func TestTheLogCanBeHadAsLinesAndAsCSV(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		told(w)
		var lines strings.Builder
		for i := range 450 { // some pages of lines
			fmt.Fprintf(&lines, `{"id":"many-%d","type":"tool","content":"-%d"}`+"\n", i, i)
		}
		w.Ask("POST", "/v1/knowledge", lines.String(), NDJSON).Want(http.StatusOK)
		all := w.Ask("GET", "/v1/events", nil, "Accept: application/x-ndjson").Want(http.StatusOK).Lines()
		if len(all) != 457 || all[456]["position"] != 457.0 {
			t.Errorf("%d lines", len(all))
		}
		given := w.Ask("GET", "/v1/events", nil, "Accept: text/html;q=0.9, text/csv").Want(http.StatusOK)
		Like(t, string(given.Body), Beginning("position,recorded_at,"))
		Same(t, strings.Count(string(given.Body), "\r\n"), 458)
		rows, err := csv.NewReader(strings.NewReader(string(given.Body))).ReadAll()
		if err != nil || len(rows) != 458 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		reason := slices.Index(rows[0], "reason")
		Same(t, rows[5][reason], "a, \"b\"\nc", "a reason reads")
		for _, cell := range slices.Concat(rows...) {
			if strings.HasPrefix(cell, "=") || strings.HasPrefix(cell, "@") {
				t.Errorf("a spreadsheet would compute %q", cell)
			}
		}
		hers := w.Ask("GET", "/v1/events?order=desc&owner=user:mia", nil, "Accept: text/csv")
		Same(t, strings.Count(string(hers.Body), "\r\n"), 4)
	})
}

func TestBadQuestionsAboutTheLogAreRefused(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		told(w)
		next := w.Ask("GET", "/v1/events?limit=1&scope=public", nil).JSON()["next_cursor"].(string)
		for query, want := range map[string]int{
			"scope=public&cursor=" + next:                     http.StatusOK,
			"scope=user:bo&cursor=" + next:                    http.StatusUnprocessableEntity,
			"cursor=" + next:                                  http.StatusUnprocessableEntity,
			"from=2026-03-02&to=2026-03-02":                   http.StatusUnprocessableEntity,
			"occurred_from=2026-03-02&occurred_to=1999-03-02": http.StatusUnprocessableEntity,
			"from=someday":                                    http.StatusUnprocessableEntity,
			"name=knowledge.rememberd":                        http.StatusUnprocessableEntity,
			"name=knowledge.x*":                               http.StatusUnprocessableEntity,
			"name=*;drop=1":                                   http.StatusUnprocessableEntity,
			"scope=everybody":                                 http.StatusUnprocessableEntity,
			"owner=public":                                    http.StatusUnprocessableEntity,
			"on_behalf_of=me":                                 http.StatusUnprocessableEntity,
			"trace_id=" + strings.Repeat("x", 300):            http.StatusUnprocessableEntity,
			"follow=true":                                     http.StatusUnprocessableEntity,
			"q=%20":                                           http.StatusUnprocessableEntity,
			"q=" + strings.Repeat("x", 300):                   http.StatusUnprocessableEntity,
		} {
			if got := w.Ask("GET", "/v1/events?"+query, nil); got.Status != want {
				t.Errorf("%s: got %d, want %d\n%s", query, got.Status, want, got.Body)
			}
		}
		w.Ask("GET", "/v1/events?limit=3", nil, "Accept: text/csv").Want(http.StatusUnprocessableEntity)
		w.Ask("GET", "/v1/events", nil, "Accept: image/png").Want(http.StatusNotAcceptable)
	})
}

// A reader that knows more of a log than there is has read another one: an older backup was restored.
func TestAReaderBeyondTheLogIsToldWhereItEnds(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		told(w)
		for path, headers := range map[string][]Header{
			"/v1/events?after=8":                         nil,
			"/v1/events?after=8&name=knowledge.restored": nil,
			"/v1/events?after=9":                         {"Accept: application/x-ndjson"},
			"/v1/events?after=10":                        {"Accept: text/event-stream"},
		} {
			got := w.Ask("GET", path, nil, headers...).Want(http.StatusUnprocessableEntity).Errors()
			Same(t, got, []string{"after: is beyond the log, which ends at 7"}, path)
		}
		for path, want := range map[string]int{"/v1/events?after=7": 0, "/v1/events?after=6": 1, "/v1/events?after=9&order=desc": 7} {
			Same(t, len(w.Ask("GET", path, nil).Want(http.StatusOK).Items()), want, path)
		}
	})
}
