package markdown

import (
	"strings"
	"testing"
)

func FuzzPartsAreShortAndHaveEveryLink(f *testing.F) {
	for _, seed := range []string{
		"# A\n\n[[b]] `c`\n## D\n* e\n* f [g](h.md)\n", "a\n===\n\n~~~\n# b\n", "#\n\n# \n<!-- x", "> # a\n\n1. b\n   # c\n", "[[一|二]] #三",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		source = strings.ToValidUTF8(source, "")
		p := parse(source)
		for _, l := range p.links() {
			if l.from >= l.to || l.to > len(source) || strings.Contains(source[l.from:l.to], "\n") {
				t.Errorf("%q: %+v", source, l)
			}
		}
		const most = 8
		for _, one := range split(part{text: source}, most) {
			if len(one.text) > most {
				t.Errorf("%q has a part %q", source, one.text)
			}
		}
		titled(source)
		sections(source)
		p.hashTags(p.links())
	})
}
