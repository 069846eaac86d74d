package viking_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestALongTextIsWrittenInSections(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		const uri = "viking://~/notes/the long one.md"
		write := func(mode, content string) *answer {
			return w.ask("POST", "/api/v1/content/write", object{"uri": uri, "content": content, "mode": mode})
		}
		var b strings.Builder
		for i := range 40 {
			fmt.Fprintf(&b, "## Chapter %d\n\n%s\n", i, strings.Repeat(fmt.Sprintf("Chapter %d says that the gateway retries. ", i), 60))
		}
		long := b.String()
		write("create", long).object()
		w.reads(uri, long)
		if got := len(w.simple(uri)); got < 10 {
			t.Errorf("it has %d sections", got)
		}
		same(t, string(w.ask("GET", at("/api/v1/content/download", uri), nil).want(http.StatusOK).body), long)
		like(t, w.ask("GET", at("/api/v1/content/read", uri, "offset=2", "limit=1"), nil).result().(string),
			beginning("Chapter 0 says"))
		write("create", long).taken()
		write("append", "## The end\n").object()
		w.reads(uri, long+"## The end\n")
		write("replace", "short").object()
		w.reads(uri, "short")
		write("append", long).object()
		w.reads(uri, "short"+long)
		write("replace", long).object()
		w.reads(uri, long)
		like(t, w.find(object{"query": "Chapter 39 gateway", "target_uri": uri, "limit": 1}), object{"total": 1.0})
	})
}
