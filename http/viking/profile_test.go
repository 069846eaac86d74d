package viking_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestAProfileIsOneFile(t *testing.T) {
	each(t, keyed, func(t *testing.T, w *world) {
		keys := w.who(true, "amy", "ben")
		amy, ben := keys[0], keys[1]
		const uri = "viking://~/memories/profile.md"
		const facts = "viking://user/amy/memories/profile"
		write := func(mode, content string) *answer {
			return w.ask("POST", "/api/v1/content/write", object{"uri": uri, "content": content, "mode": mode}, amy)
		}
		reads := func(want string) {
			t.Helper()
			same[any](t, w.read(uri, amy), want, "the profile says")
		}
		learns := func(id, fact string) {
			t.Helper()
			w.ask("POST", "/v1/knowledge", object{"category": "profile", "content": fact, "uri": facts + "/" + id + ".md"}, amy).want(http.StatusCreated)
		}
		w.ask("GET", at("/api/v1/content/read", uri), nil, amy).missing()
		learns("1", "Lives in Oslo.")
		learns("2", "Works on search.")
		reads("Lives in Oslo.\nWorks on search.\n")
		w.ask("GET", at("/api/v1/content/read", "viking://user/amy/memories/profile.md"), nil, ben).missing()
		like(t, w.ask("GET", at("/api/v1/fs/stat", uri), nil, amy).object(), object{"isDir": false, "size": 32.0})
		listed := func(recursive string) (count int) {
			for _, name := range w.ask("GET", at("/api/v1/fs/ls", "viking://~/memories", "simple=true", recursive), nil, amy).result().([]any) {
				if strings.HasSuffix(name.(string), "/memories/profile.md") {
					count++
				}
			}
			return count
		}
		same(t, listed("recursive=false"), 1, "it is not listed once")
		same(t, listed("recursive=true"), 1, "it is not listed once")
		write("create", "x").taken()
		write("append", "Likes tea.\n").object()
		reads("Lives in Oslo.\nWorks on search.\nLikes tea.\n")
		learns("3", "Has a cat.")
		reads("Lives in Oslo.\nWorks on search.\nLikes tea.\nHas a cat.\n")
		write("replace", "Lives in Bergen.").object()
		reads("Lives in Bergen.")
		same(t, listed("recursive=false"), 1, "it is not listed once")
		same(t, listed("recursive=true"), 1, "it is not listed once")
		id := w.ask("GET", at("/api/v1/fs/stat", uri), nil, amy).object()["meta"].(object)["id"].(string)
		w.belongs(id, "user:amy", amy, "user:amy")
		learns("4", "Has a dog.")
		same(t, w.ask("DELETE", at("/api/v1/fs", uri), nil, amy).object()["estimated_deleted_count"], 2.0)
		w.ask("GET", at("/api/v1/content/read", uri), nil, amy).missing()
		write("create", "Lives in Rome.").object()
		reads("Lives in Rome.")
	})
}
