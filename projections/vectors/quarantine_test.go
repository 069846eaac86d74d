package vectors_test

import (
	"fmt"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestATextThatBreaksTheModelStopsNoOther(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w, _ := Served(t, db, projections.Settings{Embedder: newEndpoint(t).model(t, "small")})
		for i, content := range []string{"retry the call", "this breaks it", "water it", "this overflows it", "log it"} {
			w.Remember(fmt.Sprint("item-", i), content, "team:pay")
		}
		reads(w, 5)
		s := domain.Search{Text: "water it"}
		w.Until("searches say it", func() bool { return w.Search(s).Degraded != "" })
		for _, q := range Must(w.Followers.Quarantined(t.Context(), "meaning_2", w.By.Tenant))(t) {
			if q.Stream != "knowledge:item-1" && q.Stream != "knowledge:item-3" || q.Attempts != 3 {
				t.Errorf("in quarantine: %+v", q)
			}
		}
		for question, semantic := range map[string]int{"water it": 3, "what breaks it": 0} {
			answer := w.Search(domain.Search{Text: question, MinScore: new(float64)})
			for _, hit := range answer.Hits {
				if hit.Model != 0 {
					semantic--
				}
			}
			if semantic != 0 || answer.Degraded == "" {
				t.Errorf("%s: degraded %q, %+v", question, answer.Degraded, answer.Hits)
			}
		}
	})
}
