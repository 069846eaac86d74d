package compare_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain/text/compare"
)

// isFound reports whether the signatures of two items have as much in common as either asks for.
func isFound(a, b compare.Prepared) bool {
	s, other := a.Signature(), b.Signature()
	shared := 0
	for _, hash := range s.Hashes {
		if slices.Contains(other.Hashes, hash) {
			shared++
		}
	}
	return shared >= max(s.Least, other.Least)
}

func TestSignaturesFindWhatRulesRelate(t *testing.T) {
	pairs, related, lost := labelled(t), 0, 0
	for i := range pairs {
		for _, length := range []int{1, 3, 6, 9} { // statements of an item
			var a, b []string
			for n := range length {
				p := pairs[(i+37*n)%len(pairs)]
				a, b = append(a, p.TaskA, p.A), append(b, p.TaskB, p.B)
			}
			one := compare.Prepare(compare.Item{Content: strings.Join(a, "\n")})
			two := compare.Prepare(compare.Item{Content: strings.Join(b, "\n")})
			if v := one.With(two); v.Kind == compare.Unrelated && v.Rule != compare.Unsure {
				continue
			}
			if related++; !isFound(one, two) {
				lost++
				t.Logf("not found: %q and %q", a, b)
			}
		}
	}
	if t.Logf("%d of %d are lost", lost, related); related < 800 || lost > related/200 {
		t.Errorf("%d of %d are lost", lost, related)
	}
}
