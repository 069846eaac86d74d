package text_test

import (
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain/text"
)

func TestIrregularFormsAreWhatTheyComeFrom(t *testing.T) {
	t.Parallel()
	for form, base := range map[string]string{
		"went": "go", "gone": "go", "bought": "buying", "ran": "running", "children": "child", "wrote": "writes",
		"women": "woman", "is": "being", "thought": "thinks", "chosen": "choosing", "lives": "life", "feet": "foot",
	} {
		if got, want := text.Stem(form), text.Stem(base); got != want {
			t.Errorf("Stem(%q) = %q, Stem(%q) = %q", form, got, base, want)
		}
	}
}

func TestRegularFormsShareAStem(t *testing.T) {
	t.Parallel()
	for _, forms := range []string{
		"research researches researching researched", "migrate migration migrations migrating", "happy happiness",
		"hop hopped hopping hops", "hope hoped hoping hopes", "deploy deploys deployed deploying",
		"relational relation relations", "generously generous", "cry cries cried crying", "tie tied tying ties",
	} {
		words := strings.Fields(forms)
		for _, word := range words {
			if got, want := text.Stem(word), text.Stem(words[0]); got != want {
				t.Errorf("Stem(%q) = %q, Stem(%q) = %q", word, got, words[0], want)
			}
		}
	}
}
