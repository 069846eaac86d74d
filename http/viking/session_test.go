package viking_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/viking"
	"github.com/annals-kb/annals/projections/extraction" // part: extraction
)

const sessionsPath = "/api/v1/sessions"

// learning lets knowledge be extracted, as while serving.
func (w *world) learning() {
	w.t.Helper()
	w.learningBy(extraction.BuiltIn{}) // part: extraction
}

func TestAnAgentsOwnSessionLiesInItsOwnSpace(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		w.learning()
		said := map[header]string{"Annals-Actor: user:lonely": "The user flew to Lisbon.", "Annals-Actor: agent:lonely": "The agent crawled the zanzibar index."}
		places := map[header]string{
			"Annals-Actor: user:lonely":  "viking://session/lonely/trip",
			"Annals-Actor: agent:lonely": "viking://agent/lonely/sessions/trip",
		}
		for who, text := range said {
			w.ask("POST", sessionsPath+"/trip/messages", object{"role": "assistant", "content": text}, who).object()
			committed := w.ask("POST", sessionsPath+"/trip/commit?wait=true", nil, who).object()
			archive := places[who] + "/history/archive_001"
			if committed["archive_uri"] != archive {
				t.Fatalf("%s: committed %v", who, committed)
			}
			same[any](t, w.ask("GET", sessionsPath+"/trip", nil, who).object()["uri"], places[who], who)
			like(t, w.read(archive, who).(string), containing(text), who)
		}
		question := object{"query": "zanzibar index", "target_uri": "viking://agent/lonely/sessions"}
		found := w.find(question, "Annals-Actor: agent:lonely")
		like(t, found["memories"].([]any),
			[]any{object{"uri": "viking://agent/lonely/sessions/trip/history/archive_001"}}, found)
	})
}

func TestTasksAreListedNewestFirst(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		var ids []string
		for i := range 3 {
			one := fmt.Sprintf("%s/s%d", sessionsPath, i)
			w.ask("POST", one+"/messages", `{"role":"user","content":"I live in Berlin."}`).object()
			committed := w.ask("POST", one+"/commit", nil).object()
			if committed["status"] != "accepted" || committed["trace_id"] == "" {
				t.Errorf("%v", committed)
			}
			ids = append([]string{committed["task_id"].(string)}, ids...)
		}
		listed := func(query string) (found []string) {
			for _, each := range w.ask("GET", "/api/v1/tasks"+query, nil).result().([]any) {
				found = append(found, each.(object)["task_id"].(string))
			}
			return found
		}
		for query, want := range map[string][]string{
			"": ids, "?status=pending&limit=2": ids[:2], "?status=completed": nil, "?resource_id=s1": {ids[1]}, "?limit=0": nil,
			"?task_type=other": nil, "?task_type=session_commit": ids,
		} {
			same(t, listed(query), want, query)
		}
		like(t, w.ask("GET", "/api/v1/tasks/"+ids[0], nil).object(), object{"status": "pending", "result": nil, "error": nil})
		w.learning()
		databasetest.Until(t, "the tasks end", func() bool { return len(listed("?status=completed")) == 3 })
	})
}

func TestExtractListsWhatItMade(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		w.learning()
		w.ask("POST", sessionsPath+"/s1/messages", `{"role":"user","content":"I prefer tabs for indentation."}`, "X-OpenViking-User: mia").object()
		made := w.ask("POST", sessionsPath+"/s1/extract", nil, "X-OpenViking-User: mia").result().([]any)
		like(t, made, []any{object{"category": "preferences", "uri": beginning("viking://user/mia/memories/preferences/")}})
		same(t, len(w.ask("POST", sessionsPath+"/s1/extract", nil, "X-OpenViking-User: mia").result().([]any)), 0)
		w.ask("GET", sessionsPath+"/s1", nil, "X-OpenViking-User: bo").missing()
	})
}

func TestAnArchiveIsFoundUntilItsSessionGoes(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		w.learning()
		found := func() int {
			hits := w.ask("POST", "/v1/search", `{"query":"zorblaxquine","min_score":0.01,"uri":"viking://session/"}`).want(http.StatusOK).json()["items"].([]any)
			return len(hits)
		}
		one := sessionsPath + "/s1"
		for _, how := range []string{"", "?erase=true&reason_code=gdpr-17"} {
			w.ask("POST", one+"/messages", `{"role":"user","content":"please talk about zorblaxquine"}`).object()
			w.ask("POST", one+"/commit?wait=true", nil).object()
			same(t, found(), 1)
			w.ask("DELETE", one+how, nil).object()
			same(t, found(), 0)
		}
		w.ask("POST", sessionsPath+"/s2/messages", `{"role":"user","content":"zorblaxquine"}`).object() // in no archive
		w.ask("DELETE", sessionsPath+"/s2?erase=true&reason_code=gdpr-17", nil).object()
		like(t, string(w.ask("GET", "/v1/events?limit=100", nil).want(http.StatusOK).body),
			lacking("zorblaxquine"), "the log still says it")
	})
}

// Whoever may not erase an archive destroys nothing of its session.
func TestASessionIsErasedWholeOrNotAtAll(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		w.learning()
		const mia = header("X-OpenViking-User: mia")
		w.ask("POST", sessionsPath+"/s1/messages", `{"role":"user","content":"zorblaxquine is what we talk about"}`, mia).object()
		w.ask("POST", sessionsPath+"/s1/commit?wait=true", nil, mia).object()
		said := func(what string) {
			t.Helper()
			like(t, fmt.Sprint(w.ask("GET", sessionsPath+"/s1/archives/archive_001", nil, mia).object()["messages"]),
				containing("zorblaxquine"), what)
		}
		one := sessionsPath + "/s1?owner=user:mia&erase=true"
		w.ask("DELETE", one, nil, mia).forbidden()
		said("not in person")

		archive := "/v1/knowledge/" + domain.ArchiveItem("session:mia/s1", 1)
		w.ask("POST", archive+"/hold", `{"reason_code":"litigation"}`).want(http.StatusOK)
		w.ask("DELETE", one, nil).refused(http.StatusConflict, "CONFLICT")
		said("on hold")

		w.ask("POST", archive+"/release", `{"reason_code":"settled"}`).want(http.StatusOK)
		like(t, w.ask("DELETE", one, nil).object(), object{"erased": true})
		w.ask("GET", archive, nil).want(http.StatusGone)
	})
}

// A caller who asks for an extraction is told that it is not done, and not that there is nothing to learn.
func TestExtractDoesNotCallAnOutageNothing(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		w.ask("POST", sessionsPath+"/s1/messages", `{"role":"user","content":"My timezone is Europe/Berlin."}`).object()
		for range 2 { // it goes on after the first request
			like(t, w.ask("POST", sessionsPath+"/s1/extract", nil).refused(http.StatusGatewayTimeout, "DEADLINE_EXCEEDED"),
				containing("not done"))
		}
	}, func(cfg *viking.Config) { cfg.Sessions = lateSessions{cfg.Sessions} })
}

// lateSessions have extractions that end too late for every caller.
type lateSessions struct{ viking.Sessions }

func (lateSessions) AwaitExtraction(context.Context, string, int64) error {
	return context.DeadlineExceeded
}

// Clients that store what a user wants remembered open a session, add one message, extract and delete it.
func TestAStatedMessageIsExtractedAndFound(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		w.learning()
		store := func(session, fact string) object {
			w.ask("POST", sessionsPath, object{"session_id": session}).object()
			w.ask("POST", sessionsPath+"/"+session+"/messages", object{"role": "user", "content": fact}).object()
			made := w.ask("POST", sessionsPath+"/"+session+"/extract", nil).result().([]any)
			w.ask("DELETE", sessionsPath+"/"+session, nil).object()
			if len(made) != 1 {
				t.Fatalf("%q gave %v", fact, made)
			}
			return made[0].(object)
		}
		first, again := store("a", "My timezone is Europe/Berlin."), store("b", "My timezone is Europe/Berlin.")
		like(t, first, object{"decision": "create"})
		like(t, again, object{"decision": "vote", "id": first["id"], "uri": first["uri"]})
		like(t, w.find(object{"query": "timezone"})["memories"].([]any), []any{object{"uri": first["uri"]}})
	})
}

func TestACommitNamesTheScopesOfEachItem(t *testing.T) {
	each(t, keyed, func(t *testing.T, w *world) {
		w.learning()
		const tool = `{"role":"assistant","content":"chromedriver 124 requires Chrome 124."}`
		key := func(user string) header {
			return w.keyFor(object{"subject": "user:" + user, "memberships": []any{"team:web"}}, "Annals-Tenant: default")
		}
		mia, bo := key("mia"), key("bo")
		hits := func() int {
			return len(w.find(object{"query": "chromedriver"}, bo)["memories"].([]any))
		}
		for _, step := range []struct {
			body, scope string
			hits        int
		}{{`{}`, "user:mia", 0}, {`{"scopes":["team:web"]}`, "team:web", 1}} {
			w.ask("POST", sessionsPath+"/s1/messages", tool, mia).object()
			committed := w.ask("POST", sessionsPath+"/s1/commit?wait=true", step.body, mia).object()
			lessons := committed["lessons"].([]any)
			task := w.ask("GET", "/api/v1/tasks/"+committed["task_id"].(string), nil, mia).object()["result"].(object)["lessons"]
			if diff := cmp.Diff(any(lessons), task); diff != "" || len(lessons) != 1 || lessons[0].(object)["scopes"].([]any)[0] != step.scope || hits() != step.hits {
				t.Errorf("%s: %v, and another member finds %d", step.body, committed, hits())
			}
		}
		w.ask("POST", sessionsPath+"/s1/messages", tool, mia).object()
		w.ask("POST", sessionsPath+"/s1/commit", `{"scopes":["public"]}`, mia).forbidden()
		w.ask("POST", sessionsPath+"/s1/commit", `{"scopes":["everybody"]}`, mia).invalid()
	})
}

func TestMessagesThatASessionHasAreAddedOnce(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		const one = sessionsPath + "/s1"
		say := func(first int, texts ...string) object {
			var messages []object
			for _, text := range texts {
				messages = append(messages, object{"role": "user", "content": text, "created_at": "2026-03-1" + text + "T08:00:00Z"})
			}
			return w.ask("POST", one+"/messages/batch", object{"messages": messages, "first": first}).object()
		}
		like(t, say(1, "1", "2"), object{"added": 2.0, "newest_message": 2.0})
		w.ask("POST", one+"/commit", object{}).object()
		like(t, say(1, "1", "2", "3"), object{"added": 1.0, "newest_message": 3.0, "message_count": 1.0})
		like(t, say(2, "2"), object{"added": 0.0, "newest_message": 3.0})
		w.ask("POST", one+"/messages/batch", object{"messages": []object{{"role": "user", "content": "5"}}, "first": 5}).want(http.StatusConflict)
		like(t, w.ask("GET", one, nil).object(), object{"said_from": "2026-03-11T08:00:00Z", "said_until": "2026-03-13T08:00:00Z"})

		// What was deleted stays so.
		w.ask("DELETE", one, nil).object()
		like(t, say(1, "1", "2", "3"), object{"added": 0.0, "newest_message": 3.0})
		w.ask("GET", one, nil).want(http.StatusNotFound)
	})
}
