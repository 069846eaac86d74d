package terminal

import "testing"

func TestWhatOthersWroteCannotChangeTheOrderOfText(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"pay \u202e001 to mia": "pay <U+202E>001 to mia",
		"\u2066a\u2069\u200f":  "<U+2066>a<U+2069><U+200F>",
		"\x1b[31mred\x07":      "red",
		"שלום, 世界":             "שלום, 世界",
	} {
		if got := Printable(written); got != want {
			t.Errorf("%q is printed as %q, want %q", written, got, want)
		}
	}
}
