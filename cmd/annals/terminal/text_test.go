package terminal

import (
	"testing"

	"github.com/annals-kb/annals/http/servertest"
)

func TestWhatOthersWroteCannotChangeTheOrderOfText(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"pay \u202e001 to mia": "pay <U+202E>001 to mia",
		"\u2066a\u2069\u200f":  "<U+2066>a<U+2069><U+200F>",
		"\x1b[31mred\x07":      "red",
		"שלום, 世界":             "שלום, 世界",
	} {
		servertest.Same(t, Printable(written), want, written)
	}
}
