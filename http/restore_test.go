package http_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// In what is read live, in what is computed anew, and in what is read of the past.
func TestWhatWasSupersededAndForgottenComesBackAsItWas(t *testing.T) {
	eachRebuilder(t, func(t *testing.T, w *world) {
		w.followPast()
		w.remember("old", "retry at once")                                                    // 1
		w.remember("new", "retry with jitter")                                                // 2
		w.ask("POST", "/v1/knowledge/old/supersede", object{"by": "new"}).want(http.StatusOK) // 3
		w.ask("DELETE", "/v1/knowledge/old", nil).want(http.StatusNoContent)                  // 4
		restored := w.ask("POST", "/v1/knowledge/old/restore", object{}).want(http.StatusOK)  // 5
		superseded := func(when string, k object) {
			t.Helper()
			like(t, k, object{"status": "superseded", "superseded_by": "new"}, when)
		}
		superseded("restored", restored.json())
		superseded("then", w.ask("GET", "/v1/knowledge/old?as_of=5", nil).want(http.StatusOK).json())
		like(t, w.ask("GET", "/v1/knowledge?status=superseded&as_of=5", nil).want(http.StatusOK).items(),
			[]any{object{"superseded_by": "new"}})
		w.ask("POST", rebuildPath, nil).want(http.StatusAccepted)
		if last := w.rebuilt(); last["state"] != "active" {
			t.Fatalf("rebuilt: %v", last)
		}
		superseded("rebuilt", w.ask("GET", "/v1/knowledge/old", nil).want(http.StatusOK).json())

		w.ask("POST", "/v1/knowledge/old/restore", object{}).want(http.StatusOK)
		like(t, w.ask("GET", "/v1/knowledge/old", nil).want(http.StatusOK).json(),
			object{"status": "active", "superseded_by": nil}, "restored once more")
	})
}

// What is advised to whoever cannot restore an item, since its place is another's by now, is done here.
func TestWhoCannotRestoreAnItemIsToldWhatToDo(t *testing.T) {
	const place = "viking://resources/guide.md"
	eachKeyed(t, func(t *testing.T, w *world, _ *time.Duration) {
		olga := w.given("", object{"subject": "user:olga", "role": "admin"})
		admin, mia := bearer(olga), bearer(w.given(olga, object{"subject": "user:mia"}))
		lies := func(by header, id, owner, scope string) {
			t.Helper()
			w.ask("POST", "/v1/knowledge", object{
				"id": id, "type": "strategy", "content": "what " + id + " says", "uri": place, "owner": owner, "scopes": []string{scope},
			}, by).want(http.StatusCreated)
		}
		forget := func(by header, id string) {
			t.Helper()
			w.ask("DELETE", "/v1/knowledge/"+id, nil, by).want(http.StatusNoContent)
		}
		moves := func(by header, id string) {
			t.Helper()
			w.ask("PATCH", "/v1/knowledge/"+id, object{"uri": "viking://resources/" + id + ".md"}, by).want(http.StatusOK)
		}
		restore := func(by header, id string) *answer { return w.ask("POST", "/v1/knowledge/"+id+"/restore", nil, by) }
		refused := func(by header, id, detail, fix string) {
			t.Helper()
			like(t, restore(by, id).want(http.StatusConflict).json(), object{"detail": detail, "fix": fix})
		}

		lies(mia, "first", "user:mia", "user:mia")
		forget(mia, "first")
		lies(mia, "hers", "user:mia", "user:mia")
		const own = "give hers another uri, or forget it, and then restore first"
		refused(mia, "first", "the uri belongs to hers by now", own)
		refused(admin, "first", "the uri belongs to hers by now", own)
		moves(mia, "hers")
		restore(mia, "first").want(http.StatusOK)

		forget(mia, "first")
		lies(mia, "brief", "user:mia", "user:mia")
		forget(mia, "brief")
		restore(mia, "first").want(http.StatusOK)

		forget(mia, "first")
		lies(admin, "theirs", "team:pay", "public")
		refused(mia, "first", "the uri belongs to theirs by now",
			"ask team:pay, to whom theirs belongs, or an admin to give it another uri; or remember what the history of first has under another id")
		w.ask("POST", "/v1/knowledge", object{"id": "anew", "type": "strategy", "content": remembered(w, "first", mia)}, mia).want(http.StatusCreated)
		moves(admin, "theirs")
		restore(mia, "first").want(http.StatusOK)

		forget(mia, "first")
		lies(admin, "secret", "user:olga", "user:olga")
		refused(mia, "first", "the uri belongs to another item by now",
			"ask an admin to restore first, and to make room for it; or remember what the history of first has under another id")
		refused(admin, "first", "the uri belongs to secret by now", strings.ReplaceAll(own, "hers", "secret"))
		moves(admin, "secret")
		restore(admin, "first").want(http.StatusOK)
	})
}

// remembered is what the history says of an item's content.
func remembered(w *world, id string, by header) string {
	w.t.Helper()
	first := w.ask("GET", "/v1/knowledge/"+id+"/history", nil, by).want(http.StatusOK).items()[0]
	return first["text"].(object)["content"].(string)
}
