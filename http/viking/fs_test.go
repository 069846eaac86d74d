package viking_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// at is a path with a uri as its parameter, and others.
func at(path, uri string, others ...string) string {
	return path + "?" + strings.Join(append([]string{"uri=" + url.QueryEscape(uri)}, others...), "&")
}

// entries is a result that is a list of objects.
func (a *answer) entries() (all []object) {
	a.t.Helper()
	for _, e := range a.result().([]any) {
		all = append(all, e.(object))
	}
	return all
}

// column is one field of every entry.
func column(all []object, name string) (values []any) {
	for _, e := range all {
		values = append(values, e[name])
	}
	return values
}

func TestADirectoryIsListed(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		w.remember(object{"content": "# 第一章\n怎样安装。", "uri": "viking://resources/guide/第一章.md", "context_type": "resource", "abstract": "怎样安装"})
		w.remember(object{"content": "Two", "uri": "viking://resources/guide/b/two.md", "context_type": "resource"})
		w.remember(object{"content": "Hidden", "uri": "viking://resources/guide/.hidden.md", "context_type": "resource"})
		ls := func(uri string, others ...string) []object {
			return w.ask("GET", at("/api/v1/fs/ls", uri, others...), nil).entries()
		}
		got := ls("viking://resources", "output=original")
		like(t, got,
			[]any{object{
				"name": "guide", "size": 0.0, "mode": 493.0, "isDir": true, "uri": "viking://resources/guide",
				"modTime": ending("Z"), "meta": some{},
			}})
		got = ls("viking://resources/guide/")
		if !slices.Equal(column(got, "uri"), []any{"viking://resources/guide/b", "viking://resources/guide/第一章.md"}) || !slices.Equal(column(got, "isDir"), []any{true, false}) ||
			!slices.Equal(column(got, "abstract"), []any{"Two", "怎样安装"}) || got[1]["size"] != 27.0 {
			t.Errorf("listed %v", got)
		}
		same(t, len(ls("viking://resources/guide", "show_all_hidden=true")), 3)
		same(t, len(ls("viking://resources/guide", "node_limit=1")), 1)
		same(t, column(ls("viking://resources", "recursive=true"), "rel_path"),
			[]any{"guide", "guide/b", "guide/b/two.md", "guide/第一章.md"})
		same(t, w.simple("viking://resources"),
			[]any{"guide", "guide/b", "guide/b/two.md", "guide/第一章.md"})
		const shared = "viking://tenants/default/resources/guide"
		tree := w.ask("GET", at("/api/v1/fs/tree", "viking://tenants/default/resources/", "level_limit=2"), nil).entries()
		same(t, column(tree, "uri"),
			[]any{shared, shared + "/b", shared + "/第一章.md"}, tree)
		stat := w.ask("GET", at("/api/v1/fs/stat", "viking://resources/guide/第一章.md"), nil).object()
		like(t, stat, object{"name": "第一章.md", "isDir": false, "size": 27.0, "mode": 420.0})
		same(t, column(ls("viking://"), "uri"),
			[]any{"viking://agent", "viking://resources", "viking://session", "viking://user"})
		same(t, column(ls("viking://user/memories/"), "uri"), []any{
			"viking://user/default/memories/entities", "viking://user/default/memories/events", "viking://user/default/memories/preferences",
		})
		for _, path := range []string{"/api/v1/fs/ls", "/api/v1/fs/tree", "/api/v1/fs/stat"} {
			w.ask("GET", at(path, "viking://resources/nowhere"), nil).missing()
			w.ask("GET", at(path, "viking://tenants/other/resources"), nil).missing()
			w.ask("GET", path, nil).invalid()
			w.ask("GET", at(path, "viking://a/../b"), nil).forbidden()
		}
		w.ask("GET", at("/api/v1/fs/ls", "viking://resources", "node_limit=many"), nil).invalid()
		w.ask("GET", at("/api/v1/fs/ls", "viking://resources/guide/第一章.md"), nil).refused(http.StatusPreconditionFailed, "FAILED_PRECONDITION")
	})
}

func TestATreeIsChanged(t *testing.T) {
	onOne(t, open, func(t *testing.T, w *world) {
		mkdir := func(body object) object { return w.ask("POST", "/api/v1/fs/mkdir", body).object() }
		like(t, mkdir(object{"uri": "viking://resources/a/b/", "description": "关于支付的一切"}),
			object{"uri": "viking://resources/a/b"})
		mkdir(object{"uri": "viking://resources/a/b"})
		mkdir(object{"uri": "viking://resources/empty"})
		mkdir(object{"uri": "viking://resources"})
		same(t, w.ask("GET", at("/api/v1/content/abstract", "viking://resources/a/b"), nil).result(), "关于支付的一切")
		w.ask("GET", at("/api/v1/fs/stat", "viking://resources/empty"), nil).result()
		hit := w.find(object{"query": "支付", "target_uri": "viking://resources/a"})["resources"].([]any)
		like(t, hit, []any{object{"uri": "viking://resources/a/b/.abstract.md", "level": 0.0}})
		id := w.remember(object{"content": "x", "uri": "viking://resources/a/b/x.md", "context_type": "resource"})
		w.ask("POST", "/api/v1/fs/mkdir", object{"uri": "viking://resources/a/b/x.md"}).taken()
		w.ask("POST", "/api/v1/fs/mkdir", object{}).invalid()
		w.ask("POST", "/api/v1/fs/mkdir", object{"uri": "viking://somewhere/x"}).invalid()
		w.ask("POST", "/api/v1/fs/mkdir", object{"uri": "viking://tenants/other/resources/x"}).forbidden()

		mv := func(from, to string) *answer {
			return w.ask("POST", "/api/v1/fs/mv", object{"from_uri": from, "to_uri": to})
		}
		like(t, mv("viking://resources/a/b/x.md", "viking://resources/a/b/y.md").object(),
			object{"from": "viking://resources/a/b/x.md", "to": "viking://resources/a/b/y.md"})
		like(t, w.ask("GET", "/v1/knowledge/"+id, nil).want(http.StatusOK).json(),
			object{"uri": "viking://resources/a/b/y.md"}, "the item lies at")
		mv("viking://resources/a", "viking://resources/c/d").object()
		same(t, w.read("viking://resources/c/d/b/y.md"), "x")
		w.ask("GET", at("/api/v1/fs/ls", "viking://resources/a"), nil).missing()
		mv("viking://resources/a", "viking://resources/z").missing()
		mv("viking://resources/c", "viking://resources/c/x").invalid()
		same(t, mv("viking://resources/c", "viking://resources/empty").taken(),
			"something lies at viking://resources/empty already", "a place that is taken")

		rm := func(uri string, others ...string) *answer {
			return w.ask("DELETE", at("/api/v1/fs", uri, others...), nil)
		}
		rm("viking://resources/c").refused(http.StatusPreconditionFailed, "FAILED_PRECONDITION")
		like(t, rm("viking://resources/c/d/b/y.md").object(), object{"uri": "viking://resources/c/d/b/y.md"})
		rm("viking://resources/c/d/b/y.md").result() // gone already
		rm("viking://resources/empty").result()
		rm("viking://resources/c", "recursive=true").result()
		same(t, len(w.ask("GET", at("/api/v1/fs/ls", "viking://resources"), nil).entries()), 0)
		w.ask("GET", "/v1/knowledge/"+id, nil).want(http.StatusGone)
		w.ask("DELETE", "/api/v1/fs", nil).invalid()
		for _, everything := range []string{"viking://", "viking://user", "viking://agent", "viking://tenants/default"} {
			rm(everything, "recursive=true").invalid()
		}
	})
}

func TestSeveralMayMakeTheSame(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		w.ask("POST", "/api/v1/content/write", object{"uri": "viking://resources/diary/a.md", "content": "Day 0.", "mode": "create"}).result()
		var making sync.WaitGroup
		for range 8 {
			for path, body := range map[string]object{
				"fs/mkdir":       {"uri": "viking://resources/notes"},
				"skills":         {"data": object{"name": "deploy", "description": "Deploys", "content": "Build first"}},
				"relations/link": {"from_uri": "viking://resources/diary", "to_uris": "viking://resources/diary/a.md"},
			} {
				making.Go(func() {
					if made := w.ask("POST", "/api/v1/"+path, body); made.status != http.StatusOK {
						t.Errorf("%s: %d %s", path, made.status, made.body)
					}
				})
			}
		}
		making.Wait()
	})
}

func TestSeveralMayRemoveTheSame(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		for range 8 {
			for _, name := range []string{"a.md", "d/b.md", "d/c.md"} {
				w.ask("POST", "/api/v1/content/write", object{"uri": "viking://resources/" + name, "content": name, "mode": "create"}).result()
			}
			var removing sync.WaitGroup
			for range 8 {
				for _, name := range []string{"a.md", "d"} {
					removing.Go(func() {
						if removed := w.ask("DELETE", at("/api/v1/fs", "viking://resources/"+name, "recursive=true"), nil); removed.status != http.StatusOK {
							t.Errorf("%s: %d %s", name, removed.status, removed.body)
						}
					})
				}
			}
			removing.Wait()
		}
	})
}

func TestNothingThatIsAppendedIsLost(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		const uri = "viking://resources/diary.md"
		write := func(mode, content string, headers ...header) *answer {
			return w.ask("POST", "/api/v1/content/write", object{"uri": uri, "content": content, "mode": mode}, headers...)
		}
		for range 2 {
			write("create", "Day 0.", "Idempotency-Key: create").result()
		}
		write("create", "Day 0.").taken()
		var writing sync.WaitGroup
		for day := range 16 {
			writing.Go(func() {
				for range 2 {
					if written := write("append", fmt.Sprintf(" Day %d.", day+1), header(fmt.Sprint("Idempotency-Key: ", day))); written.status != http.StatusOK {
						t.Errorf("day %d: %d %s", day+1, written.status, written.body)
					}
				}
			})
		}
		writing.Wait()
		got := w.read(uri).(string)
		for day := range 17 {
			same(t, strings.Count(got, fmt.Sprintf("Day %d.", day)), 1, day, got)
		}
	})
}

func TestNoTagThatIsAppendedIsLost(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		const uri = "viking://resources/diary.md"
		w.ask("POST", "/api/v1/content/write", object{"uri": uri, "content": "Day 0.", "mode": "create"}).result()
		var tagging sync.WaitGroup
		for day := range 16 {
			tagging.Go(func() {
				tagged := w.ask("POST", "/api/v1/content/set_tags", object{"uri": uri, "tags": []string{fmt.Sprint("day=", day)}, "mode": "append"})
				if tagged.status != http.StatusOK {
					t.Errorf("day %d: %d %s", day, tagged.status, tagged.body)
				}
			})
		}
		tagging.Wait()
		item := w.itemAt(uri)
		like(t, item, object{"tags": object{"day": count(16)}})
	})
}

func TestContentIsReadAndWritten(t *testing.T) {
	onOne(t, open, func(t *testing.T, w *world) {
		write := func(body object) *answer { return w.ask("POST", "/api/v1/content/write", body) }
		const uri = "viking://user/memories/preferences/theme.md"
		write(object{"uri": uri, "content": "x"}).missing()
		got := write(object{"uri": uri, "content": "喜欢深色。\n第二行\nthird\n", "mode": "create"}).object()
		if got["uri"] != "viking://user/default/memories/preferences/theme.md" || got["context_type"] != "memory" || got["mode"] != "create" || got["written_bytes"] != 32.0 ||
			got["root_uri"] != "viking://user/default/memories/preferences" {
			t.Errorf("written %v", got)
		}
		same(t, write(object{"uri": uri, "content": "x", "mode": "create"}).taken(),
			"something lies at viking://user/default/memories/preferences/theme.md already", "a place that is taken")
		write(object{"uri": uri, "content": "fourth\n", "mode": "append"}).result()
		read := func(uri string, others ...string) any {
			return w.ask("GET", at("/api/v1/content/read", uri, others...), nil).result()
		}
		same(t, read(uri), "喜欢深色。\n第二行\nthird\nfourth\n")
		same(t, read(uri, "offset=1", "limit=2"), "第二行\nthird\n")
		same(t, read(uri, "offset=77"), "")
		item := w.itemAt("viking://user/default/")
		like(t, item, object{
			"category": "preferences", "type": "user_profile", "owner": "user:default", "scopes": []any{"user:default"},
		})
		write(object{"uri": "viking://agent/memories/tools/git.md", "content": "git needs a name.", "mode": "create"}).result()
		shared := w.itemAt("viking://agent/memories/tools/")
		like(t, shared, object{"category": "tools", "scopes": []any{"public"}}, "the item is")
		for path, want := range map[string]string{
			at("/api/v1/content/abstract", uri): "喜欢深色。", at("/api/v1/content/read", uri+"/.abstract.md"): "喜欢深色。",
			at("/api/v1/content/abstract", "viking://user/memories/preferences"):               "喜欢深色。",
			at("/api/v1/content/read", "viking://user/memories/preferences/.abstract.md"):      "喜欢深色。",
			at("/api/v1/content/overview", "viking://user/memories/preferences"):               "# preferences\n\n- theme.md: 喜欢深色。",
			at("/api/v1/resources/overview", "viking://user/memories/preferences"):             "# preferences\n\n- theme.md: 喜欢深色。",
			at("/api/v1/resources/read", "viking://agent/memories/tools/git.md"):               "git needs a name.",
			at("/api/v1/content/abstract", "viking://agent/memories/tools"):                    "git needs a name.",
			at("/api/v1/content/overview", "viking://user/memories/preferences/theme.md"):      "喜欢深色。",
			at("/api/v1/content/read", "viking://user/memories/preferences/.overview.md"):      "# preferences\n\n- theme.md: 喜欢深色。",
			at("/api/v1/content/read", "viking://tenants/default/agent/memories/.abstract.md"): "git needs a name.",
		} {
			like(t, w.ask("GET", path, nil).result(), beginning(want), path)
		}
		download := w.ask("GET", at("/api/v1/content/download", uri), nil).want(http.StatusOK)
		if download.header.Get("Content-Disposition") != "attachment; filename*=UTF-8''theme.md" || !strings.HasPrefix(string(download.body), "喜欢") || download.header.Get("X-Process-Time") == "" {
			t.Errorf("downloaded %v %s", download.header, download.body)
		}
		for _, path := range []string{"/api/v1/content/read", "/api/v1/content/abstract", "/api/v1/content/overview", "/api/v1/content/download"} {
			w.ask("GET", at(path, "viking://resources/nowhere"), nil).missing()
			w.ask("GET", path, nil).invalid()
		}
		w.ask("GET", at("/api/v1/content/read", "viking://user/memories"), nil).refused(http.StatusPreconditionFailed, "FAILED_PRECONDITION")
		for _, bad := range []object{
			{"uri": uri},
			{"uri": "", "content": "x"},
			{"uri": uri, "content": "x", "mode": "delete"},
			{"uri": "viking://resources", "content": "x", "mode": "create"},
		} {
			if a := write(bad); a.status != http.StatusBadRequest && a.status != http.StatusPreconditionFailed {
				t.Errorf("%.100v: %d %s", bad, a.status, a.body)
			}
		}
		write(object{"uri": "viking://tenants/other/resources/x.md", "content": "x", "mode": "create"}).forbidden()
	})
}

// What another user or another tenant has is answered exactly as what does not exist.
func TestNobodyLearnsWhatOthersHave(t *testing.T) {
	each(t, keyed, func(t *testing.T, w *world) {
		w.ask("POST", "/v1/tenants", object{"name": "acme"}, as(rootKey)).want(http.StatusCreated)
		key := func(subject string, headers ...header) header {
			return w.keyFor(object{"subject": subject}, headers...)
		}
		alice, bob, eve := key("user:alice"), key("user:bob"), key("user:alice", "Annals-Tenant: acme")
		const uri = "viking://user/alice/memories/events/secret.md"
		w.ask("POST", "/api/v1/content/write", object{"uri": uri, "content": "the canary sings", "mode": "create"}, alice).result()
		for _, other := range []header{bob, eve} {
			w.ask("GET", at("/api/v1/fs/ls", "viking://user", "recursive=true", "simple=true"), nil, other).result()
			like(t, string(w.ask("GET", at("/api/v1/fs/tree", "viking://"), nil, other).body), lacking("secret"))
		}
		same(t, column(w.ask("GET", at("/api/v1/fs/ls", "viking://user"), nil, bob).entries(), "uri"),
			[]any{"viking://user/bob"})
		same(t, w.read(uri, alice), "the canary sings")
		for _, uri := range []string{"viking://user/alice/x.md", "viking://agent/memories/tools/x.md"} {
			w.ask("POST", "/api/v1/content/write", object{"uri": uri, "content": "x", "mode": "create"}, bob).forbidden()
		}
		// Root works as the user default where no other is named.
		w.ask("POST", "/api/v1/content/write", object{"uri": "viking://user/memories/preferences/p.md", "content": "root's", "mode": "create"}, as(rootKey)).result()
		same(t, w.read("viking://user/default/memories/preferences/p.md", as(rootKey)),
			"root's")
	})
}

func TestTheServerSaysHowItDoes(t *testing.T) {
	onOne(t, open, func(t *testing.T, w *world) {
		like(t, w.ask("GET", "/ready", nil).want(http.StatusOK).json(),
			object{"status": "ready", "checks": object{"database": "ok"}})
		like(t, w.ask("GET", "/api/v1/debug/health", nil).object(), object{"healthy": true})
		w.learning()
		got := w.ask("POST", "/api/v1/system/wait", object{"timeout": 10}).object()
		like(t, got["Embedding"].(object), object{"error_count": 0.0, "errors": count(0)}, "waited for", got)
		w.ask("POST", "/api/v1/system/wait", object{"timeout": "long"}).invalid()
	})
}
