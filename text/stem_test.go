package text_test

import (
	"strings"
	"testing"

	"github.com/kljensen/snowball/english"

	"github.com/annals-kb/annals/text"
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

// Every root with every ending, against an implementation that is not ours.
func TestStemsAreThoseOfTheSecondEnglishStemmer(t *testing.T) {
	t.Parallel()
	roots := strings.Fields(`abil act adapt agre all anal appl argu bas beauti bl bodi bow box bright bus cari cart colon commun
		compar conduct conflat connect control cover cr cri dai decid defin deni dep depend die digit ebb edit elect elev enjoi
		ess exc fall feudal fil fizz flow form formal gener good grad hap hiss hop hous infer instruct journ just kni know lav
		log lov man mat mess mov nat oper opt pla plaster pli pl possib predic pro quick radic rat rel sens ski sky sol stat
		stor sub syll syst tan tr trav tri un us val vary viet vil wax wa wed yel yield y yy by ly ey o ou aa`)
	endings := strings.Fields(`s es ed ied ies eed eedly ing ingly edly y ly li ation ations ational tional ization izer ator alism
		aliti ality alli fulness ousness iveness biliti bility bli ably entli ently lessly fulli fully ogi ogy icate iciti ical ful
		ness ative alize al ance ence er ic able ible ant ement ment ent ism ate iti ity ous ive ize ion tion sion ss us sses e l
		le ll ell`)
	for _, root := range roots {
		for _, ending := range append(endings, "") {
			word := root + ending
			if word == "bled" || word == "was" { // irregular
				continue
			}
			if got, want := text.Stem(word), english.Stem(word, false); got != want {
				t.Errorf("Stem(%q) = %q, want %q", word, got, want)
			}
		}
	}
}

func FuzzStem(f *testing.F) {
	for _, word := range []string{"", "a", "ied", "yyy", "generational", "succeeding", "hopefulness", "bbed", strings.Repeat("ing", 30)} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		stem := text.Stem(word)
		if len(stem) > len(word)+1 {
			t.Errorf("Stem(%q) = %q is longer", word, stem)
		}
		if again := text.Stem(word); again != stem {
			t.Errorf("Stem(%q) = %q, then %q", word, stem, again)
		}
	})
}
