package serve_test

import (
	"testing"

	"github.com/annals-kb/annals/http/serve"
)

func TestOnlyAStrongTagOfOursNamesARevision(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]int64{`"3"`: 3, `W/"3"`: 0, `"03"`: 0, `"-3"`: 0, `"0"`: 0, `"abc"`: 0, `"+3"`: 0} {
		got, ok := serve.Strong(tag)
		if ok != (want != 0) || ok && got != want {
			t.Errorf("%s: %d, %t", tag, got, ok)
		}
	}
}

func TestEntityTagsAreQuoted(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]int{`"1"`: 1, `W/"1", "2"`: 2, `1`: 0, `"1" "2"`: 0, `"1",`: 0, `W/1`: 0, `"`: 0} {
		list, ok := serve.TagsIn(header)
		if ok != (want > 0) || len(list) != want {
			t.Errorf("%s: %q, %t", header, list, ok)
		}
	}
}
