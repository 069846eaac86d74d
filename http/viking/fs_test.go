package viking_test

import (
	"fmt"
	"net/http"
	"net/url"
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
