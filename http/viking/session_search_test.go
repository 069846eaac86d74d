package viking_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"
)

func TestWhatWasSaidLastShapesASearch(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		w.remember(object{"id": "paris", "content": "Hotels in Paris are cheap in February", "uri": "viking://resources/paris.md", "context_type": "resource"})
		w.remember(object{"id": "hotel", "content": "Hotels want a passport", "uri": "viking://resources/hotels.md", "context_type": "resource"})
		w.remember(object{"id": "visa", "content": "A visa for Kenya takes three weeks", "uri": "viking://resources/visa.md", "context_type": "resource"})
		search := func(session string) object {
			return w.ask("POST", "/api/v1/search/search", object{"query": "hotels passport", "session_id": session, "limit": 3, "score_threshold": 0}).object()
		}
		w.ask("POST", sessionsPath, object{"session_id": "trip"}).result()
		before := search("trip")
		if _, planned := before["query_plan"]; planned || slices.Contains(found(before, "resources"), "viking://resources/visa.md") {
			t.Errorf("before anything was said: %v", before)
		}
		w.ask("POST", sessionsPath+"/trip/messages", object{"role": "user", "content": "I travel to Kenya and need a visa"}).result()
		w.ask("POST", sessionsPath+"/trip/messages", object{"role": "assistant", "content": "Paris, Paris"}).result()
		after := search("trip")
		uris := found(after, "resources")
		if len(uris) != 3 && !slices.Contains(uris, "viking://resources/visa.md") || uris[0] != "viking://resources/hotels.md" {
			t.Errorf("found %v", after)
		}
		queries := after["query_plan"].(object)["queries"].([]any)
		like(t, queries, []any{
			object{"query": "hotels passport"}, object{"query": "hotels passport\nI travel to Kenya and need a visa"},
		})
		weather := w.ask("POST", "/api/v1/search/search", object{"query": "weather on mars", "session_id": "trip"}).object()
		for _, m := range weather["resources"].([]any) {
			if m.(object)["score"].(float64) >= 0.1 {
				t.Errorf("what only the session is about scores: %v", m)
			}
		}
		mute := w.ask("POST", "/api/v1/search/search", object{"query": "and then?", "session_id": "trip", "limit": 1}).object()
		same(t, found(mute, "resources"), []string{"viking://resources/visa.md"}, "a question without a word of its own")
		if score := mute["resources"].([]any)[0].(object)["score"].(float64); score < 0.5 {
			t.Errorf("what the session is surely about scores %v", score)
		}
		like(t, search("nobody-knows"), object{"query_plan": nil}, "an unknown session shaped")
		w.ask("POST", "/api/v1/search/search", object{"query": "", "session_id": "trip"}).invalid()
	})
}

func TestAUserIsRegisteredOnceHoweverManyAskAtOnce(t *testing.T) {
	each(t, keyed, func(t *testing.T, w *world) {
		w.ask("POST", accounts, object{"account_id": "acme", "admin_user_id": "ada"}, as(rootKey)).result()
		answers := make([]*answer, 6)
		var asking sync.WaitGroup
		for i := range answers {
			asking.Go(func() { answers[i] = w.ask("POST", accounts+"/acme/users", object{"user_id": "bo"}, as(rootKey)) })
		}
		asking.Wait()
		made := 0
		for _, a := range answers {
			switch a.status {
			case http.StatusOK:
				made++
				w.ask("GET", "/api/v1/system/status", nil, a.key()).result()
			default:
				a.taken()
			}
		}
		same(t, made, 1)
		same(t, len(w.ask("GET", accounts+"/acme/users", nil, as(rootKey)).result().([]any)), 2)
	})
}
