package compare

import (
	"slices"
	"testing"
)

func FuzzLexemesAreThoseOfTheExpression(f *testing.F) {
	for _, s := range []string{
		"Don't deploy v1.2 on -5 °C, e.g. at 10:30... 部署 checkout-api-2 到/usr/bin，--all。", "K\u212a ſ\u00a0b",
		"a..b ./x ~/y 三-4 x-4 .5 $A\n!=",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := lexemesOf(s), lexeme().FindAllString(s, -1); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	})
}
