package http_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/domain/text"
	. "github.com/annals-kb/annals/http/servertest"
)

func TestAnExplanationSaysThatMeaningIsStillToCome(t *testing.T) {
	EachWith(t, Following, func(t *testing.T, w *World) {
		position := w.Remember("k", "retry with jitter").Header.Get("Annals-Position")
		pending := func(explain bool, query string) any {
			t.Helper()
			a := w.Ask("POST", "/v1/search"+query, Object{"query": "retry with jitter", "explain": explain}).Want(http.StatusOK)
			return Pick(a.Items()[0], "parts", "semantic_pending")
		}
		Same(t, []any{pending(true, ""), pending(false, "")}, []any{true, nil}, "at once")
		w.FollowMeaning()
		Same(t, pending(true, "?max_wait=25&min_position="+position), nil, "when the vector is there")
	})
}

func TestASearchFindsWhatTheSearcherMaySeeNearestFirst(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Ask("POST", "/v1/knowledge", []Object{
			{"id": "mine", "type": "user_profile", "content": "The user prefers TypeScript to JavaScript", "scopes": []string{"user:123", "project:456"}, "owner": "user:123"},
			{"id": "ours", "type": "strategy", "content": "The project uses TypeScript in strict mode", "scopes": []string{"project:456"}, "owner": "project:456"},
			{"id": "theirs", "type": "strategy", "content": "Another project uses TypeScript too", "scopes": []string{"project:789"}, "owner": "project:789"},
		}).Want(http.StatusOK)
		got := w.Ask("POST", "/v1/search", Object{
			"query": "TypeScript", "context": Object{"user_id": "123", "project_id": "456"}, "explain": true, "min_score": 0.0,
		}).Want(http.StatusOK)
		hits := got.Items()
		var found []string
		for _, hit := range hits {
			found = append(found, Pick(hit, "knowledge", "id").(string)+" "+hit["scope"].(string)+" "+hit["tier"].(string))
		}
		if diff := cmp.Diff(found, []string{"mine user:123 user", "ours project:456 project"}); diff != "" {
			t.Fatal(diff)
		}
		for _, part := range []string{"semantic", "lexical", "confidence"} {
			if _, ok := Pick(hits[0], "parts", part).(float64); !ok {
				t.Errorf("%s is missing: %v", part, hits[0])
			}
		}
		Same(t, Pick(got.JSON(), "explain", "visible"), 2.0)
		none := w.Ask("POST", "/v1/search", Object{"query": "TypeScript", "context": Object{}}).Want(http.StatusOK)
		Same(t, len(none.Items()), 0, "nobody in particular finds")
		Like(t, none.JSON(), Object{"explain": Object{"visible": 0.0}}, "nobody in particular finds")
		all := w.Ask("POST", "/v1/search", Object{"query": "TypeScript", "min_score": 0}).Want(http.StatusOK)
		Same(t, len(all.Items()), 3, "an admin finds")
		brief := "in short: TypeScript"
		w.Ask("PATCH", "/v1/knowledge/theirs", Object{"abstract": brief}).Want(http.StatusOK)
		for level, want := range []string{brief, "Another project uses TypeScript too", "Another project uses TypeScript too"} {
			got := w.Ask("POST", "/v1/search", Object{"query": "TypeScript", "min_score": 0, "scope": "project:789", "level": level}).Want(http.StatusOK)
			Same[any](t, Pick(got.Items()[0], "knowledge", "content"), want, level)
		}
		long := strings.Repeat("TypeScript is checked before it runs. ", 500)
		changed := w.Ask("PATCH", "/v1/knowledge/theirs", Object{"content": long, "abstract": nil}).Want(http.StatusOK)
		for level, most := range []int{text.AbstractTokens, text.OverviewTokens, text.Tokens(long)} {
			question := Object{"query": "TypeScript", "min_score": 0, "scope": "project:789", "level": level}
			for range 2 {
				said := Pick(w.Ask("POST", "/v1/search", question).Want(http.StatusOK).Items()[0], "knowledge", "content").(string)
				if tokens := text.Tokens(said); tokens > most || tokens < most/2 || !strings.HasPrefix(long, said[:20]) {
					t.Errorf("%v: %d tokens, want at most %d: %.60s", question, tokens, most, said)
				}
				question["as_of"] = changed.Header.Get("Annals-Position")
			}
		}
		few := w.Ask("POST", "/v1/search", Object{"query": "TypeScript", "types": "user_profile", "status": []string{"active"}, "limit": 1, "order": "score"}).Want(http.StatusOK)
		Same(t, len(few.Items()), 1, "user profiles")
	})
}

func TestABadSearchNamesEveryField(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		got := w.Ask("POST", "/v1/search", `{"querry": "x", "limit": 0, "min_score": 7, "order": "best", "types": ["tool", "x"], "category": 3,
			"context": {"user_id": "not an id", "project_ids": ["ok", "no no"], "user": "x", "max_wait": 1}, "min_position": 7, "vector": [1, "2"], "stale": "yes"}`).Want(http.StatusUnprocessableEntity)
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
		Same(t, got.Errors(), want)
		w.Ask("POST", "/v1/search", Object{}).Want(http.StatusUnprocessableEntity)
		w.Ask("POST", "/v1/search", nil).Want(http.StatusBadRequest)
		w.Ask("POST", "/v1/search", Object{"query": "x", "context": Object{"user_id": "somebody-else"}}, "Annals-On-Behalf-Of: user:me").Want(http.StatusForbidden)
	})
}

// aboutDeploys are poor answers to the question for the deploy window, of the reader's own team, and the good one of
// another team, among much else.
func aboutDeploys() []Object {
	items := []Object{{
		"id": "hours", "type": "definition", "owner": "team:ops", "scopes": []string{"org:acme"},
		"content": "Deploy to production from Monday to Thursday, 09:00 to 16:00 UTC; a deploy outside needs the incident lead",
	}}
	for i, name := range []string{"ledger", "cart", "invoice", "refund", "payout", "voucher", "receipt", "wallet"} {
		items = append(items, Object{
			"id": name, "type": "strategy", "owner": "team:pay", "content": "The " + name + " service is deployed by its pipeline",
		})
		for j := range 8 {
			items = append(items, Object{
				"type": "usecase", "owner": "org:acme", "content": fmt.Sprintf("Ticket %d: the printer on floor %d has paper", 8*i+j, j),
			})
		}
	}
	return items
}

func TestPoorHitsOfTheReadersOwnTeamComeAfterTheAnswerOfAnother(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Ask("POST", "/v1/knowledge", aboutDeploys()).Want(http.StatusOK)
		ask := func(query string, more ...any) (answer Object, found []string) {
			question := Object{"query": query, "limit": 20, "context": Object{"team_id": "pay", "org_id": "acme"}}
			for i := 0; i < len(more); i += 2 {
				question[more[i].(string)] = more[i+1]
			}
			got := w.Ask("POST", "/v1/search", question).Want(http.StatusOK)
			for _, hit := range got.Items() {
				found = append(found, fmt.Sprint(hit["band"], " ", hit["tier"]))
			}
			return got.JSON(), found
		}
		perhaps := slices.Repeat([]string{"perhaps team"}, 5)
		answer, found := ask("deploy window")
		Same(t, found, append([]string{"sure org"}, perhaps...))
		Like(t, answer, Object{"weak": nil})
		_, found = ask("deploy window", "limit", 3)
		Same(t, found, []string{"sure org", "perhaps team", "perhaps team"}, "the limit is for both bands")
		_, found = ask("deploy window", "min_score", 0.3)
		Same(t, found, append(slices.Repeat([]string{"<nil> team"}, 8), "<nil> org"), "with a least score")
		answer, found = ask("who repairs the printer of the wallet team when it is jammed")
		Same(t, slices.ContainsFunc(found, func(hit string) bool { return strings.HasPrefix(hit, "sure") }), false, found)
		Like(t, answer, Object{"weak": true})
	})
}

func TestASearchCountsItsHitsBeyondTheLimit(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		for i := range 14 {
			k := Item(fmt.Sprintf("i%d", i), fmt.Sprint("staging server ", i))
			k["tags"] = Object{"part": []string{"a", "b"}[i%2]}
			w.Ask("POST", "/v1/knowledge", k).Want(http.StatusCreated)
		}
		asked := Object{"query": "staging server", "limit": 3, "min_score": 0}
		plain := w.Ask("POST", "/v1/search", asked).Want(http.StatusOK).JSON()
		Like(t, plain, Object{"facets": nil})
		asked["facets"] = true
		got := w.Ask("POST", "/v1/search", asked).Want(http.StatusOK).JSON()
		Same(t, got["items"], plain["items"], "the hits")
		Like(t, got["facets"], Object{
			"hits": 14, "types": Object{"counts": []any{Object{"value": "strategy", "items": 14}}},
			"tags": Object{"counts": []any{Object{"value": "part:a", "items": 7}, Object{"value": "part:b", "items": 7}}},
		})
	})
}
