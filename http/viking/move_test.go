package viking_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
)

// who makes a key for each of some users who may publish, and gives what they send.
func (w *world) who(publishes bool, users ...string) []header {
	w.t.Helper()
	keys := make([]header, len(users))
	for i, user := range users {
		keys[i] = w.keyFor(object{"subject": "user:" + user, "role": "member", "publish_public": publishes})
	}
	return keys
}

// put makes a file as somebody, and gives the id of the item.
func (w *world) put(uri string, by header) string {
	w.t.Helper()
	w.ask("POST", "/api/v1/content/write", object{"uri": uri, "content": "at first at " + uri, "mode": "create"}, by).object()
	return w.ask("GET", at("/api/v1/fs/stat", uri), nil, by).object()["meta"].(object)["id"].(string)
}

func (w *world) mv(from, to string, by header) *answer {
	w.t.Helper()
	return w.ask("POST", "/api/v1/fs/mv", object{"from_uri": from, "to_uri": to}, by)
}

// belongs compares whose an item is, and for whom.
func (w *world) belongs(id, owner string, by header, scopes ...any) {
	w.t.Helper()
	item := w.ask("GET", "/v1/knowledge/"+id, nil, by).want(http.StatusOK).json()
	same(w.t, []any{item["owner"], item["scopes"]}, []any{owner, scopes}, item["uri"])
}

func TestWhatIsMovedIsForThoseWhomThePlaceIsFor(t *testing.T) {
	each(t, keyed, func(t *testing.T, w *world) {
		keys := w.who(true, "amy", "ben")
		amy, ben := keys[0], keys[1]
		const public, private = "viking://resources/pub.md", "viking://user/amy/secret/pub.md"
		id := w.put(public, amy)
		reads := func(uri string, by header) int {
			return w.ask("GET", at("/api/v1/content/read", uri), nil, by).status
		}
		w.mv(public, private, amy).object()
		w.belongs(id, "user:amy", amy, "user:amy")
		same(t, reads(private, ben), http.StatusNotFound, "ben is answered")
		same(t, w.find(object{"query": "at first at"}, ben)["total"], 0.0)
		w.mv(private, public, amy).object()
		w.belongs(id, "user:amy", amy, "public")
		same(t, reads(public, ben), http.StatusOK, "ben is answered")
		w.put("viking://user/amy/notes/one.md", amy)
		w.mv("viking://user/amy/notes", "viking://resources/notes", amy).object()
		same(t, reads("viking://resources/notes/one.md", ben), http.StatusOK, "ben is answered")
		// Who moves what is somebody else's to their own space makes it their own; what becomes everybody's stays its author's.
		boss := w.keyFor(object{"subject": "user:boss", "role": "admin"})
		w.mv(public, "viking://user/boss/pub.md", boss).object()
		w.belongs(id, "user:boss", boss, "user:boss")
		plan := w.put("viking://user/amy/plan.md", amy)
		w.mv("viking://user/amy/plan.md", "viking://resources/plan.md", boss).object()
		w.belongs(plan, "user:amy", boss, "public")
		w.mv("viking://resources/notes/one.md", "viking://user/ben/one.md", amy).forbidden()
		// Within one space, and among what is everybody's, a move changes the place alone.
		shared := w.put("viking://user/ben/shared.md", ben)
		w.ask("PATCH", "/v1/knowledge/"+shared, object{"scopes": []string{"public"}}, ben).want(http.StatusOK)
		w.mv("viking://user/ben/shared.md", "viking://user/ben/deeper/shared.md", ben).object()
		w.belongs(shared, "user:ben", ben, "public")
	})
}

func TestWhoMayNotPublishMovesNothingToEverybody(t *testing.T) {
	each(t, keyed, func(_ *testing.T, w *world) {
		amy := w.who(false, "amy")[0]
		id := w.put("viking://user/amy/plan.md", amy)
		w.mv("viking://user/amy/plan.md", "viking://resources/plan.md", amy).forbidden()
		w.belongs(id, "user:amy", amy, "user:amy")
	})
}

func TestOfTwoWhoMoveTheSameOneDoes(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		const many = 6
		w.put("viking://resources/one.md", "X-OpenViking-User: amy")
		moved := 0
		var all sync.WaitGroup
		statuses := make([]int, many)
		for i := range many {
			all.Go(func() {
				statuses[i] = w.mv("viking://resources/one.md", fmt.Sprintf("viking://resources/%d.md", i), "X-OpenViking-User: amy").status
			})
		}
		all.Wait()
		for _, status := range statuses {
			switch status {
			case http.StatusOK:
				moved++
			case http.StatusNotFound:
			default:
				t.Errorf("answered %d", status)
			}
		}
		same(t, moved, 1)
	})
}

func TestAmongWhatIsOthersNothingIsChanged(t *testing.T) {
	each(t, keyed, func(t *testing.T, w *world) {
		keys := w.who(true, "amy", "ben")
		amy, ben := keys[0], keys[1]
		const mixed = "viking://resources/mixed"
		w.put(mixed+"/1.md", amy)
		w.put(mixed+"/2.md", ben)
		w.put(mixed+"/3.md", amy)
		private := w.put(mixed+"/4.md", ben)
		w.ask("PATCH", "/v1/knowledge/"+private, object{"scopes": []string{"user:ben"}}, ben).want(http.StatusOK)
		before := w.position()
		for what, a := range map[string]*answer{
			"moved":   w.mv(mixed, "viking://resources/elsewhere", amy),
			"removed": w.ask("DELETE", at("/api/v1/fs", mixed, "recursive=true"), nil, amy),
			"tagged":  w.ask("POST", "/api/v1/content/set_tags", object{"uri": mixed, "tags": []string{"a=b"}, "recursive": true}, amy),
		} {
			const want = "nothing was changed: 1 of the 3 items there belong to others: ask their owners or an admin, or name what is the caller's own"
			same(t, a.forbidden(), want, what)
		}
		same(t, w.position(), before)
		// What amy does not see stays out of it, and in nobody's way but at its very place.
		w.ask("DELETE", at("/api/v1/fs", mixed+"/2.md"), nil, ben).object()
		w.mv(mixed, "viking://resources/hers", amy).object()
		w.mv("viking://resources/hers", mixed, amy).object()
		w.put("viking://resources/other/1.md", amy)
		w.put("viking://resources/other/4.md", amy)
		w.ask("DELETE", at("/api/v1/fs", mixed, "recursive=true"), nil, amy).object()
		before = w.position()
		w.mv("viking://resources/other", mixed, amy).taken()
		same(t, w.mv("viking://resources/other", "viking://resources/other/", amy).invalid(),
			"to_uri: must be another place than from_uri", "the same place")
		same(t, w.position(), before)
	})
}
