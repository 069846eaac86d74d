package viking_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/extraction"
	"github.com/annals-kb/annals/projections/sessions"
	"github.com/annals-kb/annals/viking"
)

const sessionsPath = "/api/v1/sessions"

// learning lets knowledge be extracted, as while serving.
func (w *world) learning() {
	w.t.Helper()
	w.learningBy(extraction.BuiltIn{})
}

func (w *world) learningBy(extractor extraction.Extractor) {
	w.t.Helper()
	logger := databasetest.Log(w.t)
	router, err := follow.NewRouter(logger)
	if err != nil {
		w.t.Fatal(err)
	}
	extraction.NewWorker(extraction.Options{
		Log: w.log, Writer: w.log, Reader: w.base, Archivist: sessions.Sessions{Log: w.log}, Extractor: extractor, Logger: logger,
	}).Follow(router)
	ctx, stop := context.WithCancel(database.ForEveryTenant(context.WithoutCancel(w.t.Context())))
	ended := make(chan error, 1)
	go func() { ended <- router.Run(ctx) }()
	w.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
	})
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
			if got := w.ask("GET", sessionsPath+"/trip", nil, who).object()["uri"]; got != places[who] {
				t.Errorf("%s: the session lies at %v", who, got)
			}
			if read := w.ask("GET", at("/api/v1/content/read", archive), nil, who).result(); !strings.Contains(read.(string), text) {
				t.Errorf("%s: read %v", who, read)
			}
		}
		found := w.ask("POST", "/api/v1/search/find", object{"query": "zanzibar index", "target_uri": "viking://agent/lonely/sessions"}, "Annals-Actor: agent:lonely").object()
		if memories := found["memories"].([]any); len(memories) != 1 || memories[0].(object)["uri"] != "viking://agent/lonely/sessions/trip/history/archive_001" {
			t.Errorf("found %v", found)
		}
	})
}

func TestASessionAsItsClientsUseIt(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		w.learning()
		created := w.ask("POST", sessionsPath, `{"session_id":"openspace-evo-t42"}`).object()
		want := object{
			"session_id": "openspace-evo-t42", "uri": "viking://session/default/openspace-evo-t42",
			"user": object{"account_id": "default", "user_id": "default", "agent_id": "default"},
		}
		if diff := cmp.Diff(created, want); diff != "" {
			t.Errorf("created (-got +want):\n%s", diff)
		}
		w.ask("POST", sessionsPath, `{"session_id":"openspace-evo-t42"}`).refused(http.StatusConflict, "ALREADY_EXISTS")
		one := sessionsPath + "/openspace-evo-t42"
		added := w.ask("POST", one+"/messages", `{"role":"user","content":"fix chromedriver mismatch"}`).object()
		if added["session_id"] != "openspace-evo-t42" || added["message_count"] != 1.0 {
			t.Errorf("added %v", added)
		}
		added = w.ask("POST", one+"/messages/batch", `{"messages":[
			{"role":"assistant","content":"Fixed by upgrading Chrome to 124."},
			{"role":"user","parts":[{"type":"text","text":"I prefer short answers."}],"content":"ignored","created_at":"2026-03-12T08:00:00"}]}`).object()
		if added["message_count"] != 3.0 || added["added"] != 2.0 || added["pending_tokens"].(float64) < 10 {
			t.Errorf("added %v", added)
		}
		w.write("viking://agent/memories/tools/x.md", "x needs y.")
		w.ask("POST", "/api/v1/skills", object{"data": object{"name": "y", "description": "Does it.", "content": "# y"}}).object()
		used := w.ask("POST", one+"/used", `{"contexts":["viking://agent/memories/tools/x.md","viking://nowhere/z.md","viking://nowhere/y.md"],"skill":{"uri":"viking://agent/skills/y","success":true}}`).object()
		if used["contexts_used"] != 3.0 || used["skills_used"] != 1.0 {
			t.Errorf("used %v", used)
		}
		before := w.ask("GET", one+"/context", nil).object()
		if got := len(before["messages"].([]any)); got != 3 || before["latest_archive_overview"] != "" {
			t.Errorf("context %v", before)
		}
		committed := w.ask("POST", one+"/commit?wait=true", `{"trigger":"task_done"}`).object()
		if committed["status"] != "committed" || committed["archived"] != true || committed["memories_extracted"] != 2.0 ||
			committed["archive_uri"] != "viking://session/default/openspace-evo-t42/history/archive_001" || committed["active_count_updated"] != 2.0 {
			t.Errorf("committed %v", committed)
		}
		for _, uri := range []string{"viking://agent/memories/tools/", "viking://agent/skills/y/"} {
			if got := w.ask("GET", "/v1/knowledge?uri="+uri, nil).want(http.StatusOK).json()["items"].([]any)[0].(object)["eval"].(object)["helpful"]; got != 2.0 {
				t.Errorf("%s has %v voices", uri, got)
			}
		}
		task := w.ask("GET", "/api/v1/tasks/"+committed["task_id"].(string), nil).object()
		result := task["result"].(object)
		counts := result["memories_extracted"].(object)
		if task["status"] != "completed" || task["task_type"] != "session_commit" || task["resource_id"] != "openspace-evo-t42" ||
			counts["preferences"] != 1.0 || counts["cases"] != 1.0 || counts["total"] != 2.0 || result["trigger"] != "task_done" || result["active_count_updated"] != 2.0 {
			t.Errorf("task %v", task)
		}
		archive := w.ask("GET", one+"/archives/archive_001", nil).object()
		if messages := archive["messages"].([]any); len(messages) != 3 ||
			messages[2].(object)["created_at"] != "2026-03-12T08:00:00.000Z" || !strings.HasPrefix(messages[0].(object)["id"].(string), "msg_") {
			t.Errorf("archive %v", archive)
		}
		if !strings.Contains(archive["overview"].(string), "Overview: 2 turns, 3 messages") {
			t.Errorf("overview %v", archive["overview"])
		}
		w.ask("GET", one+"/archives/archive_002", nil).refused(http.StatusNotFound, "NOT_FOUND")
		w.ask("GET", one+"/archives/x", nil).refused(http.StatusNotFound, "NOT_FOUND")
		after := w.ask("GET", one+"/context?token_budget=1000", nil).object()
		if stats := after["stats"].(object); len(after["messages"].([]any)) != 0 || after["latest_archive_overview"] == "" || stats["totalArchives"] != 1.0 || stats["includedArchives"] != 1.0 {
			t.Errorf("context %v", after)
		}
		shown := w.ask("GET", one, nil).object()
		if shown["message_count"] != 0.0 || shown["commit_count"] != 1.0 || shown["memories_extracted"].(object)["total"] != 2.0 || shown["last_commit_at"] == "" {
			t.Errorf("shown %v", shown)
		}
		if stats := w.ask("GET", "/api/v1/stats/sessions/openspace-evo-t42", nil).object(); stats["total_turns"] != 2.0 || stats["memories_extracted"] != 2.0 {
			t.Errorf("stats %v", stats)
		}
		empty := w.ask("POST", one+"/commit", `{}`).object()
		if empty["task_id"] != nil || empty["archived"] != false {
			t.Errorf("empty commit %v", empty)
		}
		list := w.ask("GET", sessionsPath, nil).result()
		if diff := cmp.Diff(list, any([]any{object{"session_id": "openspace-evo-t42", "uri": "viking://session/default/openspace-evo-t42", "is_dir": true}})); diff != "" {
			t.Errorf("list (-got +want):\n%s", diff)
		}
		for range 2 { // of nothing, too
			if gone := w.ask("DELETE", one, nil).object(); gone["session_id"] != "openspace-evo-t42" {
				t.Errorf("deleted %v", gone)
			}
		}
		w.ask("GET", one, nil).refused(http.StatusNotFound, "NOT_FOUND")
		if again := w.ask("POST", one+"/messages", `{"role":"user","content":""}`).object(); again["message_count"] != 1.0 {
			t.Errorf("a message to a deleted session: %v", again)
		}
	})
}

func TestAMessageBeginsItsSession(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		w.ask("POST", sessionsPath+"/s1/messages", `{"role":"user","content":"你好，世界"}`).object()
		if shown := w.ask("GET", sessionsPath+"/s1", nil).object(); shown["pending_tokens"].(float64) < 6 {
			t.Errorf("%v pending tokens of four Chinese characters and a sign", shown["pending_tokens"])
		}
		if named := w.ask("POST", sessionsPath, nil).object(); len(named["session_id"].(string)) != 36 {
			t.Errorf("a session without a name is %v", named)
		}
		w.ask("GET", sessionsPath+"/s2", nil).refused(http.StatusNotFound, "NOT_FOUND")
		if made := w.ask("GET", sessionsPath+"/s2?auto_create=true", nil).object(); made["message_count"] != 0.0 {
			t.Errorf("%v", made)
		}
	})
}

func TestWhatCannotBeSaidIsRefused(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		for body, field := range map[string]string{
			`{"role":"user"}`: "content", `{"content":"x"}`: "role", `{"role":"user","content":"x","created_at":"yesterday"}`: "created_at", `{"role":"user","content":"x","created_at":"0001-01-01"}`: "created_at",
			`{"role":"user","content":7}`: "content", `{"role":"wizard","content":"x"}`: "role: must be user, assistant, system or tool",
			`{"role":"User","content":"x"}`: "role",
			`{"role":"user","parts":[{"type":"text","text":"x"},{"type":"thought","text":"x"}]}`: "parts[1].type: must be text, context, tool or image_url",
			`{"role":"tool","parts":[{"type":"tool","tool_name":"ls","duration_ms":-5}]}`:        "parts[0].duration_ms: must not be negative",
			`{"role":"tool","parts":[{"type":"tool","tool_name":"ls","prompt_tokens":-5}]}`:      "parts[0].prompt_tokens: must not be negative",
			`{"role":"tool","parts":[{"type":"tool","tool_name":"ls","completion_tokens":-5}]}`:  "parts[0].completion_tokens: must not be negative",
		} {
			if said := w.ask("POST", sessionsPath+"/s1/messages", body).refused(http.StatusBadRequest, "INVALID_ARGUMENT"); !strings.HasPrefix(said, field) {
				t.Errorf("%s: %s", body, said)
			}
		}
		many := `{"messages":[` + strings.TrimSuffix(strings.Repeat(`{"role":"user","content":"x"},`, 101), ",") + `]}`
		for path, body := range map[string]string{
			"/s1/messages/batch": many, "/s1/messages/batch?": `{"messages":[]}`, "/a%20b/messages": `{"role":"user","content":"x"}`,
		} {
			w.ask("POST", sessionsPath+path, body).refused(http.StatusBadRequest, "INVALID_ARGUMENT")
		}
		w.ask("POST", sessionsPath+"/s1/commit", `{}`).refused(http.StatusNotFound, "NOT_FOUND")
		w.ask("POST", sessionsPath+"/s1/messages/batch", `{"messages":[{"role":"user","content":"x"},{"role":"wizard","content":"x"}]}`).
			refused(http.StatusBadRequest, "INVALID_ARGUMENT")
		for i, role := range []string{"user", "assistant", "system", "tool"} {
			if got := w.ask("POST", sessionsPath+"/roles/messages", object{"role": role, "content": "x"}).object(); got["message_count"] != float64(i+1) {
				t.Errorf("%s: %v", role, got)
			}
		}
		w.ask("POST", sessionsPath+"/s1/messages", `{"role":"user","content":"x","metadata":{"unknown":1}}`).object()
		w.ask("POST", sessionsPath+"/s1/commit", `{"trigger":"boredom"}`).refused(http.StatusBadRequest, "INVALID_ARGUMENT")
		w.ask("POST", sessionsPath+"/s1/commit", `{"keep_recent_count":-1}`).refused(http.StatusBadRequest, "INVALID_ARGUMENT")
		w.ask("GET", sessionsPath+"/s1/context?token_budget=-1", nil).refused(http.StatusBadRequest, "INVALID_ARGUMENT")
		w.ask("GET", sessionsPath+"/s9/context", nil).refused(http.StatusNotFound, "NOT_FOUND")
		w.ask("GET", "/api/v1/tasks/00000000-0000-7000-8000-000000000000", nil).refused(http.StatusNotFound, "NOT_FOUND")
		w.ask("GET", "/api/v1/tasks/nonsense", nil).refused(http.StatusNotFound, "NOT_FOUND")
		w.ask("GET", "/api/v1/tasks?limit=201", nil).refused(http.StatusBadRequest, "INVALID_ARGUMENT")
		w.ask("GET", "/api/v1/tasks?status=odd", nil).refused(http.StatusBadRequest, "INVALID_ARGUMENT")
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
			if diff := cmp.Diff(listed(query), want); diff != "" {
				t.Errorf("%s (-got +want):\n%s", query, diff)
			}
		}
		if task := w.ask("GET", "/api/v1/tasks/"+ids[0], nil).object(); task["status"] != "pending" || task["result"] != nil || task["error"] != nil {
			t.Errorf("%v", task)
		}
		w.learning()
		for deadline := time.Now().Add(time.Minute); len(listed("?status=completed")) < 3; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the tasks do not end")
			}
		}
	})
}

func TestExtractListsWhatItMade(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		w.learning()
		w.ask("POST", sessionsPath+"/s1/messages", `{"role":"user","content":"I prefer tabs for indentation."}`, "X-OpenViking-User: mia").object()
		made := w.ask("POST", sessionsPath+"/s1/extract", nil, "X-OpenViking-User: mia").result().([]any)
		if len(made) != 1 || made[0].(object)["category"] != "preferences" || !strings.HasPrefix(made[0].(object)["uri"].(string), "viking://user/mia/memories/preferences/") {
			t.Errorf("%v", made)
		}
		if again := w.ask("POST", sessionsPath+"/s1/extract", nil, "X-OpenViking-User: mia").result().([]any); len(again) != 0 {
			t.Errorf("%v", again)
		}
		w.ask("GET", sessionsPath+"/s1", nil, "X-OpenViking-User: bo").refused(http.StatusNotFound, "NOT_FOUND")
	})
}

func TestAToolCallComesBackAsItWasSent(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		part := object{
			"type": "tool", "tool_id": "c1", "tool_name": "grep", "tool_input": object{"q": "x"}, "tool_output": "found", "tool_status": "completed",
			"duration_ms": 12.5, "prompt_tokens": 3.0, "completion_tokens": 4.0,
		}
		w.ask("POST", sessionsPath+"/s1/messages", object{"role": "assistant", "parts": []any{
			part, object{"type": "image_url", "image_url": object{"url": "https://example.org/a.png"}}, object{"type": "context", "uri": "viking://agent/memories/tools/x.md"},
		}}).object()
		got := w.ask("GET", sessionsPath+"/s1/context", nil).object()["messages"].([]any)[0].(object)["parts"].([]any)
		want := []any{part, object{"type": "image_url", "image_url": "https://example.org/a.png"}, object{"type": "context", "uri": "viking://agent/memories/tools/x.md", "context_type": "memory"}}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("(-got +want):\n%s", diff)
		}
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
			w.ask("POST", one+"/messages", `{"role":"user","content":"zorblaxquine is what we talk about"}`).object()
			w.ask("POST", one+"/commit?wait=true", nil).object()
			if got := found(); got != 1 {
				t.Errorf("%d hits", got)
			}
			w.ask("DELETE", one+how, nil).object()
			if got := found(); got != 0 {
				t.Errorf("%d hits after the session went", got)
			}
		}
		if log := w.ask("GET", "/v1/events?limit=100", nil).want(http.StatusOK); strings.Contains(string(log.body), "zorblaxquine") {
			t.Error("the log still says it")
		}
	})
}

func TestAnErasedSessionSaysNothing(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		w.ask("POST", sessionsPath+"/s1/messages", `{"role":"user","content":"zorblaxquine"}`).object()
		w.ask("DELETE", sessionsPath+"/s1?erase=true&reason_code=gdpr-17", nil).object()
		if log := w.ask("GET", "/v1/events?limit=100", nil).want(http.StatusOK); strings.Contains(string(log.body), "zorblaxquine") {
			t.Error("the log still says it")
		}
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
			if a := w.ask("GET", sessionsPath+"/s1/archives/archive_001", nil, mia).object(); !strings.Contains(fmt.Sprint(a["messages"]), "zorblaxquine") {
				t.Errorf("%s: the session was destroyed: %v", what, a)
			}
		}
		one := sessionsPath + "/s1?owner=user:mia&erase=true"
		w.ask("DELETE", one, nil, mia).refused(http.StatusForbidden, "PERMISSION_DENIED")
		said("not in person")

		archive := "/v1/knowledge/" + domain.ArchiveItem("session:mia/s1", 1)
		w.ask("POST", archive+"/hold", `{"reason_code":"litigation"}`).want(http.StatusOK)
		w.ask("DELETE", one, nil).refused(http.StatusConflict, "CONFLICT")
		said("on hold")

		w.ask("POST", archive+"/release", `{"reason_code":"settled"}`).want(http.StatusOK)
		if gone := w.ask("DELETE", one, nil).object(); gone["erased"] != true {
			t.Errorf("%v", gone)
		}
		w.ask("GET", archive, nil).want(http.StatusGone)
	})
}

// A caller who asks for an extraction is told that it is not done, and not that there is nothing to learn.
func TestExtractDoesNotCallAnOutageNothing(t *testing.T) {
	eachWith(t, open, func(cfg *viking.Config) { cfg.Sessions = lateSessions{cfg.Sessions} }, func(t *testing.T, w *world) {
		w.ask("POST", sessionsPath+"/s1/messages", `{"role":"user","content":"My timezone is Europe/Berlin."}`).object()
		for range 2 { // it goes on after the first request
			if said := w.ask("POST", sessionsPath+"/s1/extract", nil).refused(http.StatusGatewayTimeout, "DEADLINE_EXCEEDED"); !strings.Contains(said, "not done") {
				t.Error(said)
			}
		}
	})
}

// lateSessions have extractions that end too late for every caller.
type lateSessions struct{ viking.Sessions }

func (lateSessions) AwaitExtraction(context.Context, string, int64) error {
	return context.DeadlineExceeded
}

type refusing struct{}

func (refusing) Name() string { return "refusing" }
func (refusing) Extract(context.Context, extraction.Conversation) (extraction.Result, error) {
	return extraction.Result{}, errors.New("the endpoint refuses the key")
}

func TestExtractSaysThatNothingCouldBeExtracted(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		w.learningBy(refusing{})
		w.ask("POST", sessionsPath+"/s1/messages", `{"role":"user","content":"My timezone is Europe/Berlin."}`).object()
		for range 2 {
			if said := w.ask("POST", sessionsPath+"/s1/extract", nil).refused(http.StatusServiceUnavailable, "UNAVAILABLE"); !strings.Contains(said, "refuses the key") {
				t.Error(said)
			}
		}
	})
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
		if first["decision"] != "create" || again["decision"] != "vote" || again["id"] != first["id"] || again["uri"] != first["uri"] {
			t.Errorf("%v, and then %v", first, again)
		}
		if found := w.ask("POST", "/api/v1/search/find", object{"query": "timezone"}).object()["memories"].([]any); len(found) != 1 || found[0].(object)["uri"] != first["uri"] {
			t.Errorf("found %v", found)
		}
	})
}

func TestACommitNamesTheScopesOfEachItem(t *testing.T) {
	each(t, keyed, func(t *testing.T, w *world) {
		w.learning()
		const tool = `{"role":"assistant","content":"chromedriver 124 requires Chrome 124."}`
		key := func(user string) header {
			made := w.ask("POST", "/v1/keys", object{"subject": "user:" + user, "memberships": []any{"team:web"}}, as(rootKey), "Annals-Tenant: default").want(http.StatusCreated)
			return as(made.json()["key"].(string))
		}
		mia, bo := key("mia"), key("bo")
		hits := func() int {
			return len(w.ask("POST", "/api/v1/search/find", object{"query": "chromedriver"}, bo).object()["memories"].([]any))
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
		w.ask("POST", sessionsPath+"/s1/commit", `{"scopes":["public"]}`, mia).refused(http.StatusForbidden, "PERMISSION_DENIED")
		w.ask("POST", sessionsPath+"/s1/commit", `{"scopes":["everybody"]}`, mia).refused(http.StatusBadRequest, "INVALID_ARGUMENT")
	})
}
