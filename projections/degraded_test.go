package projections_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/embedding"
)

// model is the built-in embedder with an eye on it: it can be down, and counts what it embeds.
type model struct {
	embedding.Builtin

	mu       sync.Mutex
	down     error
	embedded map[string]int
	asked    [][]string // the questions of each request
}

func (m *model) Embed(ctx context.Context, texts []string, kind embedding.Kind) ([][]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down != nil {
		return nil, m.down
	}
	if m.embedded == nil {
		m.embedded = map[string]int{}
	}
	if kind == embedding.Document {
		for _, text := range texts {
			m.embedded[text]++
		}
	}
	if kind == embedding.Query {
		m.asked = append(m.asked, texts)
	}
	return m.Builtin.Embed(ctx, texts, kind)
}

func (m *model) goes(down error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = down
}

func TestATextThatBreaksTheModelStopsNoOther(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w, _ := served(t, db, projections.Settings{Embedder: newEndpoint(t).model(t, "small")})
		for i, content := range []string{"retry the call", "this breaks it", "water it", "this overflows it", "log it"} {
			w.remember(fmt.Sprint("item-", i), content, "team:pay")
		}
		w.reads(5)
		s := domain.Search{Text: "water it"}
		w.until("searches say it", func() bool { return w.search(s).Degraded != "" })
		for _, q := range must(w.followers.Quarantined(t.Context(), "meaning_1", w.by.Tenant))(t) {
			if q.Stream != "knowledge:item-1" && q.Stream != "knowledge:item-3" || q.Attempts != 3 {
				t.Errorf("in quarantine: %+v", q)
			}
		}
		for question, semantic := range map[string]int{"water it": 3, "what breaks it": 0} {
			answer := w.search(domain.Search{Text: question, MinScore: new(float64)})
			for _, hit := range answer.Hits {
				if hit.Semantic != 0 {
					semantic--
				}
			}
			if semantic != 0 || answer.Degraded == "" {
				t.Errorf("%s: degraded %q, %+v", question, answer.Degraded, answer.Hits)
			}
		}
	})
}
