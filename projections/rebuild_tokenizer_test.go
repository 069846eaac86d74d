package projections_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/text"
)

// verbatim is a tokenizer of another release: words as they are written, and nothing else.
func verbatim() text.Tokenizer {
	return text.Tokenizer{
		Version: "verbatim",
		Cut: func(s string) ([]string, int) {
			words := strings.Fields(s)
			return words, len(words)
		},
		Query: func(s string) (terms []text.QueryTerm) {
			for word := range strings.FieldsSeq(s) {
				terms = append(terms, text.QueryTerm{Term: word})
			}
			return terms
		},
	}
}

// byWords are the items that words find, whatever meaning may say.
func (w *world) byWords(question string) []string {
	w.t.Helper()
	var found []string
	for _, hit := range w.search(domain.Search{Text: question, MinScore: new(float64)}).Hits {
		if hit.Lexical > 0 {
			found = append(found, hit.ID)
		}
	}
	slices.Sort(found)
	return found
}

func TestAnotherTokenizerIsBuiltVerifiedAndGoneBackFrom(t *testing.T) {
	eachRebuilding(t, func(t *testing.T, before *rebuilding) {
		before.remember("plural", "Retries of payments", "team:pay")
		before.remember("singular", "Retry a payment", "team:pay")
		before.remember("long", strings.Repeat("payments and more payments: "+strings.Join(manyWords(300), " ")+" ",
			2), "team:pay")

		// The release after has another tokenizer, and still knows the one before.
		r := newRebuilding(t, before.db, projections.Settings{Tokenizers: append([]text.Tokenizer{verbatim()},
			text.Tokenizers()...)})
		stemmed, exact := []string{"long", "plural", "singular"}, []string{"long", "plural"}
		finds := func(when string, want ...string) {
			t.Helper()
			if got := r.byWords("payments"); !slices.Equal(got, want) {
				t.Errorf("%s: words find %v, want %v", when, got, want)
			}
		}
		finds("before the rebuild", stemmed...)
		r.at("verifying", func() { finds("while it is built", stemmed...) })
		last := r.run()
		r.at("verifying", nil)
		if last.State != "active" || !slices.Equal(last.Report.Intended, []string{"terms", "words"}) ||
			last.Report.Changed["terms"] != 3 {
			t.Fatalf("version %d is %s: %s %+v", last.Version, last.State, last.Error, last.Report)
		}
		finds("rebuilt", exact...)

		// Both versions are written, each with the words of its own tokenizer, however they come.
		content := "no payments any more"
		r.remember("late", "one payments office", "team:pay")
		r.submit(domain.Revise{Target: domain.Target{By: r.by, ID: "singular"}, Changes: domain.Revised{Content: &content}})
		r.submit(domain.Delete{Target: domain.Target{By: r.by, ID: "plural"}})
		finds("written to", "late", "long", "singular")
		r.base.PackedRows, r.base.BatchRows = 0, 10
		for more := true; more; {
			var err error
			if more, err = r.base.Compact(t.Context(), r.log.Log); err != nil {
				t.Fatal(err)
			}
		}
		finds("compacted", "late", "long", "singular")
		must(r.base.Rollback(t.Context()))(t)
		r.remember("later", "a payment", "team:pay")
		finds("gone back", "late", "later", "long", "singular")
		must(r.base.Rollback(t.Context()))(t)
		finds("gone forward again", "late", "long", "singular")
		if last = r.run(); last.State != "active" || len(last.Report.Changed) > 0 {
			t.Errorf("rebuilt once more, version %d is %s with %+v", last.Version, last.State, last.Report)
		}
	})
}

func manyWords(n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = "word" + strings.Repeat("x", i%17) + string(rune('a'+i%26)) + string(rune('a'+i/26))
	}
	return words
}
