package http_test

import (
	"net/http"
	"strings"
	"testing"
)

// dashboards is what a team and two of its users know.
func (w *world) dashboards() {
	w.t.Helper()
	known := []object{
		{"id": "teal", "category": "preferences", "content": "Alice prefers teal bars on the sales dashboard", "owner": "user:alice"},
		{"id": "quiet", "category": "profile", "content": "Alice works in Lisbon", "owner": "user:alice"},
		{"id": "red", "category": "preferences", "content": "Bob prefers red bars on the sales dashboard", "owner": "user:bob", "scopes": []string{"user:bob", "team:sales"}},
		{"id": "builder", "context_type": "skill", "category": "skills", "content": "sales-dashboard-builder makes the sales dashboard in eight steps", "owner": "team:sales"},
		{"id": "nan", "category": "cases", "content": "The sales dashboard broke: clean NaN rows before adding up", "owner": "team:sales"},
		{"id": "xlsx", "category": "tools", "content": "xlsx_to_csv for the sales dashboard fails with .xlsm", "owner": "team:sales"},
		{"id": "sheet", "category": "patterns", "content": "Check the sheet's head before the sales dashboard is drawn", "owner": "team:sales"},
		{"id": "regex", "category": "antipatterns", "content": "Reading the sales dashboard's XML with a regular expression", "owner": "team:sales"},
		{"id": "kpi", "category": "entities", "content": "The sales dashboard's KPI is net of returns", "owner": "team:sales"},
		{"id": "hidden", "category": "tools", "content": "Somebody else's sales dashboard", "owner": "user:carol"},
	}
	for _, o := range known {
		w.ask("POST", "/v1/knowledge", o).want(http.StatusCreated)
	}
}

// byKind lists the ids of a briefing by kind.
func byKind(a *answer) map[string][]string {
	found := map[string][]string{}
	for _, item := range a.items() {
		found[item["kind"].(string)] = append(found[item["kind"].(string)], pick(item, "knowledge", "id").(string))
	}
	return found
}

var alice = object{"user_id": "alice", "team_id": "sales"}

func TestAnAgentIsToldWhatItNeeds(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.dashboards()
		brief := func(body object) *answer {
			body["context"] = alice
			return w.ask("POST", "/v1/context", body).want(http.StatusOK)
		}
		query := brief(object{"stage": "query", "query": "the sales dashboard"})
		want := map[string][]string{
			"preferences": {"teal"}, "skills": {"builder"}, "cases": {"nan"}, "patterns": {"sheet"}, "tools": {"xlsx"}, "antipatterns": {"regex"},
			"background": {"kpi", "red"}, // red is what another user prefers
		}
		same(t, byKind(query), want, "for a query")
		same(t, pick(query.json(), "hit_counts", "tools"), 1.0)
		for field, part := range map[string]string{
			"injection": "## Pitfalls\n\n- Reading the sales dashboard's XML", "hints": "Pitfall: Reading the sales",
		} {
			like(t, query.json()[field].(string), containing(part), field)
		}

		// Of two things about the user the one that helped more comes first, whatever the task is about.
		w.ask("POST", "/v1/knowledge/quiet/feedback", object{"verdict": "helpful", "trace_id": "t"}).want(http.StatusOK)
		want = map[string][]string{"preferences": {"quiet", "teal"}, "tools": {"xlsx"}}
		start := brief(object{"stage": "start", "task": "xlsx_to_csv"})
		same(t, byKind(start), want, "at the start")
		begun := byKind(brief(object{"stage": "start"}))
		if len(begun["preferences"]) != 2 || len(begun) != 7 {
			t.Errorf("at the start, without a task: %v", begun)
		}
		focus := byKind(brief(object{"stage": "focus", "goal": "the KPI of sales"}))
		same(t, focus["background"], []string{"kpi"}, "at a goal")
		want = map[string][]string{"tools": {"xlsx"}, "cases": {"nan"}}
		analysis := brief(object{"stage": "analysis", "task": "NaN", "tool_issues": []string{"xlsx_to_csv: cannot open", "regular expression"}})
		same(t, byKind(analysis), want, "at analysis")
	})
}

func TestABriefingIsShortAndNothingIsEmpty(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.dashboards()
		body := object{"stage": "query", "query": "make the sales dashboard", "context": alice, "max_tokens": 60}
		short := w.ask("POST", "/v1/context", body).want(http.StatusOK).json()
		if tokens := short["tokens"].(float64); tokens > 60 || tokens == 0 {
			t.Errorf("got %v tokens", tokens)
		}
		body["query"] = "zygomorphic"
		body["min_score"] = 0.9
		empty := w.ask("POST", "/v1/context", body).want(http.StatusOK)
		like(t, empty.json(), object{"injection": "", "hints": ""})
		same(t, len(empty.items()), 0)
		nobody := w.ask("POST", "/v1/context", object{"stage": "start", "context": object{}}).want(http.StatusOK)
		same(t, len(nobody.items()), 0)
	})
}

func TestANeedNamesAllThatIsWrong(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		got := w.ask("POST", "/v1/context", object{
			"stage": "query", "goal": "x", "tool_issues": []string{"y"}, "max_tokens": 0, "min_score": 2, "context": object{"user_id": "?"},
		}).want(http.StatusUnprocessableEntity).errors()
		for i, field := range []string{"goal", "query", "tool_issues", "min_score", "max_tokens", "context.user_id"} {
			if i >= len(got) || !strings.HasPrefix(got[i], field+": ") {
				t.Fatalf("got %q", got)
			}
		}
		for _, body := range []object{{}, {"stage": "lunch"}, {"stage": "focus"}, {"stage": "analysis", "task": " "}} {
			w.ask("POST", "/v1/context", body).want(http.StatusUnprocessableEntity)
		}
		for _, stage := range []string{"", "lunch"} {
			got := w.ask("POST", "/v1/context", object{"stage": stage, "query": "a"}).want(http.StatusUnprocessableEntity).errors()
			like(t, got, []any{beginning("stage: ")}, "at the stage", stage)
		}
		w.ask("POST", "/v1/context", object{"stage": "start"}).want(http.StatusOK)
	})
}
