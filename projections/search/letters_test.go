package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/search"
)

// ask gives the answer that users get, copies as one hit.
func ask(t *testing.T, w *World, question string) domain.Answer {
	t.Helper()
	s := Must(domain.Search{By: w.By, Text: question, Everyone: true}.Complete())(t)
	return Must(w.Base.Searcher.Search(t.Context(), s))(t)
}

func found(a domain.Answer) (ids []string) {
	for _, hit := range a.Hits {
		ids = append(ids, hit.ID)
	}
	return ids
}

func TestMarksOfLettersDoNotMatter(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		for id, content := range map[string]string{
			"city":   "The Zürich office has twelve desks by the window.",
			"sent":   "Every candidate sends a résumé before the call.",
			"again":  "Every worker must resume a job before the call.",
			"street": "Deliveries go to the Straße behind the mill.",
			"length": "Layers are measured in Ångström by the lab.",
			"people": "González and Łukasz met Søren in Malmö.",
			"tree":   "Зелёная ёлка стоит во дворе.",
			"other":  "The lift is out of order until Friday.",
		} {
			w.Remember(id, content, "team:pay")
			w.Remember(id+"-apart", norm.NFD.String(content)+" Noted.", "team:pay")
		}
		w.Understand()
		for question, want := range map[string]string{
			"zurich": "city", "Zürich": "city", "ZÜRICH": "city", "resume": "again", "résumé": "sent", "strasse": "street",
			"STRASSE": "street", "angstrom": "length", "Gonzalez": "people", "lukasz": "people", "soren": "people",
			"malmo": "people", "елка": "tree",
		} {
			for _, question := range []string{question, norm.NFD.String(question)} {
				got := found(ask(t, w, question))
				if len(got) < 2 || got[0] != want && got[0] != want+"-apart" || !slices.Contains(got, want) ||
					!slices.Contains(got, want+"-apart") {
					t.Errorf("%q found %v, want %s in both forms first", question, got, want)
				}
			}
		}
	})
}

func TestTheItemThatTheQuestionNamesByItsIDIsFirst(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("deploy-window", "We ship on Tuesdays between nine and noon.", "team:web")
		w.Remember("garage", "It holds two cars.", "team:web")
		w.Remember("0198c2d4-e5f6-7abc-8def-0123456789ab", "The lift is out of order.", "team:web")
		for i := range 120 {
			w.Remember(fmt.Sprint("other-", i), "The deploy window of the garage closes at four.", "team:pay")
		}
		w.Understand()
		for question, want := range map[string]string{
			"deploy-window": "deploy-window", "`deploy-window`": "deploy-window", "garage": "garage",
			"0198c2d4-e5f6-7abc-8def-0123456789ab": "0198c2d4-e5f6-7abc-8def-0123456789ab",
		} {
			for _, explain := range []bool{false, true} {
				s := domain.Search{By: w.By, Text: question, Everyone: true, Explain: explain}
				answer := Must(w.Base.Searcher.Search(t.Context(), Must(s.Complete())(t)))(t)
				if got := found(answer); len(got) == 0 || got[0] != want || answer.Weak() {
					t.Errorf("%q found %v, want %s first and sure", question, got, want)
				}
			}
		}
		within := domain.Search{Text: "what does deploy-window say?", MinScore: new(0.1)}
		if got := w.Find(within); len(got) == 0 || got[0] != "deploy-window" {
			t.Errorf("within a question, the id found %v", got)
		}
		s := domain.Search{By: As("user:bob", "team:pay"), Text: "deploy-window"}
		hidden := Must(w.Base.Searcher.Search(t.Context(), Must(s.Complete())(t)))(t)
		if got := found(hidden); slices.Contains(got, "deploy-window") {
			t.Errorf("who may not see the item found %v", got)
		}
	})
}

func TestASearchObeysQuotesAndExclusions(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("permit", "The rear extension needs a permit; the garage does not.", "team:pay")
		w.Remember("cost", "An extension at the rear of the house costs 40,000 francs.", "team:pay")
		w.Remember("done", "The RÉAR  extension was finished in May.", "team:pay")
		w.Remember("garages", "Garages need no extension.", "team:pay")
		for i := range 150 {
			w.Remember(fmt.Sprint("rear-", i), fmt.Sprint("An extension is behind the rear, says note ", i), "team:pay")
		}
		w.Understand()
		for _, c := range []struct {
			question      string
			all, none     []string
			size, warning string
		}{
			{question: `"rear extension"`, all: []string{"permit", "done"}, size: "2"},
			{question: `"rear extension" -garage`, all: []string{"done"}, size: "1", warning: "garage"},
			{question: "extension permit NOT garage", none: []string{"permit", "garages"}, warning: "garage"},
			{question: `extension permit -"rear extension"`, none: []string{"permit", "done"}, warning: "rear extension"},
			{question: `"extension rear" permit`, all: []string{"permit"}, warning: "extension rear"},
			{question: "-garages", all: []string{"garages", "permit"}, warning: "words"},
			{question: "exten*", warning: "pattern"},
		} {
			for _, copies := range []bool{false, true} {
				s := Must(domain.Search{By: w.By, Text: c.question, Everyone: true, Copies: copies, Limit: 100}.Complete())(t)
				answer := Must(w.Base.Searcher.Search(t.Context(), s))(t)
				got := found(answer)
				if c.size != "" && c.size != fmt.Sprint(len(got)) || !strings.Contains(answer.Warning, c.warning) ||
					(c.warning == "") != (answer.Warning == "") {
					t.Errorf("%s: got %v with the warning %q", c.question, got, answer.Warning)
				}
				for _, id := range c.all {
					if !slices.Contains(got, id) {
						t.Errorf("%s misses %s: got %v", c.question, id, got)
					}
				}
				for _, id := range c.none {
					if slices.Contains(got, id) {
						t.Errorf("%s leaves out %s: got %v", c.question, id, got)
					}
				}
			}
		}
	})
}

func TestAQuestionWithQuotesOrExclusionsIsNotTakenApart(t *testing.T) {
	t.Parallel()
	for _, question := range []string{
		`which port does "the gate" use, and how long are backups kept?`,
		"which port does the gate use, and how long are backups kept? -garage",
	} {
		ask := func(part domain.Search) (domain.Answer, error) {
			t.Errorf("%s asks %q", question, part.Text)
			return domain.Answer{}, nil
		}
		if err := search.AddParts(domain.Search{Text: question}.Asked(), &domain.Answer{}, ask); err != nil {
			t.Error(err)
		}
	}
}

func TestAScriptWithoutAVocabularyIsFoundByItsWords(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		for id, content := range map[string]string{
			"thai": "ประตูหลักเปิดตอนเก้าโมงเช้า", "kana": "ひがしのいりぐちはあさくじにひらきます", "korean": "정문은 아침 아홉 시에 열립니다.",
			"hindi":   "मुख्य द्वार सुबह नौ बजे खुलता है।",
			"amharic": "ዋናው በር ጠዋት ሦስት ሰዓት ይከፈታል።", "arabic": "يفتح الباب الرئيسي في التاسعة",
			"greek": "Η κύρια είσοδος ανοίγει στις εννέα.", "other": "The lift is out of order until Friday.",
		} {
			w.Remember(id, content, "team:pay")
		}
		w.Understand()
		for question, want := range map[string]string{
			"ประตูหลัก": "thai", "いりぐち": "kana", "정문 몇 시": "korean", "मुख्य द्वार": "hindi", "ዋናው በር": "amharic",
			"الباب الرئيسي": "arabic", "κυρια εισοδος": "greek",
		} {
			if got := found(ask(t, w, question)); len(got) == 0 || got[0] != want {
				t.Errorf("%q found %v, want %s first", question, got, want)
			}
		}
	})
}
