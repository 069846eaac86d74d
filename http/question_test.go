package http_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/domain/text"
)

func ids(items []object) []string {
	var all []string
	for _, o := range items {
		all = append(all, o["id"].(string))
	}
	return all
}

func TestAListIsReadPageByPage(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var want []string
		for i := range 7 {
			w.remember(fmt.Sprintf("i%d", i), "x")
			want = append([]string{fmt.Sprintf("i%d", i)}, want...)
		}
		var got []string
		path := "/v1/knowledge?limit=3"
		for range 3 {
			page := w.ask("GET", path, nil).want(http.StatusOK)
			got = append(got, ids(page.items())...)
			next, _ := page.json()["next_cursor"].(string)
			path = "/v1/knowledge?limit=3&cursor=" + url.QueryEscape(next)
		}
		same(t, got, want)
		first := w.ask("GET", "/v1/knowledge?limit=3", nil).json()["next_cursor"].(string)
		w.ask("GET", "/v1/knowledge?limit=5&cursor="+first, nil).want(http.StatusOK)
		w.ask("GET", "/v1/knowledge?type=tool&cursor="+first, nil).want(http.StatusUnprocessableEntity)
		w.ask("GET", "/v1/knowledge?cursor=B"+first[1:], nil).want(http.StatusUnprocessableEntity)
		w.ask("GET", "/v1/events?cursor="+first, nil).want(http.StatusUnprocessableEntity)
	})
}

func TestAListIsFiltered(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.ask("POST", "/v1/knowledge", []object{
			{"id": "a", "type": "tool", "content": "x", "tags": object{"lang": "go", "os": "linux"}, "scopes": []string{"public"}, "source": object{"trace_id": "t9"}},
			{"id": "b", "type": "plan", "content": "x", "tags": object{"lang": []string{"go", "c"}}, "owner": "team:t", "polarity": "negative"},
			{"id": "c", "type": "strategy", "content": "x", "tags": []string{"hot", "x:y"}, "category": "skills", "context_type": "skill"},
		}).want(http.StatusOK)
		for query, want := range map[string][]string{
			"type=tool":                {"a"},
			"type=tool&type=plan":      {"b", "a"},
			"type=tool,plan":           {"b", "a"},
			"tag=lang:go":              {"b", "a"},
			"tag=lang:c&tag=lang:go":   {"b", "a"},
			"tag=lang:go&tag=os:linux": {"a"},
			"tag=hot":                  {"c"},
			"tag=labels:x:y":           {"c"},
			"context_type=skill":       {"c"},
			"category=skills":          {"c"},
			"owner=team:t":             {"b"},
			"scope=public":             {"a"},
			"visibility=public":        {"a"},
			"polarity=negative":        {"b"},
			"trace_id=t9":              {"a"},
			"uri=viking://user/":       {"c", "a"},
			"id_prefix=b":              {"b"},
			"id_prefix=b&as_of=3":      {"b"},
			"id_prefix=ab":             nil,
			"stale=false":              {"c", "b", "a"},
			"stale=true":               nil,
			"status=deleted":           nil,
			"created_to=2020-01-01":    nil,
			"created_from=2020-01-01":  {"c", "b", "a"},
			"updated_from=2999-01-01":  nil,
			"created_from=2020-01-01T00:00:00+08:00&limit=1": {"c"},
		} {
			got := ids(w.ask("GET", "/v1/knowledge?"+query, nil).want(http.StatusOK).items())
			same(t, got, want, query)
		}
	})
}

func TestEveryBadParameterIsNamedAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		got := w.ask("GET", "/v1/knowledge?type=hunch&owmer=user:1&limit=1000&stale=maybe&created_from=noon&owner=me&tag=%00&trace_id=%ff&uri=viking://%00&scope=x&status=lost", nil).want(http.StatusUnprocessableEntity)
		want := []string{
			"owmer: is not a parameter here",
			"stale: must be true or false",
			"created_from: must be a time such as 2026-03-01T12:00:00Z, or a date",
			"limit: must be a whole number from 1 to 500",
			"type: must be one of user_profile, strategy, tool, usecase, definition, plan",
			"status: must be one of active, superseded, deleted, erased",
			"tag: must not contain NUL characters",
			"owner: must be one of user:ID, agent:ID, project:ID, team:ID, org:ID",
			"scope: must be one of user:ID, agent:ID, project:ID, team:ID, org:ID, or public",
			"uri: must not contain NUL characters",
			"trace_id: must be valid UTF-8",
		}
		same(t, got.errors(), want)
		for _, path := range []string{
			"/v1/events?actor=me", "/v1/events?name=DROP", "/v1/events?stream=%00", "/v1/events?stream=retry-429", "/v1/events?stream=foo:bar", "/v1/events?stream=knowledge:", "/v1/events?order=up", "/v1/events?limit=501",
			"/v1/events?after=-1", "/v1/events?from=x", "/v1/projections?x=y", "/v1/knowledge/a?x=y", "/v1/knowledge/a/history?limit=0",
		} {
			w.ask("GET", path, nil).want(http.StatusUnprocessableEntity)
		}
	})
}

func TestASearchFindsWhatTheSearcherMaySeeNearestFirst(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.ask("POST", "/v1/knowledge", []object{
			{"id": "mine", "type": "user_profile", "content": "The user prefers TypeScript to JavaScript", "scopes": []string{"user:123", "project:456"}, "owner": "user:123"},
			{"id": "ours", "type": "strategy", "content": "The project uses TypeScript in strict mode", "scopes": []string{"project:456"}, "owner": "project:456"},
			{"id": "theirs", "type": "strategy", "content": "Another project uses TypeScript too", "scopes": []string{"project:789"}, "owner": "project:789"},
		}).want(http.StatusOK)
		got := w.ask("POST", "/v1/search", object{
			"query": "TypeScript", "context": object{"user_id": "123", "project_id": "456"}, "explain": true, "min_score": 0.0,
		}).want(http.StatusOK)
		hits := got.items()
		var found []string
		for _, hit := range hits {
			found = append(found, pick(hit, "knowledge", "id").(string)+" "+hit["scope"].(string)+" "+hit["tier"].(string))
		}
		if diff := cmp.Diff(found, []string{"mine user:123 user", "ours project:456 project"}); diff != "" {
			t.Fatal(diff)
		}
		for _, part := range []string{"semantic", "lexical", "confidence"} {
			if _, ok := pick(hits[0], "parts", part).(float64); !ok {
				t.Errorf("%s is missing: %v", part, hits[0])
			}
		}
		same(t, pick(got.json(), "explain", "visible"), 2.0)
		none := w.ask("POST", "/v1/search", object{"query": "TypeScript", "context": object{}}).want(http.StatusOK)
		same(t, len(none.items()), 0, "nobody in particular finds")
		like(t, none.json(), object{"explain": object{"visible": 0.0}}, "nobody in particular finds")
		all := w.ask("POST", "/v1/search", object{"query": "TypeScript", "min_score": 0}).want(http.StatusOK)
		same(t, len(all.items()), 3, "an admin finds")
		brief := "in short: TypeScript"
		w.ask("PATCH", "/v1/knowledge/theirs", object{"abstract": brief}).want(http.StatusOK)
		for level, want := range []string{brief, "Another project uses TypeScript too", "Another project uses TypeScript too"} {
			got := w.ask("POST", "/v1/search", object{"query": "TypeScript", "min_score": 0, "scope": "project:789", "level": level}).want(http.StatusOK)
			same[any](t, pick(got.items()[0], "knowledge", "content"), want, level)
		}
		long := strings.Repeat("TypeScript is checked before it runs. ", 500)
		changed := w.ask("PATCH", "/v1/knowledge/theirs", object{"content": long, "abstract": nil}).want(http.StatusOK)
		for level, most := range []int{text.AbstractTokens, text.OverviewTokens, text.Tokens(long)} {
			question := object{"query": "TypeScript", "min_score": 0, "scope": "project:789", "level": level}
			for range 2 {
				said := pick(w.ask("POST", "/v1/search", question).want(http.StatusOK).items()[0], "knowledge", "content").(string)
				if tokens := text.Tokens(said); tokens > most || tokens < most/2 || !strings.HasPrefix(long, said[:20]) {
					t.Errorf("%v: %d tokens, want at most %d: %.60s", question, tokens, most, said)
				}
				question["as_of"] = changed.header.Get("Annals-Position")
			}
		}
		few := w.ask("POST", "/v1/search", object{"query": "TypeScript", "types": "user_profile", "status": []string{"active"}, "limit": 1, "order": "score"}).want(http.StatusOK)
		same(t, len(few.items()), 1, "user profiles")
	})
}

func TestABadSearchNamesEveryField(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		got := w.ask("POST", "/v1/search", `{"querry": "x", "limit": 0, "min_score": 7, "order": "best", "types": ["tool", "x"], "category": 3,
			"context": {"user_id": "not an id", "project_ids": ["ok", "no no"], "user": "x", "max_wait": 1}, "min_position": 7, "vector": [1, "2"], "stale": "yes"}`).want(http.StatusUnprocessableEntity)
		want := []string{
			"querry: is not a field here",
			"category: must be a string or an array of strings",
			"context.user: is not a field here",
			"context.max_wait: is not a field here",
			"min_position: is not a field here, but a parameter of the URL: ?min_position=…",
			"vector[1]: must be a number",
			"stale: must be true or false",
			"limit: must be 1 to 100",
			"min_score: must be 0 to 1",
			"order: must be one of priority, score",
			"context.user_id: the id after user: must be 1 to 128 of A-Z a-z 0-9 . _ @ - and begin with a letter or digit",
			"context.project_ids[1]: the id after project: must be 1 to 128 of A-Z a-z 0-9 . _ @ - and begin with a letter or digit",
			"types: must be one of user_profile, strategy, tool, usecase, definition, plan",
		}
		same(t, got.errors(), want)
		w.ask("POST", "/v1/search", object{}).want(http.StatusUnprocessableEntity)
		w.ask("POST", "/v1/search", nil).want(http.StatusBadRequest)
		w.ask("POST", "/v1/search", object{"query": "x", "context": object{"user_id": "somebody-else"}}, "Annals-On-Behalf-Of: user:me").want(http.StatusForbidden)
	})
}

func TestAHistorySaysWhoWhenWhyAndWhatChanged(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.ask("POST", "/v1/knowledge", item("a", "one"), "Annals-Actor: user:alice").want(http.StatusCreated)
		w.ask("PATCH", "/v1/knowledge/a", object{"content": "two", "tags": object{"k": "v"}}, "Annals-Actor: user:bob",
			"Annals-On-Behalf-Of: user:alice", "X-Request-Id: req-7", "Annals-Correlation-Id: corr", "Annals-Causation-Id: cause",
			"Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").want(http.StatusOK)
		w.ask("POST", "/v1/knowledge/a/stale", object{"reason": "old"}).want(http.StatusOK)
		all := w.ask("GET", "/v1/knowledge/a/history", nil).want(http.StatusOK).items()
		if len(all) != 3 {
			t.Fatalf("%d events", len(all))
		}
		revised := all[1]
		for field, want := range (object{
			"name": "knowledge.revised", "stream": "knowledge:a", "version": 2.0, "position": 2.0, "actor": "user:bob",
			"on_behalf_of": "user:alice", "authentication": "open", "request_id": "req-7", "correlation_id": "corr",
			"causation_id": "cause", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
			"revision": 2.0, "changes": []any{
				object{"field": "content", "before": "one", "after": "two"},
				object{"field": "tags", "after": object{"k": "v"}},
			},
		}) {
			same(t, revised[field], want, field)
		}
		like(t, all[2], object{"reason": "old", "confidence": 0.25})
		page := w.ask("GET", "/v1/knowledge/a/history?limit=2", nil).want(http.StatusOK)
		next := page.json()["next_cursor"].(string)
		rest := w.ask("GET", "/v1/knowledge/a/history?limit=2&cursor="+next, nil).want(http.StatusOK)
		like(t, rest.items(), []any{object{"position": 3.0}})
		like(t, rest.json(), object{"next_cursor": nil})
		w.ask("GET", "/v1/knowledge/b/history?cursor="+next, nil).want(http.StatusNotFound)
	})
}

func TestProjectionsSayHowTheyDo(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "x")
		all := w.ask("GET", "/v1/projections", nil).want(http.StatusOK).items()
		i := slices.IndexFunc(all, func(p object) bool { return p["name"] == "knowledge" })
		if i < 0 || all[i]["state"] != "active" || all[i]["inline"] != true || all[i]["lag_events"] != 0.0 {
			t.Errorf("%v", all)
		}
	})
}

func TestAnOverviewCountsWhatTheCallerMaySee(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *world, _ *time.Duration) {
		admin := w.given("", object{"subject": "user:olga", "role": "admin"})
		mia := w.given(admin, object{"subject": "user:mia", "memberships": []string{"team:pay"}})
		w.ask("POST", "/v1/knowledge", []object{
			{"id": "a", "type": "tool", "content": "x", "tags": object{"lang": "go"}, "scopes": []string{"team:pay"}, "eval": object{"helpful": 1, "harmful": 9}},
			{"id": "b", "type": "plan", "content": "x", "tags": []string{"hot"}, "eval": object{"confidence": 0.25}},
			{"id": "c", "type": "tool", "content": "x", "category": "tools"},
		}, bearer(admin)).want(http.StatusOK)
		w.ask("POST", "/v1/knowledge/a/feedback", object{"verdict": "helpful"}, bearer(mia)).want(http.StatusOK)
		w.ask("POST", "/v1/knowledge/a/feedback", object{"verdict": "harmful", "trace_id": "t"}, bearer(mia)).want(http.StatusOK)
		w.ask("POST", "/v1/knowledge/b/confirm", object{}, bearer(admin)).want(http.StatusOK)
		w.ask("POST", "/v1/knowledge/c/supersede", object{"by": "b"}, bearer(admin)).want(http.StatusOK)
		counts := func(pairs ...any) (list []any) {
			for i := 0; i < len(pairs); i += 2 {
				list = append(list, object{"value": pairs[i], "items": float64(pairs[i+1].(int))})
			}
			return list
		}
		got := w.ask("GET", "/v1/overview", nil, bearer(admin)).want(http.StatusOK).json()
		like(t, got, object{
			"items": 2, "complete": true, "confirmed": 1, "contested": 1, "helpful": 1, "stale": 0, "expired": 0,
			"types": object{"counts": counts("plan", 1, "tool", 1)}, "tags": object{"counts": counts("hot", 1, "lang:go", 1)},
			"statuses": object{"counts": counts("active", 2, "superseded", 1)},
			"owners":   object{"counts": counts("user:olga", 2)},
			"scopes":   object{"counts": counts("team:pay", 1, "user:olga", 1)},
		})
		like(t, w.ask("GET", "/v1/overview?status=superseded", nil, bearer(admin)).json(),
			object{"items": 1, "categories": object{"counts": counts("tools", 1)}})
		like(t, w.ask("GET", "/v1/overview", nil, bearer(mia)).json(),
			object{"items": 1, "owners": object{"counts": counts("user:olga", 1)}, "scopes": object{"counts": counts("team:pay", 1)}})
		for query, want := range map[string][]string{
			"contested=true": {"a"}, "contested=false": {"b"}, "expired=true": nil, "expired=false": {"b", "a"},
			"max_confidence=0.99": {"b", "a"}, "min_confidence=0.99": nil,
		} {
			same(t, ids(w.ask("GET", "/v1/knowledge?"+query, nil, bearer(admin)).want(http.StatusOK).items()), want, query)
			like(t, w.ask("GET", "/v1/overview?"+query, nil, bearer(admin)).want(http.StatusOK).json(), object{"items": len(want)}, query)
		}
		bad := w.ask("GET", "/v1/overview?min_confidence=2&max_confidence=NaN&contested=yes&limit=3", nil, bearer(admin)).
			want(http.StatusUnprocessableEntity)
		same(t, bad.errors(), []string{
			"limit: is not a parameter here", "max_confidence: must be a number", "contested: must be true or false",
			"min_confidence: must be 0 to 1",
		})
		same(t, w.ask("GET", "/v1/knowledge?expired=true&as_of=1", nil, bearer(admin)).want(http.StatusUnprocessableEntity).errors(),
			[]string{"expired: is for the present: leave out as_of"})
	})
}

func TestAListIsSortedAndReadAsAWhole(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, id := range []string{"a", "b", "c", "d"} {
			w.remember(id, "x, "+id)
		}
		w.ask("POST", "/v1/knowledge/b/feedback", object{"verdict": "harmful"}).want(http.StatusOK)
		w.ask("POST", "/v1/knowledge/c/stale", object{}).want(http.StatusOK)
		w.ask("PATCH", "/v1/knowledge/a", object{"content": "new"}).want(http.StatusOK)
		for query, want := range map[string][]string{
			"sort=updated": {"a", "d", "c", "b"}, "sort=updated&order=asc": {"b", "c", "d", "a"},
			"sort=harmful": {"b", "d", "c", "a"}, "sort=stale": {"c", "d", "b", "a"},
			"sort=confidence&order=asc": {"b", "c", "a", "d"},
		} {
			var got []string
			path := "/v1/knowledge?limit=1&" + query
			for len(got) < 5 {
				page := w.ask("GET", path, nil).want(http.StatusOK)
				got = append(got, ids(page.items())...)
				next, more := page.json()["next_cursor"].(string)
				if !more {
					break
				}
				path = "/v1/knowledge?limit=1&" + query + "&cursor=" + url.QueryEscape(next)
			}
			same(t, got, want, query)
			lines := w.ask("GET", "/v1/knowledge?"+query, nil, "Accept: application/x-ndjson").want(http.StatusOK).lines()
			same(t, ids(lines), want, query)
		}
		table := string(w.ask("GET", "/v1/knowledge?sort=harmful", nil, "Accept: text/csv").want(http.StatusOK).body)
		like(t, table, beginning("id,type,context_type,"))
		like(t, table, containing(`"x, b"`))
		cursor := w.ask("GET", "/v1/knowledge?limit=1&sort=stale", nil).json()["next_cursor"].(string)
		for _, bad := range []string{
			"sort=size", "order=asc", "sort=stale&order=up", "sort=stale&as_of=2", "cursor=" + cursor,
			"sort=stale&order=asc&cursor=" + cursor, "sort=stale&cursor=B" + cursor[1:],
		} {
			w.ask("GET", "/v1/knowledge?"+bad, nil).want(http.StatusUnprocessableEntity)
		}
		w.ask("GET", "/v1/knowledge?limit=2", nil, "Accept: text/csv").want(http.StatusUnprocessableEntity)
	})
}

func TestASearchCountsItsHitsBeyondTheLimit(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for i := range 14 {
			k := item(fmt.Sprintf("i%d", i), fmt.Sprint("staging server ", i))
			k["tags"] = object{"part": []string{"a", "b"}[i%2]}
			w.ask("POST", "/v1/knowledge", k).want(http.StatusCreated)
		}
		asked := object{"query": "staging server", "limit": 3, "min_score": 0}
		plain := w.ask("POST", "/v1/search", asked).want(http.StatusOK).json()
		like(t, plain, object{"facets": nil})
		asked["facets"] = true
		got := w.ask("POST", "/v1/search", asked).want(http.StatusOK).json()
		same(t, got["items"], plain["items"], "the hits")
		like(t, got["facets"], object{
			"hits": 14, "types": object{"counts": []any{object{"value": "strategy", "items": 14}}},
			"tags": object{"counts": []any{object{"value": "part:a", "items": 7}, object{"value": "part:b", "items": 7}}},
		})
	})
}
