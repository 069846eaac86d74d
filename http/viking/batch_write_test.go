package viking_test

import (
	"strings"
	"testing"
)

func TestABatchWritesByTheModeOfEachOperation(t *testing.T) {
	onOne(t, open, func(t *testing.T, w *world) {
		const root = "viking://resources/notes"
		batch := func(operations ...object) *answer {
			return w.ask("POST", "/api/v1/content/batch-write", object{"root_uri": root, "operations": operations})
		}
		says := func(name, want string) {
			t.Helper()
			same[any](t, w.read(root+"/"+name), want, name)
		}
		one := func(mode, content string) object {
			return object{"uri": root + "/one.md", "content": content, "mode": mode}
		}
		another := object{"uri": root + "/another.md", "content": "another", "mode": "create"}
		batch(one("replace", "x")).missing()
		batch(one("append", "x")).missing()
		batch(one("create", "first")).object()
		for _, content := range []string{"over it", "first"} {
			batch(another, one("create", content)).taken()
		}
		w.ask("GET", at("/api/v1/content/read", root+"/another.md"), nil).missing()
		says("one.md", "first")
		batch(another, one("append", ", second")).object()
		says("one.md", "first, second")
		batch(one("replace", "third")).object()
		says("one.md", "third")

		for _, c := range []struct {
			operation object
			field     string
		}{
			{one("delete", "x"), "operations[1].mode"},
			{one("", strings.Repeat("x", 70<<10)), "operations[1].content"},
			{object{"uri": root + "/new.md", "content": strings.Repeat("x", 70<<10)}, "operations[1].content"},
			{object{"uri": root + "/one.md"}, "operations[1].content"},
			{object{"uri": "viking://resources/elsewhere.md", "content": "x"}, "operations[1].uri"},
			{object{"uri": "viking://tenants/default/resources/notes/fourth.md", "content": "x"}, "operations[1].uri: must be another than that of operations[0]"},
		} {
			said := batch(object{"uri": root + "/fourth.md", "content": "fourth"}, c.operation).invalid()
			like(t, said, beginning(c.field), c.operation)
		}
		w.ask("GET", at("/api/v1/content/read", root+"/fourth.md"), nil).missing()
	})
}
