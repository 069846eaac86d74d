package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// remark remembers what somebody says in a conversation.
func remark(w *World, id, session, speaker, content string) {
	w.T.Helper()
	w.Know(id, domain.Remembered{
		Class: domain.Class{Type: domain.Definition}, Owner: "team:pay", Scopes: []domain.Scope{"team:pay"},
		Source: domain.Source{SubmittedBy: speaker},
		Text:   domain.Text{Content: content, Tags: domain.Tags{"session": {session}}},
	})
}

func TestAnAnswerIsFoundBesideItsQuestionNowAndThen(t *testing.T) {
	EachPast(t, func(t *testing.T, w PastWorld) {
		search := func(s domain.Search) domain.Answer {
			t.Helper()
			s.By, s.Everyone = w.By, true
			s = Must(s.Complete())(t)
			if s.AsOf > 0 {
				return Must(w.Past.Search(t.Context(), s))(t)
			}
			return Must(w.Base.Searcher.Search(t.Context(), s))(t)
		}
		remark(w.World, "hello", "1", "Ada", "Good morning everybody.")
		remark(w.World, "question", "1", "Ada", "Which bank complained about our payout files?")
		remark(w.World, "answer", "1", "Ben", "Sparkasse, and they want them before noon.")
		remark(w.World, "other", "2", "Cem", "The canteen has soup today.")
		remark(w.World, "lunch", "2", "Ada", "I prefer the noodles over there.")
		w.Understand()
		w.ReadOn(500)
		asked := domain.Search{Text: "Which bank complained about the payout files?", Explain: true}
		for _, position := range []int64{0, w.Head()} {
			asked.AsOf = position
			found := search(asked).Hits
			i := slices.IndexFunc(found, func(f domain.Found) bool { return f.ID == "answer" })
			if i < 0 || i > 1 || found[i].Beside != "question" || found[i].Band != domain.Perhaps || !strings.Contains(strings.Join(found[i].Reasons, ", "), "from the item before it") {
				t.Errorf("as of %d: found %s", position, Listed(found))
			}
		}
		said := domain.Search{Text: "what does Cem say about the soup?"}
		if got := search(said).Hits; len(got) == 0 || got[0].ID != "other" {
			t.Errorf("of who is named: found %s", Listed(got))
		}
		unknown := domain.Search{Text: "how does the zeppelin navigate the archipelago?"}
		if answer := search(unknown); len(answer.Hits) > 0 || answer.Explain == nil {
			t.Errorf("of what nobody said: found %s, explained by %+v", Listed(answer.Hits), answer.Explain)
		}
	})
}

func TestFactsOfOneSessionSayNothingOfEachOther(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		for id, content := range map[string]string{
			"allergy": "Mia is allergic to peanuts.", "car": "She drives an old Volvo.", "cello": "On Tuesdays the orchestra meets.",
			"rent": "The rent went up in May.", "wrist": "A broken wrist heals in six weeks.",
		} {
			remark(w, id, "1", "", content)
		}
		w.Understand()
		s := Must(domain.Search{By: w.By, Everyone: true, Text: "what is Mia allergic to?"}.Complete())(t)
		if found := Must(w.Base.Searcher.Search(t.Context(), s))(t).Hits; len(found) != 1 || found[0].ID != "allergy" {
			t.Errorf("found %s", Listed(found))
		}
	})
}

func TestTheSecondOfTwoQuestionsIsAnsweredToo(t *testing.T) {
	EachPast(t, func(t *testing.T, w PastWorld) {
		for i := range 12 {
			remark(w.World, fmt.Sprintf("port-%d", i), "1", "", fmt.Sprintf("The public API of the billing service %d uses port %d in production.", i, 8000+i))
		}
		for i := range 30 {
			remark(w.World, fmt.Sprintf("building-%d", i), "2", "", fmt.Sprintf("The plants of building %d are green.", i))
		}
		remark(w.World, "plants", "2", "", "Joana waters the plants.")
		w.Understand()
		w.ReadOn(500)
		for _, position := range []int64{0, w.Head()} {
			s := domain.Search{By: w.By, Everyone: true, AsOf: position}
			s.Text = "Which port does the public API of the billing service use in production, and who waters the plants?"
			s = Must(s.Complete())(t)
			search := w.Base.Searcher.Search
			if position > 0 {
				search = w.Past.Search
			}
			found := Must(search(t.Context(), s))(t).Hits
			if !slices.ContainsFunc(found[:min(3, len(found))], func(f domain.Found) bool { return f.ID == "plants" }) {
				t.Errorf("as of %d: found %s", position, Listed(found))
			}
		}
	})
}
