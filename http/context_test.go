package http_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	. "github.com/annals-kb/annals/http/servertest"
)

// dashboards is what a team and two of its users know.
func dashboards(w *World) {
	w.T.Helper()
	known := []Object{
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
		w.Ask("POST", "/v1/knowledge", o).Want(http.StatusCreated)
	}
}

// byKind lists the ids of a briefing by kind.
func byKind(a *Answer) map[string][]string {
	found := map[string][]string{}
	for _, item := range a.Items() {
		found[item["kind"].(string)] = append(found[item["kind"].(string)], Pick(item, "knowledge", "id").(string))
	}
	return found
}

var alice = Object{"user_id": "alice", "team_id": "sales"}

func TestAnAgentIsToldWhatItNeeds(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		dashboards(w)
		brief := func(body Object) *Answer {
			body["context"] = alice
			return w.Ask("POST", "/v1/context", body).Want(http.StatusOK)
		}
		query := brief(Object{"stage": "query", "query": "the sales dashboard"})
		want := map[string][]string{
			"preferences": {"teal"}, "skills": {"builder"}, "cases": {"nan"}, "patterns": {"sheet"}, "tools": {"xlsx"}, "antipatterns": {"regex"},
			"background": {"kpi", "red"}, // red is what another user prefers
		}
		Same(t, byKind(query), want, "for a query")
		Same(t, Pick(query.JSON(), "hit_counts", "tools"), 1.0)
		for field, part := range map[string]string{
			"injection": "## Pitfalls\n\n- Reading the sales dashboard's XML", "hints": "Pitfall: Reading the sales",
		} {
			Like(t, query.JSON()[field].(string), Containing(part), field)
		}

		// Of two things about the user the one that helped more comes first, whatever the task is about.
		w.Ask("POST", "/v1/knowledge/quiet/feedback", Object{"verdict": "helpful", "trace_id": "t"}).Want(http.StatusOK)
		want = map[string][]string{"preferences": {"quiet", "teal"}, "tools": {"xlsx"}}
		start := brief(Object{"stage": "start", "task": "xlsx_to_csv"})
		Same(t, byKind(start), want, "at the start")
		begun := byKind(brief(Object{"stage": "start"}))
		if len(begun["preferences"]) != 2 || len(begun) != 7 {
			t.Errorf("at the start, without a task: %v", begun)
		}
		focus := byKind(brief(Object{"stage": "focus", "goal": "the KPI of sales"}))
		Same(t, focus["background"], []string{"kpi"}, "at a goal")
		want = map[string][]string{"tools": {"xlsx"}, "cases": {"nan"}}
		analysis := brief(Object{"stage": "analysis", "task": "NaN", "tool_issues": []string{"xlsx_to_csv: cannot open", "regular expression"}})
		Same(t, byKind(analysis), want, "at analysis")
	})
}

func TestABriefingIsShortAndNothingIsEmpty(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		dashboards(w)
		body := Object{"stage": "query", "query": "make the sales dashboard", "context": alice, "max_tokens": 60}
		short := w.Ask("POST", "/v1/context", body).Want(http.StatusOK).JSON()
		if tokens := short["tokens"].(float64); tokens > 60 || tokens == 0 {
			t.Errorf("got %v tokens", tokens)
		}
		body["query"] = "zygomorphic"
		body["min_score"] = 0.9
		empty := w.Ask("POST", "/v1/context", body).Want(http.StatusOK)
		Like(t, empty.JSON(), Object{"injection": "", "hints": ""})
		Same(t, len(empty.Items()), 0)
		nobody := w.Ask("POST", "/v1/context", Object{"stage": "start", "context": Object{}}).Want(http.StatusOK)
		Same(t, len(nobody.Items()), 0)
	})
}

func TestANeedNamesAllThatIsWrong(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		got := w.Ask("POST", "/v1/context", Object{
			"stage": "query", "goal": "x", "tool_issues": []string{"y"}, "max_tokens": 0, "min_score": 2, "context": Object{"user_id": "?"},
		}).Want(http.StatusUnprocessableEntity).Errors()
		for i, field := range []string{"goal", "query", "tool_issues", "min_score", "max_tokens", "context.user_id"} {
			if i >= len(got) || !strings.HasPrefix(got[i], field+": ") {
				t.Fatalf("got %q", got)
			}
		}
		for _, body := range []Object{{}, {"stage": "lunch"}, {"stage": "focus"}, {"stage": "analysis", "task": " "}} {
			w.Ask("POST", "/v1/context", body).Want(http.StatusUnprocessableEntity)
		}
		for _, stage := range []string{"", "lunch"} {
			got := w.Ask("POST", "/v1/context", Object{"stage": stage, "query": "a"}).Want(http.StatusUnprocessableEntity).Errors()
			Like(t, got, []any{Beginning("stage: ")}, "at the stage", stage)
		}
		w.Ask("POST", "/v1/context", Object{"stage": "start"}).Want(http.StatusOK)
	})
}

// What was said in a session is no knowledge to begin another one with, nor to answer a query with.
func TestAContextLeavesArchivesOut(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		const archive = "archive_0123456789abcdef01234567"
		for id, content := range map[string]string{archive: "user: make the sales dashboard", "nan": "The sales dashboard broke: clean NaN rows first"} {
			w.Ask("POST", "/v1/knowledge", Object{"id": id, "type": "usecase", "content": content, "owner": "user:alice"}).Want(http.StatusCreated)
		}
		for _, body := range []Object{{"stage": "start"}, {"stage": "query", "query": "make the sales dashboard"}} {
			body["context"] = alice
			var ids []any
			for _, item := range w.Ask("POST", "/v1/context", body).Want(http.StatusOK).Items() {
				ids = append(ids, Pick(item, "knowledge", "id"))
			}
			Same(t, ids, []any{"nan"}, body["stage"])
		}
	})
}

//go:embed testdata/organisation.json
var organisation []byte

// questions are what an organisation knows, and questions about it and about nothing that it knows.
type questions struct {
	Items                []Object
	Questions, Unrelated []string
}

func readQuestions(t *testing.T) (set questions) {
	t.Helper()
	if err := json.Unmarshal(organisation, &set); err != nil || len(set.Questions) != 31 {
		t.Fatalf("%d questions: %v", len(set.Questions), err)
	}
	return set
}

// know remembers items and waits until they are embedded.
func know(w *World, items []Object) {
	w.T.Helper()
	last := ""
	for _, item := range items {
		last = w.Ask("POST", "/v1/knowledge", item).Want(http.StatusCreated).Header.Get("Annals-Position")
	}
	w.FollowMeaning()
	w.Ask("POST", "/v1/search?max_wait=25&min_position="+last, Object{"query": "deploy"}).Want(http.StatusOK)
}

func TestContextFindsWhatSearchFinds(t *testing.T) {
	set := readQuestions(t)
	EachWith(t, Following, func(t *testing.T, w *World) {
		know(w, set.Items)
		both := func(question string, asker Object) (found, told *Answer) {
			search, need := Object{"query": question}, Object{"stage": "query", "query": question}
			if asker != nil {
				search["context"], need["context"] = asker, asker
			}
			return w.Ask("POST", "/v1/search", search).Want(http.StatusOK), w.Ask("POST", "/v1/context", need).Want(http.StatusOK)
		}
		for name, asker := range askers {
			for _, question := range set.Questions {
				found, told := both(question, asker)
				if len(found.Items()) == 0 && asker == nil { // what is private to Alice
					continue
				}
				if len(found.Items()) == 0 {
					t.Errorf("for %s, nothing is found about %q", name, question)
					continue
				}
				best := found.Items()[0]
				if uri := "<" + Pick(best, "knowledge", "uri").(string) + ">"; !strings.Contains(told.JSON()["injection"].(string), uri) {
					t.Errorf("for %s, %q finds %v first, and the context is\n%s", name, question, Pick(best, "knowledge", "id"), told.JSON()["injection"])
				}
			}
			for _, question := range set.Unrelated {
				if found, told := both(question, asker); told.JSON()["injection"] != "" {
					t.Errorf("for %s, %q finds %d items, and the context is\n%s", name, question, len(found.Items()), told.JSON()["injection"])
				}
			}
		}
	})
}

func TestAContextSpendsItsTokensOnTheBestHits(t *testing.T) {
	runbook := "# Orion runbook\n\nHow the Orion cluster is run in production.\n"
	for i := range 60 {
		runbook += fmt.Sprintf("\n## Node %d\n\n1. Check the lag of node %d.\n2. Deploy the agent to node %d with orionctl, then wait until its light is green again.\n3. Call the next person on the list, and write in the channel that the node is finished.\n", i, i, i)
	}
	set := readQuestions(t)
	EachWith(t, Following, func(t *testing.T, w *World) {
		know(w, append(set.Items, Object{"id": "orion", "type": "plan", "scopes": []string{"org:acme"}, "content": runbook}))
		for _, tokens := range []int{100, 200, 1800} {
			question := Object{"stage": "query", "query": "may I deploy checkout-v2 to production on Friday?", "max_tokens": tokens}
			told := w.Ask("POST", "/v1/context", question).Want(http.StatusOK).JSON()["injection"].(string)
			best, rest, both := strings.Cut(told, "- Friday rule:")
			if !both || !strings.HasPrefix(best, "## Definitions\n\n- Deploy window of checkout-v2:") || strings.Contains(best, "## Procedures") {
				t.Errorf("with %d tokens the context is\n%s", tokens, told)
			}
			if steps := strings.Count(rest, "with orionctl"); steps > 1 || tokens == 100 && strings.Contains(rest, "##") {
				t.Errorf("with %d tokens the context has %d steps of a runbook:\n%s", tokens, steps, told)
			}
		}
		told := w.Ask("POST", "/v1/context", Object{"stage": "query", "query": "when may billing-v3 be deployed?"}).Want(http.StatusOK)
		Like(t, told.JSON()["injection"].(string),
			Beginning("## Definitions\n\n- deploy window of billing-v3: Monday to Thursday"))
	})
}

func TestWhatWasJudgedHarmfulIsContested(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("good", "Drain the queue of the gateway, then restart it")
		w.Remember("bad", "Restart the queue of the gateway at once")
		for _, voter := range []string{"user:ann", "user:bo", "user:cy"} {
			w.Ask("POST", "/v1/knowledge/bad/feedback", Object{"verdict": "harmful"}, Header("Annals-Actor: "+voter)).Want(http.StatusOK)
		}
		for _, hit := range w.Ask("POST", "/v1/search", Object{"query": "restart the queue of the gateway"}).Want(http.StatusOK).Items() {
			id := Pick(hit, "knowledge", "id")
			if bad := id == "bad"; (hit["contested"] == true) != bad || bad && Pick(hit, "knowledge", "eval", "harmful") != 3.0 {
				t.Errorf("got %v", hit)
			}
		}
		told := w.Ask("POST", "/v1/context", Object{"stage": "query", "query": "restart the queue of the gateway"}).Want(http.StatusOK)
		text := told.JSON()["injection"].(string)
		before, after, apart := strings.Cut(text, "## Contested: do not rely on\n")
		if !apart || !strings.Contains(before, "Drain the queue") || strings.Contains(before, "at once") || !strings.Contains(after, "at once (0 helpful, 3 harmful) <viking://") {
			t.Errorf("got\n%s", text)
		}
		Like(t, byKind(told)["contested"], []any{"bad"})
	})
}

// askers are Alice, who belongs to every team, and an administrator, who sees everything.
var askers = map[string]Object{
	"Alice":         {"user_id": "alice", "team_ids": []string{"platform", "payments"}, "org_id": "acme"},
	"administrator": nil,
}
