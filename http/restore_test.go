package http_test

import (
	"net/http"
	"strings"
	"testing"

	. "github.com/annals-kb/annals/http/servertest"
)

// In what is read live, in what is computed anew, and in what is read of the past.
func TestWhatWasSupersededAndForgottenComesBackAsItWas(t *testing.T) {
	EachWith(t, Rebuilding, func(t *testing.T, w *World) {
		w.FollowPast()
		w.Remember("old", "retry at once")                                                    // 1
		w.Remember("new", "retry with jitter")                                                // 2
		w.Ask("POST", "/v1/knowledge/old/supersede", Object{"by": "new"}).Want(http.StatusOK) // 3
		w.Ask("DELETE", "/v1/knowledge/old", nil).Want(http.StatusNoContent)                  // 4
		restored := w.Ask("POST", "/v1/knowledge/old/restore", Object{}).Want(http.StatusOK)  // 5
		superseded := func(when string, k Object) {
			t.Helper()
			Like(t, k, Object{"status": "superseded", "superseded_by": "new"}, when)
		}
		superseded("restored", restored.JSON())
		superseded("then", w.Ask("GET", "/v1/knowledge/old?as_of=5", nil).Want(http.StatusOK).JSON())
		Like(t, w.Ask("GET", "/v1/knowledge?status=superseded&as_of=5", nil).Want(http.StatusOK).Items(),
			[]any{Object{"superseded_by": "new"}})
		if last := w.Rebuild(""); last["state"] != "active" {
			t.Fatalf("rebuilt: %v", last)
		}
		superseded("rebuilt", w.Ask("GET", "/v1/knowledge/old", nil).Want(http.StatusOK).JSON())

		w.Ask("POST", "/v1/knowledge/old/restore", Object{}).Want(http.StatusOK)
		Like(t, w.Ask("GET", "/v1/knowledge/old", nil).Want(http.StatusOK).JSON(),
			Object{"status": "active", "superseded_by": nil}, "restored once more")
	})
}

// What is advised to whoever cannot restore an item, since its place is another's by now, is done here.
func TestWhoCannotRestoreAnItemIsToldWhatToDo(t *testing.T) {
	const place = "viking://resources/guide.md"
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		olga := w.Admin()
		admin, mia := Bearer(olga), w.GivenTo("user:mia", olga)
		lies := func(by Header, id, owner, scope string) {
			t.Helper()
			w.Ask("POST", "/v1/knowledge", Object{
				"id": id, "type": "strategy", "content": "what " + id + " says", "uri": place, "owner": owner, "scopes": []string{scope},
			}, by).Want(http.StatusCreated)
		}
		forget := func(by Header, id string) {
			t.Helper()
			w.Ask("DELETE", "/v1/knowledge/"+id, nil, by).Want(http.StatusNoContent)
		}
		moves := func(by Header, id string) {
			t.Helper()
			w.Ask("PATCH", "/v1/knowledge/"+id, Object{"uri": "viking://resources/" + id + ".md"}, by).Want(http.StatusOK)
		}
		restore := func(by Header, id string) *Answer { return w.Ask("POST", "/v1/knowledge/"+id+"/restore", nil, by) }
		refused := func(by Header, id, detail, fix string) {
			t.Helper()
			Like(t, restore(by, id).Want(http.StatusConflict).JSON(), Object{"detail": detail, "fix": fix})
		}

		lies(mia, "first", "user:mia", "user:mia")
		forget(mia, "first")
		lies(mia, "hers", "user:mia", "user:mia")
		const own = "give hers another uri, or forget it, and then restore first"
		refused(mia, "first", "the uri belongs to hers by now", own)
		refused(admin, "first", "the uri belongs to hers by now", own)
		moves(mia, "hers")
		restore(mia, "first").Want(http.StatusOK)

		forget(mia, "first")
		lies(mia, "brief", "user:mia", "user:mia")
		forget(mia, "brief")
		restore(mia, "first").Want(http.StatusOK)

		forget(mia, "first")
		lies(admin, "theirs", "team:pay", "public")
		refused(mia, "first", "the uri belongs to theirs by now",
			"ask team:pay, to whom theirs belongs, or an admin to give it another uri; or remember what the history of first has under another id")
		w.Ask("POST", "/v1/knowledge", Object{"id": "anew", "type": "strategy", "content": remembered(w, "first", mia)}, mia).Want(http.StatusCreated)
		moves(admin, "theirs")
		restore(mia, "first").Want(http.StatusOK)

		forget(mia, "first")
		lies(admin, "secret", "user:olga", "user:olga")
		refused(mia, "first", "the uri belongs to another item by now",
			"ask an admin to restore first, and to make room for it; or remember what the history of first has under another id")
		refused(admin, "first", "the uri belongs to secret by now", strings.ReplaceAll(own, "hers", "secret"))
		moves(admin, "secret")
		restore(admin, "first").Want(http.StatusOK)
	})
}

// remembered is what the history says of an item's content.
func remembered(w *World, id string, by Header) string {
	w.T.Helper()
	first := w.Ask("GET", "/v1/knowledge/"+id+"/history", nil, by).Want(http.StatusOK).Items()[0]
	return first["text"].(Object)["content"].(string)
}
