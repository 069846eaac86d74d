package projections_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections"
)

// helped gives an item one more voice and tells its confidence, as the answer to the vote, the table and
// a replay of the log say.
func (r *rebuilding) helped(id, trace string) [3]float64 {
	r.t.Helper()
	receipt := r.submit(r.helpful(id, trace))
	stored := must(r.base.Browser.Find(r.t.Context(), r.by.Tenant, id))(r.t)
	events := must(r.log.Reader.Stream(r.t.Context(), r.by.Tenant, domain.KnowledgeStream(id)))(r.t)
	history := must(domain.History(id, events, r.base.Policy()))(r.t)
	if got, want := history[len(history)-1].Policy, r.base.Policy().Name; got != want {
		r.t.Errorf("the history names the policy %q, want %q", got, want)
	}
	return [3]float64{receipt.Knowledge.Confidence, stored.Confidence, history[len(history)-1].Confidence}
}

func TestAnotherPolicyIsBuiltVerifiedAndGoneBackFrom(t *testing.T) {
	eachLived(t, func(t *testing.T, r *rebuilding) {
		said := func(trace string, policy domain.ConfidencePolicy, helpful int) {
			t.Helper()
			if got := r.base.Policy().Name; got != policy.Name {
				t.Errorf("got the policy %s, want %s", got, policy.Name)
			}
			want := policy.Confidence(helpful, 0, 0)
			if got := r.helped("item-1", trace); got != [3]float64{want, want, want} {
				t.Errorf("after a vote: got %v from the answer, the table and the log, want %v by %s", got, want, policy.Name)
			}
		}
		usual, cautious := domain.DefaultConfidence(), domain.CautiousConfidence()
		said("t2", usual, 2)

		last := r.runFor(domain.RebuildOrder{Confidence: cautious.Name})
		if last.State != "active" || !slices.Equal(last.Report.Intended, []string{"confidence", "expired_confidence"}) {
			t.Fatalf("version %d is %s: %s %+v", last.Version, last.State, last.Error, last.Report)
		}
		if got := last.Report; got.Differing != 2 || got.Unintended > 0 { // one voice is 0.5 either way
			t.Errorf("got %+v, want two items that differ as intended", got)
		}
		said("t3", cautious, 3)

		must(r.base.Versions.Rollback(t.Context()))(t)
		said("t4", usual, 4)
		must(r.base.Versions.Rollback(t.Context()))(t)
		said("t5", cautious, 5)

		// Whoever rebuilds without naming a policy keeps the one that was chosen.
		if last = r.run(); last.Settings["confidence"] != cautious.Name || last.Report.Differing > 0 {
			t.Errorf("rebuilt with %v and %+v", last.Settings, last.Report)
		}
		said("t6", cautious, 6)
		r.reopened(func(again *world) {
			if got, want := again.base.Policy().Confidence(5, 0, 0), cautious.Confidence(5, 0, 0); got != want {
				t.Errorf("a server that starts now gives %v, want %v", got, want)
			}
		})
	})
}

// With another policy, what else differs is as little intended as ever.
func TestAnotherPolicyExcusesNothingElse(t *testing.T) {
	eachLived(t, func(t *testing.T, r *rebuilding) {
		r.corrupt("UPDATE knowledge_1 SET helpful = 99 WHERE id = 'item-1'")
		last := r.runFor(domain.RebuildOrder{Confidence: "wilson/1"})
		if last.State != "failed" || last.Active != 1 || last.Report.Unintended != 1 {
			t.Errorf("version %d is %s with %+v, want the gate closed", last.Version, last.State, last.Report)
		}
	})
}

func TestAPolicyThatNobodyKnowsIsRefused(t *testing.T) {
	eachLived(t, func(t *testing.T, r *rebuilding) {
		_, err := r.Start(t.Context(), domain.RebuildOrder{Confidence: "gut feeling"})
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
			equal(t, r.byWords("payments"), want, "%s: words find (-got +want)", when)
		}
		finds("before the rebuild", stemmed...)
		r.at("verifying", func() { finds("while it is built", stemmed...) })
		last := r.run()
		r.at("verifying", nil)
		if last.State != "active" || !slices.Equal(last.Report.Intended, []string{"terms", "words"}) ||
			last.Report.Differing != 3 {
			t.Fatalf("version %d is %s: %s %+v", last.Version, last.State, last.Error, last.Report)
		}
		finds("rebuilt", exact...)

		// Both versions are written, each with the words of its own tokenizer, however they come.
		content := "no payments any more"
		r.remember("late", "one payments office", "team:pay")
		r.submit(domain.Revise{Target: domain.Target{By: r.by, ID: "singular"}, Changes: domain.Revised{Content: &content}})
		r.submit(domain.Delete{Target: domain.Target{By: r.by, ID: "plural"}})
		finds("written to", "late", "long", "singular")
		r.base.Indexer.MaxChanges = 0
		noError(t, r.base.Indexer.IndexWords(t.Context()))
		finds("compacted", "late", "long", "singular")
		must(r.base.Versions.Rollback(t.Context()))(t)
		r.remember("later", "a payment", "team:pay")
		finds("gone back", "late", "later", "long", "singular")
		must(r.base.Versions.Rollback(t.Context()))(t)
		finds("gone forward again", "late", "long", "singular")
		if last = r.run(); last.State != "active" || last.Report.Differing > 0 {
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
