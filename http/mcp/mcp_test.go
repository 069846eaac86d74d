package mcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/servertest"
)

func TestAHostRemembersAndFinds(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		preference := w.call("remember", object{"content": "Prefers teal accents on a white background", "category": "preferences"}).ok()
		same[any](t, preference["scopes"], []any{"user:mia"}, "what is about a user is for the user")
		failure := w.call("remember", object{
			"content": "chromedriver 124 fails on macOS 13", "category": "antipatterns", "task": "crawl a page",
		}).ok()
		same[any](t, failure["scopes"], []any{"public"}, "a lesson is for everyone")
		same[any](t, failure["seen_by"], "everyone in the tenant", "the answer says for whom")
		done := w.call("remember", object{"content": "The crawl of the shop took an hour", "category": "cases"}).ok()
		same[any](t, done["scopes"], []any{"team:pay"}, "what else is about work is for the only team")
		w.call("remember", object{"content": "chromedriver 124 needs Chrome 124", "category": "tools", "scopes": "team:pay"}).ok()

		found := w.call("retrieve_memory", object{"query": "what colour is the background", "category": "preferences"})
		data := found.ok()
		like(t, data, object{"count": 1.0, "target_uri": "viking://user/memories/preferences/", "category": "preferences"})
		hit := data["results"].([]any)[0].(object)
		if hit["uri"] != preference["uri"] || hit["category"] != "preferences" || !strings.Contains(hit["abstract"].(string), "teal") || hit["score"].(float64) <= 0 {
			t.Errorf("got %v", hit)
		}
		for _, part := range []string{
			"# Retrieved from Annals — query: 'what colour is the background'\n# Category: preferences, 1 result(s)\n1. [score=0.", "   uri: " + preference["uri"].(string),
		} {
			like(t, found.text, containing(part), "the text lacks")
		}
		avoid := w.call("retrieve_memory", object{"query": "chromedriver", "category": "antipatterns", "limit": "3"})
		if avoid.ok()["count"] != 1.0 || !strings.Contains(avoid.text, "## WARNING: these are FAILED approaches") ||
			avoid.ok()["warning"] != "these are FAILED approaches; do not repeat them" || avoid.ok()["results"].([]any)[0].(object)["avoid"] != true {
			t.Errorf("got %s", avoid.text)
		}
		same(t, w.call("retrieve_memory", object{"query": "chromedriver", "category": "tools"}).ok()["count"], 1.0)
		all := w.call("retrieve_memory", object{"query": "chromedriver"})
		like(t, all.ok(), object{"count": 2.0, "warning": containing("marked as pitfalls")}, "found of any kind", all.text)
		same(t, strings.Count(all.text, "[pitfall] "), 1, "found of any kind", all.text)
		none := w.call("retrieve_memory", object{"query": "zygomorphic", "category": "skills"})
		like(t, none.ok(), object{"count": 0.0, "results": some{}})
		const narrower = "othing of this category is about this: try other words, or fewer, or leave the category out"
		like(t, none.ok(), object{"hint": "n" + narrower}, "found no skill")
		like(t, none.text, ending("0 result(s)\nN"+narrower+".\n"), "found no skill")
		like(t, w.call("retrieve_memory", object{"query": "zygomorphic"}).ok(),
			object{"hint": beginning("nothing is about this, of ")})
		like(t, all.ok(), object{"hint": nil})
	})
}

func TestWhatIsOnlyNearComesBelowALine(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		remember := func(context, content string) {
			t.Helper()
			item := client.Knowledge{ContextType: context, Content: content, Category: "skills"}
			if _, err := w.api.Remember(t.Context(), item); err != nil {
				t.Fatal(err)
			}
		}
		remember("skill", "Deploy to production from Monday to Thursday, 09:00 to 16:00 UTC; a deploy outside needs the incident lead")
		for i, name := range []string{"ledger", "cart", "invoice", "refund", "payout", "voucher", "receipt", "wallet"} {
			remember([]string{"skill", "memory"}[i%2], "The "+name+" service is deployed by its pipeline")
			for j := range 8 {
				remember("memory", fmt.Sprintf("Ticket %d: the printer on floor %d has paper", 8*i+j, j))
			}
		}
		perhaps := object{"band": "perhaps"}
		for _, category := range []string{"", "skills"} { // for skills, the server searches twice
			found := w.call("retrieve_memory", object{"query": "deploy window", "category": category, "limit": 20})
			like(t, found.ok()["results"], []any{object{"band": "sure"}, perhaps, perhaps, perhaps, perhaps, perhaps}, category)
			like(t, found.ok(), object{"count": 6.0, "warning": nil}, category)
			lines := strings.Split(found.text, "\n")
			same(t, lines[4:6], []string{"---", "Perhaps not about the query:"}, category, found.text)
		}
		near := w.call("retrieve_memory", object{"query": "who repairs the printer of the wallet team when it is jammed"})
		like(t, near.ok(), object{"warning": "nobody has written this; these are only the nearest items"})
		like(t, near.ok()["results"].([]any)[0], perhaps)
		like(t, near.text, containing("\n## WARNING: nobody has written this; these are only the nearest items\n1. "))
	})
}

func TestWhatIsRememberedAgainIsKnownWhereADayHasNoRoomForAVote(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		lesson := object{"content": "Retry 429s with jitter", "category": "patterns"}
		first := w.call("remember", lesson).ok()
		for i := range 10 {
			w.call("give_feedback", object{"uri": first["uri"], "verdict": "helpful", "trace_id": fmt.Sprint("run-", i)}).ok()
		}
		like(t, w.call("remember", lesson).ok(), object{"uri": first["uri"], "outcome": "unchanged"})
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
			like(t, again.ok(), object{"uri": first["uri"], "outcome": "restated", "helpful": 2.0})
			like(t, again.text, beginning("Known already: viking://"))
			like(t, w.call("remember", lesson).ok(), object{"outcome": "unchanged", "helpful": 2.0}, "a third time on one day")
			other := maps.Clone(lesson)
			other["task"] = "another situation"
			if got := w.call("remember", other).ok(); got["outcome"] != "created" || got["uri"] == first["uri"] {
				t.Errorf("another situation: got %v", got)
			}
		}
		elsewhere := maps.Clone(lessons[len(lessons)-1])
		elsewhere["scopes"] = "user:mia"
		like(t, w.call("remember", elsewhere).ok(), object{"outcome": "created"})
	})
}

func TestAHostJudgesAndForgets(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		uri := w.call("remember", object{"content": "Retry 429s with jitter", "category": "patterns"}).ok()["uri"].(string)
		voted := w.call("give_feedback", object{"uri": uri, "verdict": "helpful", "trace_id": "run-1", "outcome": "no more 429s"}).ok()
		like(t, voted, object{"confidence": 0.75, "helpful": 2.0})
		like(t, voted, object{"replaced": nil}, "the first vote replaces one")
		vote := object{"uri": uri, "verdict": "helpful", "trace_id": "run-1", "outcome": "no more 429s"}
		like(t, w.call("give_feedback", vote).ok(), object{"outcome": "unchanged", "replaced": nil}, "the same vote again")
		vote["verdict"] = "harmful"
		other := w.call("give_feedback", vote)
		like(t, other.ok(), object{"replaced": true, "helpful": 1.0}, "the other way on the same trace")
		like(t, other.text, ending("; this replaces your earlier vote on this trace_id"), "the other way on the same trace")
		vote["verdict"] = "helpful"
		w.call("give_feedback", vote).ok()
		stale := w.call("report_stale_memory", object{"uri": uri, "reason": "the API sends 503 now"})
		like(t, stale.ok(), object{"confidence": 0.375})
		like(t, stale.text, containing("0.38"))
		whole := w.call("get_knowledge", object{"uri": uri})
		same(t, whole.ok()["eval"].(object)["helpful_history"].([]any)[0].(object)["outcome"], "no more 429s")
		like(t, whole.text, containing("reported out of date by 1: the API sends 503 now"))
		id := voted["id"].(string)
		w.call("forget_memory", object{"uri": uri, "reason": "asked to"}).ok()
		again := w.call("forget_memory", object{"uri": uri})
		same(t, again.refused(), "NOT_FOUND")
		same(t, again.text, "NOT_FOUND: "+id+" was forgotten (memory_history tells by whom, and why)")
		like(t, w.call("memory_history", object{"uri": uri}).ok(), object{"id": id})
		told := w.call("memory_history", object{"uri": id})
		var names []string
		for _, event := range told.ok()["events"].([]any) {
			names = append(names, event.(object)["name"].(string))
		}
		same(t, len(regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d knowledge\.`).FindAllString(told.text, -1)),
			6, "the times of", told.text)
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
		like(t, got, object{"outcome": "revised", "revision": 2.0})
		like(t, w.call("memory_history", object{"uri": "deploy"}).text,
			containing("knowledge.revised by user:mia: Mondays are holidays"))
		like(t, w.call("memory_history", object{"uri": "deploy", "limit": 1}).text, containing("they come with before 2"))
		older := w.call("memory_history", object{"uri": "deploy", "before": 2})
		like(t, older.ok(), object{"count": 2.0, "events": []any{object{"version": 1.0}}})
		one["content"] = strings.Repeat("long ", 13_000)
		w.call("save_knowledge", one).ok()
		long := w.call("memory_history", object{"uri": "deploy", "limit": 1})
		like(t, long.ok(), object{"cut": 1.0, "events": []any{object{"name": "knowledge.revised"}}})
		for _, until := range []string{"2099-01-01", "tomorrow", "90d"} {
			w.call("confirm_memory", object{"uri": "deploy", "reason": "asked ops", "until": until}).ok()
		}
		status := w.call("memory_status", nil).ok()
		like(t, status, object{"available": true, "caller": object{"subject": "user:mia"}, "server": w.url})
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
		before.Receipt = after.Receipt
		if diff := cmp.Diff(after, before); diff != "" || err != nil {
			t.Errorf("what was left out changed, %v:\n%s", err, diff)
		}
		like(t, w.call("save_knowledge", object{"id": "deploy", "type": "strategy", "content": "Deploy on Tuesdays"}).ok(),
			object{"outcome": "unchanged"})
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
			{"retrieve_memory", object{"query": "x", "limit": "five"}, "INVALID_ARGUMENT", "limit must be a whole number from 1 to 100"},
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
			same(t, got.refused(), c.code, i, c.tool)
			like(t, got.text, containing(c.says), i, c.tool)
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
			same(t, got.refused(), "INVALID_ARGUMENT", name)
			same(t, got.text, "INVALID_ARGUMENT: id must be "+wanted, name)
		}
		same(t, w.call("get_knowledge", object{"uri": "one"}).ok()["content"], "x")
	})
}

func TestAgentsTakePartInReviews(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, id := range []string{"one", "two"} {
			w.call("save_knowledge", object{"id": id, "type": "tool", "content": "about " + id}).ok()
		}
		uri := w.call("get_knowledge", object{"uri": "two"}).ok()["uri"]
		w.call("report_stale_memory", object{"uri": "one", "reason": "it moved"}).ok()
		proposed := w.call("propose_merge", object{"uris": []any{"one", uri}, "kind": "duplicate", "reason": "the same"}).ok()
		queue := w.call("review_queue", object{"whose": "mine"}).ok()
		like(t, queue, object{"total": 2.0, "items": []any{
			object{"id": "one", "reasons": []any{object{"queue": "stale", "text": "it moved"}}},
			object{"id": "two", "pair": object{"proposal": proposed["id"], "items": []any{object{"content": "about one"}}}},
		}})
		same(t, w.call("propose_merge", object{"uris": []any{"one", "none"}, "kind": "duplicate", "reason": "r"}).refused(), "INVALID_ARGUMENT")
		w.call("confirm_memory", object{"uri": "one", "reason": "tried it", "until": "2099-01-31T00:00:00Z"}).ok()
		same(t, w.call("confirm_memory", object{"uri": "one", "reason": "tried it", "until": "soon"}).refused(), "INVALID_ARGUMENT")
		same(t, w.call("review_queue", object{"queue": "stale"}).ok()["total"], 0.0)
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
				like(t, string(schema), lacking(word), tool.Name)
			}
			if tool.Description == "" || tool.Annotations == nil || tool.OutputSchema == nil {
				t.Errorf("%s: %+v", tool.Name, tool)
			}
		}
		slices.Sort(names)
		want := []string{
			"confirm_memory", "forget_memory", "get_knowledge", "give_feedback", "memory_history", "memory_status",
			"propose_merge", "remember", "report_stale_memory", "retrieve_memory", "review_queue", "save_knowledge",
		}
		same(t, names, want)
	})
}

func TestEveryToolSaysWhatWasRemoved(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const phone, mail = "13812345678", "jane@corp.com"
		k := w.call("save_knowledge", object{"type": "tool", "content": "The printer."}).ok()
		viking, aliases := w.byViking(), map[string]func(bool) *sdk.ClientSession{"http": w.byHTTP, "stdio": w.byLines}[w.tenant](true)
		said := []object{{"role": "user", "content": "Call " + phone}}
		for i, got := range []result{
			w.call("remember", object{"content": "The office has " + phone, "category": "entities"}),
			w.call("save_knowledge", object{"id": k["id"], "type": "tool", "content": "The printer, ask " + phone}),
			w.call("give_feedback", object{"uri": k["uri"], "verdict": "helpful", "outcome": "called " + phone}),
			w.call("report_stale_memory", object{"uri": k["uri"], "reason": "says " + phone}),
			w.callOn(aliases, "openviking_remember", object{"content": "The desk has " + phone, "category": "entities"}),
			w.callOn(viking, "remember", object{"messages": said}),
			w.callOn(viking, "write", object{"uri": "viking://user/memories/desk.md", "content": "Desk: " + phone}),
		} {
			if got.ok(); got.object["redacted"] != "phone=1" || !strings.Contains(got.text, "phone=1") {
				t.Errorf("%d: %s %v", i, got.text, got.object)
			}
		}
		both := w.call("remember", object{"content": "Mail " + mail + " or " + mail, "category": "tools"})
		same(t, both.object["redacted"], any("email=2"))
		same(t, w.call("remember", object{"content": "The printer is out.", "category": "tools"}).object["redacted"], nil)
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

func TestResourcesAreListedInPagesWithArchivesLast(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for i := range 230 {
			k := client.Knowledge{
				Category: "patterns", Content: fmt.Sprintf("# Retry %d\n\nwith jitter", i), URI: fmt.Sprintf("viking://resources/%d.md", i),
			}
			if i >= 110 { // the newest
				k.Tags = client.Tags{"category": {domain.ArchiveTag}}
			}
			if _, err := w.api.Remember(t.Context(), k); err != nil {
				t.Fatal(err)
			}
		}
		var uris []string
		pages, params := 0, &sdk.ListResourcesParams{}
		for ; pages == 0 || params.Cursor != ""; pages++ {
			listed, err := w.host.ListResources(t.Context(), params)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range listed.Resources {
				uris = append(uris, r.URI)
				like(t, r.Title, beginning("Retry "))
			}
			params.Cursor = listed.NextCursor
		}
		same(t, uris[0], "viking://resources/109.md")
		same(t, uris[109], "viking://resources/0.md")
		same(t, uris[110], "viking://resources/229.md")
		same(t, len(uris), 230)
		if pages < 2 {
			t.Errorf("all on %d page", pages)
		}
		for _, cursor := range []string{"nonsense", "items:nonsense", "archives:nonsense"} {
			_, err := w.host.ListResources(t.Context(), &sdk.ListResourcesParams{Cursor: cursor})
			if wrong, is := errors.AsType[*jsonrpc.Error](err); !is || wrong.Code != jsonrpc.CodeInvalidParams {
				t.Errorf("%s: got %v", cursor, err)
			}
		}
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
		like(t, said("start_session", nil), containing("Nothing is known"))
		w.call("remember", object{"content": "Prefers teal", "category": "preferences"}).ok()
		w.call("remember", object{"content": "chromedriver 124 needs Chrome 124", "category": "tools"}).ok()
		for name, arguments := range map[string]map[string]string{
			"start_session": nil, "before_task": {"task": "chromedriver"}, "after_failure": {"task": "crawl", "tool_issue": "chromedriver"},
		} {
			got := said(name, arguments)
			like(t, got, containing("chromedriver 124 needs"), name)
			same(t, strings.Contains(got, "Prefers teal"), name == "start_session", name)
		}
	})
}

// What an agent remembers on purpose is for the same readers as if a rule had found it in a session.
func TestALessonIsForThoseForWhomLessonsOfSessionsAre(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const everyone, place = "public", "viking://agent/memories/"
		pay := []string{"team:pay"}
		for _, test := range []struct {
			rule, category, content, scope string
			publishes                      bool
			groups                         []string
		}{
			{"", "tools", "chromedriver 124 requires Chrome 124+", everyone, true, pay},
			{"", "patterns", "1. 用高版本的 Chrome 启动\n2. 重试", everyone, true, nil},
			{"", "skills", "sales-dashboard-builder cleans NaN rows first", everyone, true, nil},
			{"", "antipatterns", "Login fails after the redirect\nEnvironment: Windows 11, Node 20", everyone, true, pay},
			{"", "tools", "Bob needs insulin every day", "user:zoe", true, pay},
			{"", "patterns", "问王芳要密码，然后登录", "user:zoe", true, nil},
			{"", "antipatterns", "The user prefers to be called at night", "user:zoe", true, nil},
			{"", "cases", "chromedriver 124 did not start", "team:pay", true, pay},
			{"", "tools", "geckodriver 0.34 requires Firefox 115", "team:pay", false, pay},
			{"", "tools", "safaridriver 17 requires Safari 17", "user:zoe", false, nil},
			{"team", "tools", "edgedriver 124 requires Edge 124", "team:pay", true, pay},
			{"private", "tools", "operadriver 124 requires Opera 110", "user:zoe", true, pay},
			{"shared", "tools", "chromedriver 125 requires Chrome 125+", everyone, true, pay},
		} {
			if test.rule != "" {
				root := []string{"Authorization: Bearer " + rootKey, "Annals-Tenant: " + w.tenant}
				change := servertest.Request(t, http.MethodPut, w.url+"/v1/settings/learned-for", object{"learned_for": test.rule}, root...)
				if status, _, body := servertest.Send(t, http.DefaultClient, change); status != http.StatusOK {
					t.Fatalf("%d %s", status, body)
				}
			}
			w.key = w.given(object{"subject": "user:zoe", "memberships": test.groups, "publish_public": test.publishes})
			done := w.callOn(w.byHTTP(false), "remember", object{"content": test.content, "category": test.category}).ok()
			if uri := done["uri"].(string); done["scopes"].([]any)[0] != test.scope || strings.HasPrefix(uri, place) != (test.scope == everyone) {
				t.Errorf("rule %q: %q is for %v at %s, want %s", test.rule, test.content, done["scopes"], uri, test.scope)
			}
		}
		w.key = w.given(object{"subject": "user:bob"})
		hits := w.callOn(w.byHTTP(false), "retrieve_memory", object{"query": "chromedriver Chrome", "category": "tools"}).ok()
		same[any](t, hits["count"], 2.0, "a second user finds", hits)
		hits = w.callOn(w.byHTTP(false), "retrieve_memory", object{"query": "insulin, geckodriver, operadriver"}).ok()
		same[any](t, hits["count"], 0.0, "a second user finds", hits)
	})
}

// A host sees what whoever started it may see, and no more.
func TestAHostIsWhoeverHasTheKey(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.key = w.given(object{"subject": "user:zoe"}) // who may not write to everybody
		alone := w.callOn(w.byHTTP(false), "remember", object{"content": "Zoe's own way", "category": "patterns"}).ok()
		if diff := cmp.Diff([]any{alone["scopes"], alone["seen_by"]}, []any{[]any{"user:zoe"}, "user:zoe"}); diff != "" || !strings.HasPrefix(alone["uri"].(string), "viking://user/zoe/memories/patterns/") {
			t.Errorf("%s\n%v", diff, alone)
		}
		for groups, want := range map[string]string{
			"": "For you that is you alone.", "team:a team:b project:c": "For you that is you alone.", "team:a": "For you that is team:a.",
		} {
			w.key = w.given(object{"subject": "user:zoe", "memberships": strings.Fields(groups)})
			host := w.byHTTP(false)
			w.callOn(host, "remember", object{"content": "The way of " + groups, "category": "patterns"}).ok()
			listed, err := host.ListTools(t.Context(), nil)
			if err != nil || !slices.ContainsFunc(listed.Tools, func(tool *sdk.Tool) bool { return strings.HasSuffix(tool.Description, want) }) {
				t.Errorf("of %q no tool says %q: %v", groups, want, err)
			}
		}
		bob := w.as(w.given(object{"subject": "user:bob"}))
		if _, err := bob.Remember(t.Context(), client.Knowledge{ID: "bobs", Content: "Bob's password is teal", Type: "strategy"}); err != nil {
			t.Fatal(err)
		}
		same(t, w.call("retrieve_memory", object{"query": "teal password"}).ok()["count"], 0.0)
		same(t, w.call("get_knowledge", object{"uri": "bobs"}).refused(), "NOT_FOUND")
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
		same(t, w.callOn(host, "retrieve_memory", object{"query": "x"}).refused(), "UNAVAILABLE")
		if status := w.callOn(host, "memory_status", nil).ok(); status["available"] != false || fmt.Sprint(status["problem"]) == "" {
			t.Errorf("got %v", status)
		}
	})
}
