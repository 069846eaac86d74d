package text

import (
	"strings"
	"testing"
)

func TestTheWordsOfAQueryAreFoundAsASearchComparesThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, query, want string }{
		{"We deployed on Mondays.", "when do we deploy on monday", "We [deployed] on [Mondays]."},
		{"每周二上线，周五不上线", "上线", "每周二[上线]，周五不[上线]"},
		{"getUserByID is slow", "user", "[getUserByID] is slow"},
		{"Zürich", "zurich", "[Zürich]"},
		{"nothing", "", "nothing"},
		{"", "x", ""},
	} {
		var got, whole strings.Builder
		for _, part := range Find(c.text, c.query) {
			whole.WriteString(part.Text)
			if part.Op == Found {
				got.WriteString("[" + part.Text + "]")
			} else {
				got.WriteString(part.Text)
			}
		}
		if got.String() != c.want || whole.String() != c.text {
			t.Errorf("%q in %q: got %q, want %q", c.query, c.text, got.String(), c.want)
		}
	}
}
