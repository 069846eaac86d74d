package mcp_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/annals-kb/annals/client"
)

func TestAHostRemembersAndFinds(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		preference := w.call("remember", object{"content": "Prefers teal accents on a white background", "category": "preferences"}).ok()
		if diff := cmp.Diff(preference["scopes"], []any{"user:mia"}); diff != "" {
			t.Errorf("what is about a user is for the user:\n%s", diff)
		}
		failure := w.call("remember", object{
			"content": "chromedriver 124 fails on macOS 13", "category": "antipatterns", "task": "crawl a page",
		}).ok()
		if diff := cmp.Diff(failure["scopes"], []any{"public"}); diff != "" {
			t.Errorf("what is about work is for everybody:\n%s", diff)
		}
		if uri := failure["uri"].(string); !strings.HasPrefix(uri, "viking://agent/memories/antipatterns/mem_") {
			t.Errorf("it lies at %s", uri)
		}
		w.call("remember", object{"content": "chromedriver 124 needs Chrome 124", "category": "tools", "scopes": "team:pay"}).ok()

		found := w.call("retrieve_memory", object{"query": "what colour is the background", "category": "preferences"})
		data := found.ok()
		if data["count"] != 1.0 || data["target_uri"] != "viking://user/memories/preferences/" || data["category"] != "preferences" {
			t.Errorf("got %v", data)
		}
		hit := data["results"].([]any)[0].(object)
		if hit["uri"] != preference["uri"] || hit["category"] != "preferences" || !strings.Contains(hit["abstract"].(string), "teal") || hit["score"].(float64) <= 0 {
			t.Errorf("got %v", hit)
		}
		for _, part := range []string{
			"# Retrieved from Annals — query: 'what colour is the background'\n# Category: preferences, 1 result(s)\n1. [score=0.", "   uri: " + preference["uri"].(string),
		} {
			if !strings.Contains(found.text, part) {
				t.Errorf("the text lacks %q:\n%s", part, found.text)
			}
		}
		avoid := w.call("retrieve_memory", object{"query": "chromedriver", "category": "antipatterns", "limit": 3})
		if avoid.ok()["count"] != 1.0 || !strings.Contains(avoid.text, "## WARNING: these are FAILED approaches") ||
			avoid.ok()["warning"] != "these are FAILED approaches; do not repeat them" || avoid.ok()["results"].([]any)[0].(object)["avoid"] != true {
			t.Errorf("got %s", avoid.text)
		}
		if got := w.call("retrieve_memory", object{"query": "chromedriver", "category": "tools"}).ok()["count"]; got != 1.0 {
			t.Errorf("found %v tools", got)
		}
		all := w.call("retrieve_memory", object{"query": "chromedriver"})
		if all.ok()["count"] != 2.0 || !strings.Contains(all.ok()["warning"].(string), "marked as pitfalls") || strings.Count(all.text, "[pitfall] ") != 1 {
			t.Errorf("found of any kind: %s", all.text)
		}
		none := w.call("retrieve_memory", object{"query": "zygomorphic", "category": "skills"})
		if got := none.ok(); got["count"] != 0.0 || got["results"] == nil {
			t.Errorf("got %v", got)
		}
		const narrower = "othing of this category is about this: try other words, or fewer, or leave the category out"
		if none.ok()["hint"] != "n"+narrower || !strings.HasSuffix(none.text, "0 result(s)\nN"+narrower+".\n") {
			t.Errorf("found no skill: %v\n%s", none.ok()["hint"], none.text)
		}
		if anywhere := w.call("retrieve_memory", object{"query": "zygomorphic"}); !strings.HasPrefix(anywhere.ok()["hint"].(string), "nothing is about this, of ") {
			t.Errorf("found nothing: %v", anywhere.ok())
		}
		if all.ok()["hint"] != nil {
			t.Errorf("found something: %v", all.ok()["hint"])
		}
	})
}

func TestWhatIsRememberedAgainIsKnownWhereADayHasNoRoomForAVote(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		lesson := object{"content": "Retry 429s with jitter", "category": "patterns"}
		first := w.call("remember", lesson).ok()
		for i := range 10 {
			w.call("give_feedback", object{"uri": first["uri"], "verdict": "helpful", "trace_id": fmt.Sprint("run-", i)}).ok()
		}
		if got := w.call("remember", lesson).ok(); got["uri"] != first["uri"] || got["outcome"] != "unchanged" {
			t.Errorf("got %v, want the item that is known", got)
		}
	})
}

func TestWhatIsRememberedAgainIsOneItemAndSurer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		lessons := []object{
			{"content": "喜欢深色主题", "category": "preferences"},
			{"content": "Retry 429s:\n\twith jitter\n", "category": "patterns", "task": "call an API\n"},
			{"content": "Ask ops@corp.example before you deploy", "category": "patterns", "task": "a deploy by dev@corp.example"},
			{"content": "Deploy on Mondays", "category": "patterns", "scopes": []string{"team:pay", "user:mia"}},
		}
		for _, lesson := range lessons {
			first := w.call("remember", lesson).ok()
			again := w.call("remember", lesson)
			if got := again.ok(); got["uri"] != first["uri"] || got["outcome"] != "restated" || got["helpful"] != 2.0 ||
				!strings.HasPrefix(again.text, "Known already: viking://") {
				t.Errorf("again: got %+v, first %v", again, first)
			}
			if got := w.call("remember", lesson).ok(); got["outcome"] != "unchanged" || got["helpful"] != 2.0 {
				t.Errorf("a third time on one day: got %v", got)
			}
			other := maps.Clone(lesson)
			other["task"] = "another situation"
			if got := w.call("remember", other).ok(); got["outcome"] != "created" || got["uri"] == first["uri"] {
				t.Errorf("another situation: got %v", got)
			}
		}
		elsewhere := maps.Clone(lessons[len(lessons)-1])
		elsewhere["scopes"] = "user:mia"
		if got := w.call("remember", elsewhere).ok(); got["outcome"] != "created" {
			t.Errorf("for others: got %v", got)
		}
	})
}

func TestAHostJudgesAndForgets(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		uri := w.call("remember", object{"content": "Retry 429s with jitter", "category": "patterns"}).ok()["uri"].(string)
		voted := w.call("give_feedback", object{"uri": uri, "verdict": "helpful", "trace_id": "run-1", "outcome": "no more 429s"}).ok()
		if voted["confidence"] != 0.75 || voted["helpful"] != 2.0 {
			t.Errorf("got %v", voted)
		}
		if voted["replaced"] != nil {
			t.Errorf("the first vote replaces one: %v", voted)
		}
		same := object{"uri": uri, "verdict": "helpful", "trace_id": "run-1", "outcome": "no more 429s"}
		if again := w.call("give_feedback", same); again.ok()["outcome"] != "unchanged" || again.ok()["replaced"] != nil {
			t.Errorf("the same vote again: %v", again.ok())
		}
		same["verdict"] = "harmful"
		other := w.call("give_feedback", same)
		if other.ok()["replaced"] != true || other.ok()["helpful"] != 1.0 || !strings.HasSuffix(other.text, "; this replaces your earlier vote on this trace_id") {
			t.Errorf("the other way on the same trace: %v\n%s", other.ok(), other.text)
		}
		same["verdict"] = "helpful"
		w.call("give_feedback", same).ok()
		stale := w.call("report_stale_memory", object{"uri": uri, "reason": "the API sends 503 now"})
		if stale.ok()["confidence"] != 0.375 || !strings.Contains(stale.text, "0.38") {
			t.Errorf("got %+v", stale)
		}
		whole := w.call("get_knowledge", object{"uri": uri})
		if pick := whole.ok()["eval"].(object)["helpful_history"].([]any)[0].(object)["outcome"]; pick != "no more 429s" || !strings.Contains(whole.text, "reported out of date by 1: the API sends 503 now") {
			t.Errorf("got %v\n%s", pick, whole.text)
		}
		id := voted["id"].(string)
		w.call("forget_memory", object{"uri": uri, "reason": "asked to"}).ok()
		again := w.call("forget_memory", object{"uri": uri})
		if code := again.refused(); code != "NOT_FOUND" || again.text != "NOT_FOUND: "+id+" was forgotten (memory_history tells by whom, and why)" {
			t.Errorf("forgotten twice: %s", again.text)
		}
		if byURI := w.call("memory_history", object{"uri": uri}); byURI.ok()["id"] != id {
			t.Errorf("got %s", byURI.text)
		}
		told := w.call("memory_history", object{"uri": id})
		var names []string
		for _, event := range told.ok()["events"].([]any) {
			names = append(names, event.(object)["name"].(string))
		}
		if seconds := regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d knowledge\.`); len(seconds.FindAllString(told.text, -1)) != 6 {
			t.Errorf("the times of %s", told.text)
		}
		want := []string{"knowledge.remembered", "knowledge.found_helpful", "knowledge.found_harmful", "knowledge.found_helpful", "knowledge.reported_stale", "knowledge.deleted"}
		if diff := cmp.Diff(names, want); diff != "" || !strings.Contains(told.text, "knowledge.deleted by user:mia: asked to") {
			t.Errorf("%s\n%s", diff, told.text)
		}
	})
}

func TestAHostSavesAndRevises(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		one := object{"id": "deploy", "type": "plan", "content": "Deploy on Mondays", "tags": object{"domain": "web"}, "scopes": []string{"team:pay"}}
		if got := w.call("save_knowledge", one); got.ok()["outcome"] != "created" || !strings.HasPrefix(got.text, "Saved viking://") {
			t.Errorf("got %+v", got)
		}
		one["content"], one["reason"] = "Deploy on Tuesdays; ask ops@example.com", "Mondays are holidays"
		got := w.call("save_knowledge", one).ok()
		if got["outcome"] != "revised" || got["revision"] != 2.0 {
			t.Errorf("got %v", got)
		}
		if told := w.call("memory_history", object{"uri": "deploy"}); !strings.Contains(told.text, "knowledge.revised by user:mia: Mondays are holidays") {
			t.Errorf("got %s", told.text)
		}
		status := w.call("memory_status", nil).ok()
		if status["available"] != true || status["caller"].(object)["subject"] != "user:mia" || status["server"] != w.url {
			t.Errorf("got %v", status)
		}
	})
}

func TestWhatARevisionLeavesOutStays(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.call("save_knowledge", object{
			"id": "deploy", "type": "plan", "content": "Deploy on Mondays", "task": "release a version", "abstract": "When to deploy",
			"category": "patterns", "polarity": "negative", "tags": object{"domain": "web", "lang": []string{"go", "c"}}, "scopes": []string{"team:pay"}, "owner": "team:pay",
		}).ok()
		before, err := w.api.Knowledge(t.Context(), "deploy")
		if err != nil {
			t.Fatal(err)
		}
		w.call("save_knowledge", object{"id": "deploy", "type": "strategy", "content": "Deploy on Tuesdays", "tags": object{"domain": "api", "lang": []string{}}}).ok()
		after, err := w.api.Knowledge(t.Context(), "deploy")
		before.Type, before.Content, before.Tags = "strategy", "Deploy on Tuesdays", client.Tags{"domain": {"api"}}
		before.Revision, before.Version, before.Position, before.UpdatedAt = after.Revision, after.Version, after.Position, after.UpdatedAt
		if diff := cmp.Diff(after, before); diff != "" || err != nil {
			t.Errorf("what was left out changed, %v:\n%s", err, diff)
		}
		if got := w.call("save_knowledge", object{"id": "deploy", "type": "strategy", "content": "Deploy on Tuesdays"}); got.ok()["outcome"] != "unchanged" {
			t.Errorf("again: got %+v", got)
		}
	})
}

func TestAForgottenIDIsNotSavedTo(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		one := object{"id": "deploy", "type": "plan", "content": "Deploy on Mondays", "reason": "asked to"}
		w.call("save_knowledge", one).ok()
		w.call("forget_memory", object{"uri": "deploy"}).ok()
		got := w.call("save_knowledge", one)
		const want = "NOT_FOUND: deploy was forgotten (save it under another id, or without one; memory_history tells by whom, and why)"
		if got.refused(); got.text != want {
			t.Errorf("got %s", got.text)
		}
		one["id"] = "deploy-2"
		w.call("save_knowledge", one).ok()
	})
}

func TestAToolSaysWhatIsWrong(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for i, c := range []struct {
			tool      string
			arguments object
			code      string
			says      string
		}{
			{"retrieve_memory", object{"query": "  "}, "INVALID_ARGUMENT", "query must not be empty"},
			{"retrieve_memory", nil, "INVALID_ARGUMENT", "query must not be empty"},
			{"retrieve_memory", object{"query": []string{"x"}, "limit": 1.5}, "INVALID_ARGUMENT", "query must be a string; limit must be a whole number from 1 to 100"},
			{"retrieve_memory", object{"query": "x", "category": "lunch"}, "INVALID_ARGUMENT", "category must be one of"},
			{"retrieve_memory", object{"query": "x", "limit": 1000}, "INVALID_ARGUMENT", "limit must be a whole number from 1 to 100"},
			{"retrieve_memory", object{"query": "x", "limit": 0}, "INVALID_ARGUMENT", "limit must be a whole number from 1 to 100"},
			{"retrieve_memory", object{"query": "x", "limit": "5"}, "INVALID_ARGUMENT", "limit must be a whole number from 1 to 100"},
			{"memory_history", object{"uri": "x", "limit": -1}, "INVALID_ARGUMENT", "limit must be a whole number from 1 to 500"},
			{"save_knowledge", object{"content": "x", "type": "tool", "bogus": 1}, "INVALID_ARGUMENT", `: "bogus" is not an argument of this tool`},
			{"memory_status", object{"bogus": 1}, "INVALID_ARGUMENT", `: "bogus" is not an argument of this tool`},
			{"remember", object{"content": "x", "category": "nonsense"}, "INVALID_ARGUMENT", ": category must be one of profile, "},
			{"remember", object{"content": "a\x00b", "category": "tools"}, "INVALID_ARGUMENT", ": content must not contain NUL characters"},
			{"remember", object{"content": strings.Repeat("x", 70_000), "category": "tools"}, "INVALID_ARGUMENT", ": content must have at most 65536 bytes, has 70000"},
			{"remember", object{"content": "x"}, "INVALID_ARGUMENT", "category must not be empty"},
			{"remember", object{"content": "x", "category": "tools", "scopes": []string{"team:web"}}, "PERMISSION_DENIED", "PERMISSION_DENIED: user:mia may not publish as or to team:web ("},
			{"forget_memory", object{"uri": "viking://agent/memories/tools/nothing.md"}, "NOT_FOUND", "NOT_FOUND: no knowledge lies at viking://agent/memories/tools/nothing.md (retrieve_memory shows the uri of whatever there is)"},
			{"memory_history", object{"uri": "viking://agent/memories/tools/nothing.md"}, "NOT_FOUND", "no knowledge lies at viking://agent/"},
			{"get_knowledge", object{"uri": "nothing"}, "NOT_FOUND", "NOT_FOUND: no knowledge with id nothing (retrieve_memory "},
			{"give_feedback", object{"uri": "x", "verdict": "so-so"}, "INVALID_ARGUMENT", "verdict must be one of helpful, harmful"},
			{"save_knowledge", object{"content": "x", "type": "tool", "tags": "hot"}, "INVALID_ARGUMENT", "tags must be"},
		} {
			got := w.call(c.tool, c.arguments)
			if code := got.refused(); code != c.code || !strings.Contains(got.text, c.says) {
				t.Errorf("%d, %s: got %s: %s", i, c.tool, code, got.text)
			}
		}
	})
}

func TestWhatNamesAnItemLeadsToNothingElse(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.call("save_knowledge", object{"id": "one", "type": "tool", "content": "x"}).ok()
		const wanted = "1 to 128 of A-Z a-z 0-9 . _ ~ - that begin with a letter or digit"
		for _, name := range []string{"one/history", "one%2Fhistory", "../../v1/keys", "..", "one?x=1", "one#x", "one ", strings.Repeat("x", 129)} {
			for tool, more := range map[string]object{
				"get_knowledge": nil, "memory_history": nil, "forget_memory": nil,
				"report_stale_memory": {"reason": "r"}, "give_feedback": {"verdict": "helpful"},
			} {
				arguments := object{"uri": name}
				maps.Copy(arguments, more)
				if got := w.call(tool, arguments); got.refused() != "INVALID_ARGUMENT" || got.text != "INVALID_ARGUMENT: uri must be a viking:// URI, or an id: "+wanted {
					t.Errorf("%s of %q: got %s", tool, name, got.text)
				}
			}
			got := w.call("save_knowledge", object{"id": name, "type": "tool", "content": "x"})
			if got.refused() != "INVALID_ARGUMENT" || got.text != "INVALID_ARGUMENT: id must be "+wanted {
				t.Errorf("save %q: got %s", name, got.text)
			}
		}
		if got := w.call("get_knowledge", object{"uri": "one"}).ok()["content"]; got != "x" {
			t.Errorf("the item: got %v", got)
		}
	})
}

func TestToolsHaveFlatSchemas(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		listed, err := w.host.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range listed.Tools {
			names = append(names, tool.Name)
			schema, err := json.Marshal(tool.InputSchema)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range []string{"anyOf", "oneOf", "allOf", "$ref", "$defs", `"null"`} {
				if strings.Contains(string(schema), word) {
					t.Errorf("%s: %s in %s", tool.Name, word, schema)
				}
			}
			if tool.Description == "" || tool.Annotations == nil || tool.OutputSchema == nil {
				t.Errorf("%s: %+v", tool.Name, tool)
			}
		}
		slices.Sort(names)
		want := []string{
			"forget_memory", "get_knowledge", "give_feedback", "memory_history", "memory_status",
			"remember", "report_stale_memory", "retrieve_memory", "save_knowledge",
		}
		if diff := cmp.Diff(names, want); diff != "" {
			t.Error(diff)
		}
	})
}

// Clients of another server find its names, and read what tools say as JSON.
func TestAliasesAnswerAsTheirClientsExpect(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		host := map[string]func(bool) *sdk.ClientSession{"http": w.byHTTP, "stdio": w.byLines}[w.tenant](true)
		w.callOn(host, "openviking_remember", object{"content": "Use <b>teal</b>", "category": "preferences"}).ok()
		for _, name := range []string{"openviking_retrieve_memory", "memory_search"} {
			found := w.callOn(host, name, object{"query": "teal", "category": "preferences"})
			var read object
			if err := json.Unmarshal([]byte(found.text), &read); err != nil || !strings.Contains(found.text, "<b>teal") {
				t.Fatalf("%s: %v in %s", name, err, found.text)
			}
			if diff := cmp.Diff(read, found.object); diff != "" || read["data"].(object)["count"] != 1.0 {
				t.Errorf("%s: %s", name, diff)
			}
		}
		w.callOn(host, "openviking_memory_status", nil).ok()
		w.callOn(host, "retrieve_memory", object{"query": "teal"}).ok()
	})
}

func TestKnowledgeIsReadAsAResource(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		uri := w.call("remember", object{"content": "Retry 429s with jitter", "category": "patterns"}).ok()["uri"].(string)
		listed, err := w.host.ListResources(t.Context(), nil)
		if err != nil || len(listed.Resources) != 1 || listed.Resources[0].URI != uri || !strings.Contains(listed.Resources[0].Description, "429") {
			t.Fatalf("got %+v, %v", listed, err)
		}
		read, err := w.host.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil || !strings.Contains(read.Contents[0].Text, "Retry 429s with jitter") || read.Contents[0].MIMEType != "text/markdown" {
			t.Fatalf("got %+v, %v", read, err)
		}
		if listed.CacheScope != "private" || read.CacheScope != "private" || listed.TTLMs+read.TTLMs != 0 {
			t.Errorf("caches may show one's memory to others: %+v, %+v", listed.Cacheable, read.Cacheable)
		}
		if _, err := w.host.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "viking://user/bob/memories/x.md"}); err == nil {
			t.Error("read what there is not")
		}
		templates, err := w.host.ListResourceTemplates(t.Context(), nil)
		if err != nil || len(templates.ResourceTemplates) != 1 {
			t.Errorf("got %+v, %v", templates, err)
		}
	})
}

func TestAPromptTellsWhatIsKnown(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		said := func(name string, arguments map[string]string) string {
			t.Helper()
			got, err := w.host.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: arguments})
			if err != nil {
				t.Fatal(err)
			}
			return got.Messages[0].Content.(*sdk.TextContent).Text
		}
		if got := said("start_session", nil); !strings.Contains(got, "Nothing is known") {
			t.Errorf("got %s", got)
		}
		w.call("remember", object{"content": "Prefers teal", "category": "preferences"}).ok()
		w.call("remember", object{"content": "chromedriver 124 needs Chrome 124", "category": "tools"}).ok()
		for name, arguments := range map[string]map[string]string{
			"start_session": nil, "before_task": {"task": "teal chromedriver"}, "after_failure": {"task": "crawl", "tool_issue": "chromedriver"},
		} {
			got := said(name, arguments)
			if !strings.Contains(got, "chromedriver 124 needs") || strings.Contains(got, "Prefers teal") != (name != "after_failure") {
				t.Errorf("%s: %s", name, got)
			}
		}
	})
}

// A host sees what whoever started it may see, and no more.
func TestAHostIsWhoeverHasTheKey(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.key = w.given(object{"subject": "user:zoe"}) // who may not write to everybody
		alone := w.callOn(w.byHTTP(false), "remember", object{"content": "Zoe's own way", "category": "patterns"}).ok()
		if diff := cmp.Diff(alone["scopes"], []any{"user:zoe"}); diff != "" || !strings.HasPrefix(alone["uri"].(string), "viking://user/zoe/memories/patterns/") {
			t.Errorf("%s\n%v", diff, alone)
		}
		bob := w.as(w.given(object{"subject": "user:bob"}))
		if _, err := bob.Remember(t.Context(), client.Knowledge{ID: "bobs", Content: "Bob's password is teal", Type: "strategy"}); err != nil {
			t.Fatal(err)
		}
		if got := w.call("retrieve_memory", object{"query": "teal password"}).ok()["count"]; got != 0.0 {
			t.Errorf("found %v", got)
		}
		if code := w.call("get_knowledge", object{"uri": "bobs"}).refused(); code != "NOT_FOUND" {
			t.Errorf("got %s", code)
		}
		w.key = "annals_aaaaaaaaaa_nonsense"
		host := sdk.NewClient(&sdk.Implementation{Name: "host", Version: "1"}, nil)
		if _, err := host.Connect(t.Context(), w.overHTTP(false), nil); err == nil || !strings.Contains(err.Error(), "Unauthorized") {
			t.Errorf("let in: %v", err)
		}
	})
}

func TestAServerThatIsAwayIsAnAnswer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		away, err := client.New(client.Config{Server: "http://127.0.0.1:1", Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		w.api = away
		host := w.byLines(false)
		if code := w.callOn(host, "retrieve_memory", object{"query": "x"}).refused(); code != "UNAVAILABLE" {
			t.Errorf("got %s", code)
		}
		if status := w.callOn(host, "memory_status", nil).ok(); status["available"] != false || fmt.Sprint(status["problem"]) == "" {
			t.Errorf("got %v", status)
		}
	})
}
