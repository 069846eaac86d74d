package review_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/extraction"
)

// judgedBy lets a model decide that writes an answer about the notes that it gets.
func (w *world) judgedBy(answer func(notes string) string) {
	w.T.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var asked struct {
			Messages []struct{ Content string } `json:"messages"`
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Messages) != 2 && len(asked.Messages) != 3 { // again
			w.T.Errorf("asked %+v, %v", asked, err)
			return
		}
		err := json.NewEncoder(rw).Encode(map[string]any{"choices": []any{map[string]any{
			"message": map[string]any{"content": answer(asked.Messages[1].Content)},
		}}})
		if err != nil {
			w.T.Error(err)
		}
	}))
	w.T.Cleanup(server.Close)
	var config extraction.ModelConfig
	config.URL, config.Model, config.MinBackoff = server.URL, "test", time.Millisecond
	model, err := extraction.NewModel(config)
	if err != nil {
		w.T.Fatal(err)
	}
	w.proposer.Judge = model
}

func TestAModelJudgesWhatRulesFindSimilar(t *testing.T) {
	each(t, func(w *world) {
		reason := "two windows a week"
		w.judgedBy(func(notes string) string {
			lines := strings.Split(strings.TrimSpace(notes), "\n")
			if len(lines) != 2 || !strings.Contains(lines[0], `"note":0`) || !strings.Contains(lines[1], "window") {
				w.T.Errorf("the model reads %s", notes)
			}
			if strings.Contains(notes, "Thursday") || strings.Contains(notes, "Bo") {
				return `{"verdict":"neither","reason":""}`
			}
			return `{"verdict":"duplicate","reason":"` + reason + `"}`
		})
		w.remember("private", "Only Bo knows who opens the deploy window of checkout.", "user:bo")
		w.remember("a", tuesday, "team:pay", "user:bo")
		w.remember("b", wednesday, "team:pay")
		w.follow(false)
		w.holds("duplicate [a b]") // a contradiction by the rules
		waiting, err := w.reports.Review(w.T.Context(), domain.ReviewQuery{Tenant: w.By.Tenant, Limit: 10})
		if err != nil || len(waiting.Items) != 1 || waiting.Items[0].Pair == nil {
			w.T.Fatal(waiting, err)
		}
		if pair := waiting.Items[0].Pair; pair.Rule != domain.JudgedByModel || pair.Reason != reason || pair.By != "agent:annals" {
			w.T.Errorf("the review says %+v", pair)
		}

		healthy := w.proposer.Judge
		w.judgedBy(func(string) string { return `{}` })
		w.follow(true)
		w.holds("duplicate [a b]") // rules close nothing that the model proposed

		w.proposer.Judge = healthy
		w.revise("b", "The deploy window of checkout is Thursday from 09:00 to 11:00.")
		w.follow(false)
		w.holds()
	})
}
