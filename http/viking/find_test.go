package viking_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// remember writes an item through the API's own route.
func (w *world) remember(item object, headers ...header) string {
	w.t.Helper()
	if item["type"] == nil && item["category"] == nil {
		item["type"] = "strategy"
	}
	return w.ask("POST", "/v1/knowledge", item, headers...).want(http.StatusCreated).json()["id"].(string)
}

// found are the URIs of a list of a search's answer.
func found(result object, list string) (uris []string) {
	for _, m := range result[list].([]any) {
		uris = append(uris, m.(object)["uri"].(string))
	}
	return uris
}

func TestFindAnswersWithThreeLists(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		w.remember(object{
			"id": "chromedriver", "category": "tools", "content": "chromedriver 124 needs Chrome 124+, else sessions fail to start", "owner": "org:acme", "scopes": []string{"public"},
		})
		w.remember(object{"id": "pref", "category": "preferences", "content": "用户偏好深色主题 for chromedriver runs"})
		w.remember(object{"id": "guide", "context_type": "resource", "content": "A guide to chromedriver and Chrome"})
		w.remember(object{"id": "fix", "context_type": "skill", "content": "# Steps\nPin chromedriver.", "meta": object{"name": "fix-driver", "description": "Fix chromedriver mismatches"}})
		const tools = "viking://agent/memories/tools/"
		result := w.ask("POST", "/api/v1/search/find", object{
			"query": "chromedriver", "target_uri": "", "limit": 10, "score_threshold": 0.0, "something": "unknown",
		}).object()
		if result["total"] != 4.0 || !slices.Equal(found(result, "skills"), []string{"viking://user/default/skills/fix"}) ||
			!slices.Equal(found(result, "resources"), []string{"viking://user/default/resources/guide.md"}) || len(found(result, "memories")) != 2 {
			t.Errorf("found %v", result)
		}
		skill := result["skills"].([]any)[0].(object)
		like(t, skill,
			object{"name": "fix-driver", "description": "Fix chromedriver mismatches", "context_type": "skill"}, "the skill is")
		result = w.find(object{"query": "chromedriver", "target_uri": tools, "limit": 5})
		if result["total"] != 1.0 {
			t.Fatalf("found %v", result)
		}
		m := result["memories"].([]any)[0].(object)
		if score, _ := m["score"].(float64); m["uri"] != tools+"chromedriver.md" || m["context_type"] != "memory" || m["level"] != 2.0 || m["category"] != "tools" ||
			m["match_reason"] != "" || m["overview"] != nil || score <= 0 || score > 1 || !strings.HasPrefix(m["abstract"].(string), "chromedriver 124") {
			t.Errorf("found %v", m)
		}
		like(t, m, object{"relations": count(0)})
		// The same item, as whoever names the tenant would have it named, and not in a directory of a longer name.
		for target, want := range map[string][]string{
			"viking://tenants/default/agent/memories/":       {"viking://tenants/default/agent/memories/tools/chromedriver.md"},
			"viking://agent/memories/tool":                   nil,
			"viking://agent/memories/tools/chromedriver.md":  {tools + "chromedriver.md"},
			"viking://tenants/other/agent/memories/":         nil,
			"viking://user/memories/preferences/":            {"viking://user/default/memories/preferences/pref.md"},
			"viking://user/memories":                         {"viking://user/default/memories/preferences/pref.md"},
			"viking://~/memories":                            {tools + "chromedriver.md", "viking://user/default/memories/preferences/pref.md"},
			"viking://user/default/memories":                 {"viking://user/default/memories/preferences/pref.md"},
			"viking://user/nobody/memories":                  nil,
			"viking://agent/7a1c9b0e44d2/memories/patterns/": nil,
		} {
			got := w.find(object{"query": "chromedriver", "target_uri": target})
			same(t, found(got, "memories"), want, target, got)
		}
		for _, body := range []object{
			{"query": "用户偏好", "limit": 5},
			{"query": "用户偏好", "session_id": "nobody-knows", "target_uri": "viking://user/memories", "limit": 6, "score_threshold": 0.1},
			{"query": "用户偏好", "target_uri": []string{"viking://user/memories", "viking://agent/memories"}, "context_type": "memory", "since": "2020-01-01T00:00:00Z"},
		} {
			got := w.ask("POST", "/api/v1/search/search", body).object()
			if uris := found(got, "memories"); len(uris) == 0 || uris[0] != "viking://user/default/memories/preferences/pref.md" {
				t.Errorf("%v: found %v", body, got)
			}
		}
	})
}

func TestAThresholdHoldsForTheScoreThatIsReturned(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		for _, content := range []string{"retry with backoff", "retry with backoff and jitter when the gateway answers 429", "the gateway is in Frankfurt"} {
			w.remember(object{"content": content})
		}
		ask := func(threshold any) []any {
			body := object{"query": "retry with backoff", "score_threshold": threshold}
			return w.find(body)["memories"].([]any)
		}
		all, last := ask(0.0), 1.1
		for _, m := range all {
			score := m.(object)["score"].(float64)
			if score > last {
				t.Errorf("not in the order of scores: %v", all)
			}
			last = score
			for _, kept := range ask(score) {
				if kept.(object)["score"].(float64) < score {
					t.Errorf("at least %v: got %v", score, kept)
				}
			}
			if len(ask(score)) == 0 {
				t.Errorf("a hit of exactly %v was left out", score)
			}
		}
		if len(all) < 2 {
			t.Errorf("found %v", all)
		}
	})
}

func TestTheScoreOfAHitTellsItsBand(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		w.remember(object{"content": "Deploy to production from Monday to Thursday, 09:00 to 16:00 UTC; a deploy outside needs the incident lead"})
		for i, name := range []string{"ledger", "cart", "invoice", "refund", "payout", "voucher", "receipt", "wallet"} {
			w.remember(object{"content": "The " + name + " service is deployed by its pipeline"})
			for j := range 8 {
				w.remember(object{"content": fmt.Sprintf("Ticket %d: the printer on floor %d has paper", 8*i+j, j)})
			}
		}
		for _, query := range []string{"deploy window", "who repairs the printer of the wallet team when it is jammed", "when is the deploy window, and who has the wallet service?"} {
			sure, perhaps := 0, 0
			hits := w.ask("POST", "/v1/search", object{"query": query, "order": "score"}).want(http.StatusOK).json()["items"].([]any)
			for _, hit := range hits {
				if hit.(object)["band"] == "sure" {
					sure++
				} else {
					perhaps++
				}
			}
			for threshold, want := range map[float64]int{0: sure + perhaps, 0.5: sure} {
				last, above := 1.0, 0
				for _, m := range w.find(object{"query": query, "score_threshold": threshold})["memories"].([]any) {
					score := m.(object)["score"].(float64)
					if score > last || score < threshold {
						t.Errorf("%s: %v follows %v, the threshold is %v", query, score, last, threshold)
					}
					if last = score; score >= 0.5 {
						above++
					}
					want--
				}
				same(t, []int{want, above}, []int{0, sure}, query, threshold)
			}
			if perhaps == 0 {
				t.Errorf("%s: all hits are sure", query)
			}
		}
	})
}

func TestTimesAreReadAsClientsWriteThem(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		w.put("viking://resources/x.md", "X-OpenViking-User: amy")
		find := func(field, value any) *answer {
			return w.ask("POST", "/api/v1/search/find", object{"query": "at first", field.(string): value})
		}
		today := time.Now().UTC().Format(time.DateOnly)
		for _, c := range []struct {
			field, value string
			total        float64
		}{
			{"since", "2h", 1},
			{"since", "7d", 1},
			{"since", "5 minutes ago", 1},
			{"until", "yesterday", 0},
			{"until", "today", 1},
			{"since", "1w", 1},
			{"since", "2020-01-01", 1},
			{"since", "2020-01-01T08:00:00", 1},
			{"since", "2020-01-01T08:00", 1},
			{"since", "2020-01-01 08:00:00.5", 1},
			{"since", "2020-01-01T08:00:00+02:00", 1},
			{"since", "2999-01-01", 0},
			{"until", "2h", 0},
			{"until", "2020-01-01", 0},
			{"until", today, 1},
		} {
			same[any](t, find(c.field, c.value).object()["total"], c.total, c.field, c.value)
		}
		for _, c := range []struct {
			field string
			value any
		}{{"since", "soon"}, {"until", "2020-13-01"}, {"since", 7}, {"until", "0001-01-01T00:00:00Z"}, {"since", "2h from now"}} {
			like(t, find(c.field, c.value).invalid(), beginning(c.field+": must be a "), c.field, c.value)
		}
		said := w.ask("POST", "/api/v1/search/find", object{"query": "x", "since": "2h", "until": "2d"}).invalid()
		same(t, said, "since: must be before until", "the wrong way round")
	})
}
