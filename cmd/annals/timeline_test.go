package main

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestAChangeIsCutAroundWhatDiffers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, after, want string }{
		{"Retry 429s with jitter, at most three times", "Retry 429s with jitter, at most five times", "…most three tim… → …most five times"},
		{"重试要有抖动，而且最多三次，不能再多", "重试要有抖动，而且最多五次，不能再多", "…最多三次，不能… → …最多五次，不能…"},
		{"tabs", "spaces", "tabs → spaces"},
		{"Retry at once, as often as you like", "Wait a moment and only then retry", "Retry at once, … → Wait a moment a…"},
	} {
		line := change{Field: "content", Before: []byte(`"` + c.before + `"`), After: []byte(`"` + c.after + `"`)}.line(7, 44)
		if got := strings.TrimPrefix(ansi.Strip(line), "content  "); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
