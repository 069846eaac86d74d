package projections_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain"
)

// remark remembers what somebody says in a conversation.
func (w *world) remark(id, session, speaker, content string) {
	w.t.Helper()
	w.know(id, domain.Remembered{
		Class: domain.Class{Type: domain.Definition}, Owner: "team:pay", Scopes: []domain.Scope{"team:pay"},
		Source: domain.Source{SubmittedBy: speaker},
		Text:   domain.Text{Content: content, Tags: domain.Tags{"session": {session}}},
	})
}

func TestAnAnswerIsFoundBesideItsQuestionNowAndThen(t *testing.T) {
	eachPast(t, func(t *testing.T, w pastWorld) {
		search := func(s domain.Search) domain.Answer {
			t.Helper()
			s.By, s.Everyone = w.by, true
			s = must(s.Complete())(t)
			if s.AsOf > 0 {
				return must(w.past.Search(t.Context(), s))(t)
			}
			return must(w.base.Searcher.Search(t.Context(), s))(t)
		}
		w.remark("hello", "1", "Ada", "Good morning everybody.")
		w.remark("question", "1", "Ada", "Which bank complained about our payout files?")
		w.remark("answer", "1", "Ben", "Sparkasse, and they want them before noon.")
		w.remark("other", "2", "Cem", "The canteen has soup today.")
		w.remark("lunch", "2", "Ada", "I prefer the noodles over there.")
		w.understand()
		w.readOn(500)
		asked := domain.Search{Text: "Which bank complained about the payout files?", Explain: true}
		for _, position := range []int64{0, w.head()} {
			asked.AsOf = position
			found := search(asked).Hits
			i := slices.IndexFunc(found, func(f domain.Found) bool { return f.ID == "answer" })
			if i < 0 || i > 1 || !strings.Contains(strings.Join(found[i].Reasons, ", "), "from the item before it") {
				t.Errorf("as of %d: found %s", position, listed(found))
			}
		}
		said := domain.Search{Text: "what does Cem say about the soup?"}
		if got := search(said).Hits; len(got) == 0 || got[0].ID != "other" {
			t.Errorf("of who is named: found %s", listed(got))
		}
		unknown := domain.Search{Text: "how does the zeppelin navigate the archipelago?"}
		if answer := search(unknown); len(answer.Hits) > 0 || answer.Explain == nil {
			t.Errorf("of what nobody said: found %s, explained by %+v", listed(answer.Hits), answer.Explain)
		}
	})
}
