package http_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

//go:embed testdata/organisation.json
var organisation []byte

// askers are Alice, who belongs to every team, and an administrator, who sees everything.
var askers = map[string]object{
	"Alice":         {"user_id": "alice", "team_ids": []string{"platform", "payments"}, "org_id": "acme"},
	"administrator": nil,
}

// questions are what an organisation knows, and questions about it and about nothing that it knows.
type questions struct {
	Items                []object
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
func (w *followed) know(items []object) {
	w.t.Helper()
	last := ""
	for _, item := range items {
		last = w.ask("POST", "/v1/knowledge", item).want(http.StatusCreated).header.Get("Annals-Position")
	}
	w.follow()
	w.ask("POST", "/v1/search?max_wait=25&min_position="+last, object{"query": "deploy"}).want(http.StatusOK)
}

func TestContextFindsWhatSearchFinds(t *testing.T) {
	set := readQuestions(t)
	eachFollowed(t, func(t *testing.T, w *followed) {
		w.know(set.Items)
		both := func(question string, asker object) (found, told *answer) {
			search, need := object{"query": question}, object{"stage": "query", "query": question}
			if asker != nil {
				search["context"], need["context"] = asker, asker
			}
			return w.ask("POST", "/v1/search", search).want(http.StatusOK), w.ask("POST", "/v1/context", need).want(http.StatusOK)
		}
		for name, asker := range askers {
			for _, question := range set.Questions {
				found, told := both(question, asker)
				if len(found.items()) == 0 && asker == nil { // what is private to Alice
					continue
				}
				if len(found.items()) == 0 {
					t.Errorf("for %s, nothing is found about %q", name, question)
					continue
				}
				best := found.items()[0]
				if uri := "<" + pick(best, "knowledge", "uri").(string) + ">"; !strings.Contains(told.json()["injection"].(string), uri) {
					t.Errorf("for %s, %q finds %v first, and the context is\n%s", name, question, pick(best, "knowledge", "id"), told.json()["injection"])
				}
			}
			for _, question := range set.Unrelated {
				if found, told := both(question, asker); told.json()["injection"] != "" {
					t.Errorf("for %s, %q finds %d items, and the context is\n%s", name, question, len(found.items()), told.json()["injection"])
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
	eachFollowed(t, func(t *testing.T, w *followed) {
		w.know(append(set.Items, object{"id": "orion", "type": "plan", "scopes": []string{"org:acme"}, "content": runbook}))
		for _, tokens := range []int{100, 200, 1800} {
			question := object{"stage": "query", "query": "may I deploy checkout-v2 to production on Friday?", "max_tokens": tokens}
			told := w.ask("POST", "/v1/context", question).want(http.StatusOK).json()["injection"].(string)
			best, rest, both := strings.Cut(told, "- Friday rule:")
			if !both || !strings.HasPrefix(best, "## Definitions\n\n- Deploy window of checkout-v2:") || strings.Contains(best, "## Procedures") {
				t.Errorf("with %d tokens the context is\n%s", tokens, told)
			}
			if steps := strings.Count(rest, "with orionctl"); steps > 1 || tokens == 100 && strings.Contains(rest, "##") {
				t.Errorf("with %d tokens the context has %d steps of a runbook:\n%s", tokens, steps, told)
			}
		}
		told := w.ask("POST", "/v1/context", object{"stage": "query", "query": "when may billing-v3 be deployed?"}).want(http.StatusOK)
		like(t, told.json()["injection"].(string),
			beginning("## Definitions\n\n- deploy window of billing-v3: Monday to Thursday"))
	})
}

func TestWhatWasJudgedHarmfulIsContested(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("good", "Drain the queue of the gateway, then restart it")
		w.remember("bad", "Restart the queue of the gateway at once")
		for _, voter := range []string{"user:ann", "user:bo", "user:cy"} {
			w.ask("POST", "/v1/knowledge/bad/feedback", object{"verdict": "harmful"}, header("Annals-Actor: "+voter)).want(http.StatusOK)
		}
		for _, hit := range w.ask("POST", "/v1/search", object{"query": "restart the queue of the gateway"}).want(http.StatusOK).items() {
			id := pick(hit, "knowledge", "id")
			if bad := id == "bad"; (hit["contested"] == true) != bad || bad && pick(hit, "knowledge", "eval", "harmful") != 3.0 {
				t.Errorf("got %v", hit)
			}
		}
		told := w.ask("POST", "/v1/context", object{"stage": "query", "query": "restart the queue of the gateway"}).want(http.StatusOK)
		text := told.json()["injection"].(string)
		before, after, apart := strings.Cut(text, "## Contested: do not rely on\n")
		if !apart || !strings.Contains(before, "Drain the queue") || strings.Contains(before, "at once") || !strings.Contains(after, "at once (0 helpful, 3 harmful) <viking://") {
			t.Errorf("got\n%s", text)
		}
		like(t, byKind(told)["contested"], []any{"bad"})
	})
}
