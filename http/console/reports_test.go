package console_test

import (
	"encoding/csv"
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/client"
)

func TestEveryReportIsATableAndAFile(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		if _, err := w.api.GiveFeedback(t.Context(), "language", client.Vote{Verdict: "harmful"}); err != nil {
			t.Fatal(err)
		}
		_, all := w.ask("/console/reports")
		for name, report := range map[string]struct {
			query string
			shows []string // on the page
			rows  int
		}{
			"actor":     {"?actor=user:default", []string{"/console/log/", "the schedule changed", "/console/k/staging"}, 6},
			"changes":   {"?scope=user:default", []string{"morning", "<del>", "/console/k/language"}, 6},
			"harm":      {"", []string{`href="/console/k/language"`, "用户的语言", "actor=user%3Adefault"}, 1},
			"stale":     {"", []string{`href="/console/k/staging"`, "it moved"}, 1},
			"declining": {"", []string{`href="/console/k/staging"`, "38 %"}, 2},
		} {
			path := "/console/reports/" + name
			containsAll(t, all, `href="`+path+`"`)
			status, page := w.ask(path + report.query)
			rows := 0
			if tables := named(t, page, "tbody", ""); len(tables) > 0 {
				rows = len(named(t, page, "tr", "")) - 1
			}
			if status != http.StatusOK || rows != report.rows {
				t.Errorf("%s: %d with %d rows", name, status, rows)
			}
			containsAll(t, page, append(report.shows, "/v1/reports/"+name)...)
			status, file := w.ask(path + "/csv" + report.query)
			lines, err := csv.NewReader(strings.NewReader(file)).ReadAll()
			if status != http.StatusOK || err != nil || len(lines) != report.rows+1 {
				t.Errorf("%s as a file: %d %v\n%s", name, status, err, file)
			}
		}
		if status, _ := w.ask("/console/reports/nothing"); status != http.StatusNotFound {
			t.Errorf("an unknown report: %d", status)
		}
	})
}

func TestAReportAsksForWhatItNeedsAndKeepsWhatWasTyped(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		for _, name := range []string{"actor", "changes"} {
			status, page := w.ask("/console/reports/" + name)
			if status != http.StatusOK || !strings.Contains(page, " required") || strings.Contains(page, "/csv") {
				t.Errorf("%s without what it needs: %d\n%s", name, status, page)
			}
		}
		for path, want := range map[string]int{
			"actor?actor=%22%3E%3Cscript%3E": 422, "harm?from=%22%3E%3Cscript%3E": 422,
		} {
			status, page := w.ask("/console/reports/" + path)
			name := strings.FieldsFunc(path, func(r rune) bool { return r == '?' || r == '=' })[1]
			if status != want || valueOf(t, page, name) != `"><script>` || len(elements(t, page, isDangerous)) != 0 {
				t.Errorf("%s: %d\n%s", path, status, page)
			}
		}
	})
}

func TestAReportOfThePastEndsWithTheMoment(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell() // remembered, another, helpful, stale, revised
		for _, query := range []string{"", "&to=2999-01-01"} {
			for _, path := range []string{"", "/csv"} {
				_, then := w.ask("/console/reports/actor" + path + "?actor=user:default&as_of=4" + query)
				if strings.Contains(then, "the schedule changed") || !strings.Contains(then, "it moved") {
					t.Errorf("%s%s:\n%s", path, query, then)
				}
			}
		}
	})
}
