package http_test

import (
	"fmt"
	"net/http"
	"testing"

	. "github.com/annals-kb/annals/http/servertest"
)

func TestAListIsReadPageByPage(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		var want []string
		for i := range 7 {
			w.Remember(fmt.Sprintf("i%d", i), "x")
			want = append([]string{fmt.Sprintf("i%d", i)}, want...)
		}
		Same(t, IDs(w.Pages("/v1/knowledge?limit=3")), want)
		first := w.Ask("GET", "/v1/knowledge?limit=3", nil).JSON()["next_cursor"].(string)
		w.Ask("GET", "/v1/knowledge?limit=5&cursor="+first, nil).Want(http.StatusOK)
		w.Ask("GET", "/v1/knowledge?type=tool&cursor="+first, nil).Want(http.StatusUnprocessableEntity)
		w.Ask("GET", "/v1/knowledge?cursor=B"+first[1:], nil).Want(http.StatusUnprocessableEntity)
		w.Ask("GET", "/v1/events?cursor="+first, nil).Want(http.StatusUnprocessableEntity)
	})
}

func TestAListIsFiltered(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Ask("POST", "/v1/knowledge", []Object{
			{"id": "a", "type": "tool", "content": "x", "tags": Object{"lang": "go", "os": "linux"}, "scopes": []string{"public"}, "source": Object{"trace_id": "t9"}},
			{"id": "b", "type": "plan", "content": "x", "tags": Object{"lang": []string{"go", "c"}}, "owner": "team:t", "polarity": "negative"},
			{"id": "c", "type": "strategy", "content": "x", "tags": []string{"hot", "x:y"}, "category": "skills", "context_type": "skill"},
		}).Want(http.StatusOK)
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
			got := IDs(w.Ask("GET", "/v1/knowledge?"+query, nil).Want(http.StatusOK).Items())
			Same(t, got, want, query)
		}
	})
}

func TestEveryBadParameterIsNamedAtOnce(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		got := w.Ask("GET", "/v1/knowledge?type=hunch&owmer=user:1&limit=1000&stale=maybe&created_from=noon&owner=me&tag=%00&trace_id=%ff&uri=viking://%00&scope=x&status=lost", nil).Want(http.StatusUnprocessableEntity)
		want := []string{
			"owmer: is not a parameter here",
			"stale: must be true or false",
			"created_from: must be a time such as 2026-03-01T12:00:00Z, or a date",
			"limit: must be a whole number from 1 to 500",
			"type: must be one of user_profile, strategy, tool, usecase, definition, plan",
			"status: must be one of active, superseded, deleted, erased, quarantined, proposed",
			"tag: must not contain NUL characters",
			"owner: must be one of user:ID, agent:ID, project:ID, team:ID, org:ID",
			"scope: must be one of user:ID, agent:ID, project:ID, team:ID, org:ID, or public",
			"uri: must not contain NUL characters",
			"trace_id: must be valid UTF-8",
		}
		Same(t, got.Errors(), want)
		for _, path := range []string{
			"/v1/events?actor=me", "/v1/events?name=DROP", "/v1/events?stream=%00", "/v1/events?stream=retry-429", "/v1/events?stream=foo:bar", "/v1/events?stream=knowledge:", "/v1/events?order=up", "/v1/events?limit=501",
			"/v1/events?after=-1", "/v1/events?from=x", "/v1/projections?x=y", "/v1/knowledge/a?x=y", "/v1/knowledge/a/history?limit=0",
		} {
			w.Ask("GET", path, nil).Want(http.StatusUnprocessableEntity)
		}
	})
}

func TestAnOverviewCountsWhatTheCallerMaySee(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		admin := w.Admin()
		mia := w.Given(admin, Object{"subject": "user:mia", "memberships": []string{"team:pay"}})
		w.Ask("POST", "/v1/knowledge", []Object{
			{"id": "a", "type": "tool", "content": "x", "tags": Object{"lang": "go"}, "scopes": []string{"team:pay"}, "eval": Object{"helpful": 1, "harmful": 9}},
			{"id": "b", "type": "plan", "content": "x", "tags": []string{"hot"}, "eval": Object{"confidence": 0.25}},
			{"id": "c", "type": "tool", "content": "x", "category": "tools"},
		}, Bearer(admin)).Want(http.StatusOK)
		w.Ask("POST", "/v1/knowledge/a/feedback", Object{"verdict": "helpful"}, Bearer(mia)).Want(http.StatusOK)
		w.Ask("POST", "/v1/knowledge/a/feedback", Object{"verdict": "harmful", "trace_id": "t"}, Bearer(mia)).Want(http.StatusOK)
		w.Ask("POST", "/v1/knowledge/b/confirm", Object{}, Bearer(admin)).Want(http.StatusOK)
		w.Ask("POST", "/v1/knowledge/c/supersede", Object{"by": "b"}, Bearer(admin)).Want(http.StatusOK)
		counts := func(pairs ...any) (list []any) {
			for i := 0; i < len(pairs); i += 2 {
				list = append(list, Object{"value": pairs[i], "items": float64(pairs[i+1].(int))})
			}
			return list
		}
		got := w.Ask("GET", "/v1/overview", nil, Bearer(admin)).Want(http.StatusOK).JSON()
		Like(t, got, Object{
			"items": 2, "complete": true, "confirmed": 1, "contested": 1, "helpful": 1, "stale": 0, "expired": 0,
			"types": Object{"counts": counts("plan", 1, "tool", 1)}, "tags": Object{"counts": counts("hot", 1, "lang:go", 1)},
			"statuses": Object{"counts": counts("active", 2, "superseded", 1)},
			"owners":   Object{"counts": counts("user:olga", 2)},
			"scopes":   Object{"counts": counts("team:pay", 1, "user:olga", 1)},
		})
		Like(t, w.Ask("GET", "/v1/overview?status=superseded", nil, Bearer(admin)).JSON(),
			Object{"items": 1, "categories": Object{"counts": counts("tools", 1)}})
		Like(t, w.Ask("GET", "/v1/overview", nil, Bearer(mia)).JSON(),
			Object{"items": 1, "owners": Object{"counts": counts("user:olga", 1)}, "scopes": Object{"counts": counts("team:pay", 1)}})
		for query, want := range map[string][]string{
			"contested=true": {"a"}, "contested=false": {"b"}, "expired=true": nil, "expired=false": {"b", "a"},
			"max_confidence=0.99": {"b", "a"}, "min_confidence=0.99": nil,
		} {
			Same(t, IDs(w.Ask("GET", "/v1/knowledge?"+query, nil, Bearer(admin)).Want(http.StatusOK).Items()), want, query)
			Like(t, w.Ask("GET", "/v1/overview?"+query, nil, Bearer(admin)).Want(http.StatusOK).JSON(), Object{"items": len(want)}, query)
		}
		bad := w.Ask("GET", "/v1/overview?min_confidence=2&max_confidence=NaN&contested=yes&limit=3", nil, Bearer(admin)).
			Want(http.StatusUnprocessableEntity)
		Same(t, bad.Errors(), []string{
			"limit: is not a parameter here", "max_confidence: must be a number", "contested: must be true or false",
			"min_confidence: must be 0 to 1",
		})
		Same(t, w.Ask("GET", "/v1/knowledge?expired=true&as_of=1", nil, Bearer(admin)).Want(http.StatusUnprocessableEntity).Errors(),
			[]string{"expired: is for the present: leave out as_of"})
	})
}

func TestAListIsSortedAndReadAsAWhole(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		for _, id := range []string{"a", "b", "c", "d"} {
			w.Remember(id, "x, "+id)
		}
		w.Ask("POST", "/v1/knowledge/b/feedback", Object{"verdict": "harmful"}).Want(http.StatusOK)
		w.Ask("POST", "/v1/knowledge/c/stale", Object{}).Want(http.StatusOK)
		w.Ask("PATCH", "/v1/knowledge/a", Object{"content": "new"}).Want(http.StatusOK)
		for query, want := range map[string][]string{
			"sort=updated": {"a", "d", "c", "b"}, "sort=updated&order=asc": {"b", "c", "d", "a"},
			"sort=harmful": {"b", "d", "c", "a"}, "sort=stale": {"c", "d", "b", "a"},
			"sort=confidence&order=asc": {"b", "c", "a", "d"},
		} {
			Same(t, IDs(w.Pages("/v1/knowledge?limit=1&"+query)), want, query)
			lines := w.Ask("GET", "/v1/knowledge?"+query, nil, "Accept: application/x-ndjson").Want(http.StatusOK).Lines()
			Same(t, IDs(lines), want, query)
		}
		table := string(w.Ask("GET", "/v1/knowledge?sort=harmful", nil, "Accept: text/csv").Want(http.StatusOK).Body)
		Like(t, table, Beginning("id,type,context_type,"))
		Like(t, table, Containing(`"x, b"`))
		cursor := w.Ask("GET", "/v1/knowledge?limit=1&sort=stale", nil).JSON()["next_cursor"].(string)
		for _, bad := range []string{
			"sort=size", "order=asc", "sort=stale&order=up", "sort=stale&as_of=2", "cursor=" + cursor,
			"sort=stale&order=asc&cursor=" + cursor, "sort=stale&cursor=B" + cursor[1:],
		} {
			w.Ask("GET", "/v1/knowledge?"+bad, nil).Want(http.StatusUnprocessableEntity)
		}
		w.Ask("GET", "/v1/knowledge?limit=2", nil, "Accept: text/csv").Want(http.StatusUnprocessableEntity)
	})
}
