package rebuild_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// helped gives an item one more voice and tells its confidence, as the answer to the vote, the table and
// a replay of the log say.
func helped(r *Rebuilding, id, trace string) [3]float64 {
	r.T.Helper()
	receipt := r.Submit(r.Helpful(id, trace))
	stored := Must(r.Base.Browser.Find(r.T.Context(), r.By.Tenant, id))(r.T)
	events := Must(r.Log.Reader.Stream(r.T.Context(), r.By.Tenant, domain.KnowledgeStream(id)))(r.T)
	history := Must(domain.History(id, events, r.Base.Policy()))(r.T)
	if got, want := history[len(history)-1].Policy, r.Base.Policy().Name; got != want {
		r.T.Errorf("the history names the policy %q, want %q", got, want)
	}
	return [3]float64{receipt.Knowledge.Confidence, stored.Confidence, history[len(history)-1].Confidence}
}

func TestAnotherPolicyIsBuiltVerifiedAndGoneBackFrom(t *testing.T) {
	EachLived(t, func(t *testing.T, r *Rebuilding) {
		said := func(trace string, policy domain.ConfidencePolicy, helpful int) {
			t.Helper()
			if got := r.Base.Policy().Name; got != policy.Name {
				t.Errorf("got the policy %s, want %s", got, policy.Name)
			}
			want := policy.Confidence(helpful, 0, 0)
			if got := helped(r, "item-1", trace); got != [3]float64{want, want, want} {
				t.Errorf("after a vote: got %v from the answer, the table and the log, want %v by %s", got, want, policy.Name)
			}
		}
		usual, cautious := domain.DefaultConfidence(), domain.CautiousConfidence()
		said("t2", usual, 2)

		last := r.RunFor(domain.RebuildOrder{Confidence: cautious.Name})
		if last.State != "active" || !slices.Equal(last.Report.Intended, []string{"confidence", "expired_confidence"}) {
			t.Fatalf("version %d is %s: %s %+v", last.Version, last.State, last.Error, last.Report)
		}
		if got := last.Report; got.Differing != 2 || got.Unintended > 0 { // one voice is 0.5 either way
			t.Errorf("got %+v, want two items that differ as intended", got)
		}
		said("t3", cautious, 3)

		Must(r.Base.Versions.Rollback(t.Context()))(t)
		said("t4", usual, 4)
		Must(r.Base.Versions.Rollback(t.Context()))(t)
		said("t5", cautious, 5)

		// Whoever rebuilds without naming a policy keeps the one that was chosen.
		if last = r.Run(); last.Settings["confidence"] != cautious.Name || last.Report.Differing > 0 {
			t.Errorf("rebuilt with %v and %+v", last.Settings, last.Report)
		}
		said("t6", cautious, 6)
		r.Reopened(func(again *World) {
			if got, want := again.Base.Policy().Confidence(5, 0, 0), cautious.Confidence(5, 0, 0); got != want {
				t.Errorf("a server that starts now gives %v, want %v", got, want)
			}
		})
	})
}

// With another policy, what else differs is as little intended as ever.
func TestAnotherPolicyExcusesNothingElse(t *testing.T) {
	EachLived(t, func(t *testing.T, r *Rebuilding) {
		r.Corrupt("UPDATE knowledge_1 SET helpful = 99 WHERE id = 'item-1'")
		last := r.RunFor(domain.RebuildOrder{Confidence: "wilson/1"})
		if last.State != "failed" || last.Active != 1 || last.Report.Unintended != 1 {
			t.Errorf("version %d is %s with %+v, want the gate closed", last.Version, last.State, last.Report)
		}
	})
}

func TestAPolicyThatNobodyKnowsIsRefused(t *testing.T) {
	EachLived(t, func(t *testing.T, r *Rebuilding) {
		_, err := r.Rebuilder.Start(t.Context(), domain.RebuildOrder{Confidence: "gut feeling"})
		if invalid, ok := errors.AsType[*domain.Invalid](err); !ok || invalid.Problems[0].Field != "confidence" {
			t.Errorf("got %v, want the field named", err)
		}
	})
}

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
func byWords(w *World, question string) []string {
	w.T.Helper()
	var found []string
	for _, hit := range w.Search(domain.Search{Text: question, MinScore: new(float64)}).Hits {
		if hit.Lexical > 0 {
			found = append(found, hit.ID)
		}
	}
	slices.Sort(found)
	return found
}

func TestAnotherTokenizerIsBuiltVerifiedAndGoneBackFrom(t *testing.T) {
	EachRebuilding(t, func(t *testing.T, before *Rebuilding) {
		before.Remember("plural", "Retries of payments", "team:pay")
		before.Remember("singular", "Retry a payment", "team:pay")
		before.Remember("long", strings.Repeat("payments and more payments: "+strings.Join(manyWords(300), " ")+" ",
			2), "team:pay")

		// The release after has another tokenizer, and still knows the one before.
		r := NewRebuilding(t, before.DB, projections.Settings{Tokenizers: append([]text.Tokenizer{verbatim()},
			text.Tokenizers()...)})
		stemmed, exact := []string{"long", "plural", "singular"}, []string{"long", "plural"}
		finds := func(when string, want ...string) {
			t.Helper()
			Equal(t, byWords(r.World, "payments"), want, "%s: words find (-got +want)", when)
		}
		finds("before the rebuild", stemmed...)
		r.At("verifying", func() { finds("while it is built", stemmed...) })
		last := r.Run()
		r.At("verifying", nil)
		if last.State != "active" || !slices.Equal(last.Report.Intended, []string{"terms", "words"}) ||
			last.Report.Differing != 3 {
			t.Fatalf("version %d is %s: %s %+v", last.Version, last.State, last.Error, last.Report)
		}
		finds("rebuilt", exact...)

		// Both versions are written, each with the words of its own tokenizer, however they come.
		content := "no payments any more"
		r.Remember("late", "one payments office", "team:pay")
		r.Submit(domain.Revise{Target: domain.Target{By: r.By, ID: "singular"}, Changes: domain.Revised{Content: &content}})
		r.Submit(domain.Delete{Target: domain.Target{By: r.By, ID: "plural"}})
		finds("written to", "late", "long", "singular")
		r.Base.Indexer.MaxChanges = 0
		NoError(t, r.Base.Indexer.IndexWords(t.Context()))
		finds("compacted", "late", "long", "singular")
		Must(r.Base.Versions.Rollback(t.Context()))(t)
		r.Remember("later", "a payment", "team:pay")
		finds("gone back", "late", "later", "long", "singular")
		Must(r.Base.Versions.Rollback(t.Context()))(t)
		finds("gone forward again", "late", "long", "singular")
		if last = r.Run(); last.State != "active" || last.Report.Differing > 0 {
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
