package search_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestSimilarItemsAreFoundWhereTheItemIsRead(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("same", "checkout-api is deployed on Tuesdays at 14:00", "team:pay")
		w.Remember("other-day", "checkout-api is deployed on Thursdays at 14:00", "team:pay")
		w.Remember("other-service", "billing-api is deployed on Tuesdays at 14:00", "team:pay")
		w.Remember("other-team", "checkout-api is deployed on Tuesdays at 14:00", "team:ops")
		w.Remember("public", "Deployment of checkout-api: Tuesday 2 pm", "public")
		item := &domain.Knowledge{
			ID: "new", Class: domain.Class{ContextType: domain.Memory}, Scopes: []domain.Scope{"team:pay"},
			Text: domain.Text{Content: "checkout-api is deployed on Tuesdays at 14:00"},
		}
		for _, understood := range []bool{false, true} {
			if understood {
				w.Understand()
			}
			kinds := map[string]string{}
			for _, s := range Must(w.Base.Searcher.Similar(t.Context(), w.By, item))(t) {
				kinds[s.ID] = s.Kind + " " + s.Rule
			}
			Equal(t, kinds, map[string]string{
				"same": "duplicate same_text", "public": "duplicate paraphrase", "other-day": "contradiction time",
				"other-service": "similar ",
			}, "similar items, understood: %v", understood)
		}
		item.ID = "same"
		for _, s := range Must(w.Base.Searcher.Similar(t.Context(), w.By, item))(t) {
			if s.ID == "same" {
				t.Error("an item is similar to itself")
			}
		}
		stranger := domain.Principal{Tenant: w.By.Tenant, Subject: "user:eve"}
		for _, s := range Must(w.Base.Searcher.Similar(t.Context(), stranger, item))(t) {
			if s.ID != "public" {
				t.Errorf("a stranger is told of %s", s.ID)
			}
		}
	})
}

func TestSimilarItemsAreFoundByWordsWhoseStemsHaveOtherStems(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		const content = "Universities: responsibilities, conversational decisiveness."
		w.Remember("same", content, "team:pay")
		found := Must(w.Base.Searcher.Similar(t.Context(), w.By, &domain.Knowledge{
			ID: "new", Class: domain.Class{ContextType: domain.Memory}, Scopes: []domain.Scope{"team:pay"}, Text: domain.Text{Content: content},
		}))(t)
		if len(found) != 1 || found[0].Kind != domain.Duplicate || found[0].Knowledge.Text.Content != content {
			t.Errorf("got %+v, want the same item", found)
		}
	})
}

func TestSimilarItemsAreFoundInTheOtherLanguageByNamesTheyShare(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		english, chinese := "The deploy window of %s is Tuesday from 09:00 to 11:00.", "%s 的发布窗口是周四 09:00 到 11:00。"
		w.Remember("english", fmt.Sprintf(english, "gamma"), "team:pay")
		w.Remember("chinese", fmt.Sprintf(chinese, "delta"), "team:pay")
		for _, others := range []int{0, 20} {
			for i := range others {
				w.Remember(fmt.Sprint("other-", i), fmt.Sprintf("第 %d 组的发布窗口由值班人员确认。", i), "team:pay")
			}
			for content, want := range map[string]string{
				fmt.Sprintf(chinese, "gamma"): "english", fmt.Sprintf(english, "delta"): "chinese",
			} {
				found := Must(w.Base.Searcher.Similar(t.Context(), w.By, &domain.Knowledge{
					ID: "new", Class: domain.Class{ContextType: domain.Memory}, Scopes: []domain.Scope{"team:pay"},
					Text: domain.Text{Content: content},
				}))(t)
				if len(found) == 0 || found[0].ID != want || found[0].Kind != domain.Contradiction {
					t.Errorf("%q among %d others: got %+v, want %s", content, others, found, want)
				}
			}
			w.Understand()
		}
	})
}

func TestTheSameTextIsRefusedHoweverManyResembleIt(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Base.Indexer.MaxChanges = 1
		template := "The service of team %d is deployed after the release manager has approved the checklist of the quarter."
		for i := range 25 {
			w.Remember(fmt.Sprint("item-", i), fmt.Sprintf(template, i), "team:pay")
		}
		w.Remember("wordless", "🚀", "team:pay")
		refusing := func(id, task, content string, scope domain.Scope) domain.Submission {
			command := w.Knowing(id, domain.Remembered{
				Class: domain.Class{Type: domain.Strategy}, Owner: "org:acme", Scopes: []domain.Scope{scope},
				Text: domain.Text{Task: task, Content: content},
			})
			command.OnSimilar = domain.RefuseSimilar
			return domain.Submission{Command: command, By: w.By}
		}
		third := fmt.Sprintf(template, 2)
		for _, compacted := range []string{"packed", "indexed"} {
			if compacted == "indexed" {
				NoError(t, w.Base.Indexer.IndexWords(t.Context()))
			}
			var refused []bool
			for _, result := range w.Log.SubmitAll(t.Context(), []domain.Submission{
				refusing("same", "", third, "team:pay"), refusing("rocket", "", "🚀", "team:pay"),
				refusing("other-task"+compacted, "Deploy "+compacted, third, "team:pay"),
				refusing("of-the-batch"+compacted, "Deploy "+compacted, third, "team:pay"),
				refusing("other-team"+compacted, "", third, domain.Scope("team:"+compacted)),
			}) {
				if result.Err != nil && !errors.Is(result.Err, domain.ErrSimilar) {
					t.Fatal(result.Err)
				}
				refused = append(refused, result.Err != nil)
			}
			Equal(t, refused, []bool{true, true, false, true, false}, "refused, %s", compacted)
		}
	})
}
