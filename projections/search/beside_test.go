package search_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/embedding"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// topical is a model that knows what some texts are about, and of others how long they are. It may be down.
type topical struct{ down *atomic.Bool }

var topics = []string{"holiday", "days off", "tomato"}

func (topical) Name() string { return "test:topical:8" }

func (topical) Dims() int { return 8 }

func (topical) Calibration() embedding.Calibration {
	return embedding.Calibration{Midpoint: 0.45, Slope: 12, Weight: 0.3}
}

func (m topical) Embed(_ context.Context, texts []string, _ embedding.Kind) ([][]float32, error) {
	if m.down.Load() {
		return nil, embedding.ErrUnavailable
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = make([]float32, 8)
		vectors[i][2+len(text)%6] = 0.1
		for j, topic := range topics {
			if strings.Contains(text, topic) {
				vectors[i][j/2] = 1
			}
		}
		if err := embedding.Normalize(vectors[i]); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

func (topical) Reads(_ context.Context, s string) bool { return !strings.Contains(s, "年假") }

// What words, their letters and the vocabulary find is found with a model, too, and it finds more beside that.
func TestAModelAddsToWhatIsFoundWithoutIt(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		down := &atomic.Bool{}
		w := NewWorld(t, db, projections.Settings{Embedder: topical{down}})
		for id, content := range map[string]string{
			"vacation": "Everyone has 25 days off a year.", "kubernetes": "The Kubernetes upgrade is on 12 May.",
			"error": "PAY-1042 means that the card was declined.", "chinese": "上海员工每年有 12 天年假。",
			"garden": "Water the tomato plants in the evening.", "invoice": "Invoices are due after 30 days.",
		} {
			w.Remember(id, content, "team:pay")
		}
		w.Understand()
		first := func(question string) domain.Found {
			t.Helper()
			answer := w.Search(domain.Search{Text: question, MinScore: new(float64)})
			if got := answer.Degraded != ""; got != down.Load() {
				t.Errorf("%s: degraded %q", question, answer.Degraded)
			}
			if len(answer.Hits) == 0 {
				return domain.Found{}
			}
			return answer.Hits[0]
		}
		for question, want := range map[string]string{
			"when is the kuberntes upgrade": "kubernetes", "pay 1042": "error",
			"holiday": "vacation",
		} {
			if got := first(question); got.ID != want || want == "vacation" && (got.Model == 0 || got.Covered == 0) {
				t.Errorf("%s: found %+v first, want %s", question, got.Hit, want)
			}
		}
		down.Store(true)
		if got := first("when is the kuberntes upgrade"); got.ID != "kubernetes" || got.Semantic == 0 || got.Model != 0 {
			t.Errorf("without the model: found %+v first", got.Hit)
		}
		down.Store(false)
		if got := first("年假"); got.ID != "chinese" || got.Model != 0 {
			t.Errorf("in a script that the model cannot read: found %+v first", got.Hit)
		}
	})
}

// An item without a vector of the model has the score that it has without the model.
func TestAnItemWithoutAVectorOfTheModelNeitherGainsNorLoses(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		best := func(w *World) domain.Hit {
			return w.Search(domain.Search{Text: "days off in a year", MinScore: new(float64)}).Hits[0].Hit
		}
		w := NewWorld(t, db, projections.Settings{})
		w.Remember("vacation", "Everyone has 25 days off a year.", "team:pay")
		for i := range 3 {
			w.Remember(fmt.Sprint("other-", i), "Water the tomato plants.", "team:pay")
		}
		w.Understand()
		without := best(w)
		with := NewWorld(t, db, projections.Settings{Embedder: topical{&atomic.Bool{}}})
		if got := best(with); math.Abs(got.Score-without.Score) > 1e-9 {
			t.Errorf("the score is %v, and %v without the model", got.Score, without.Score)
		}
		with.Read[w.By.Tenant] = 0
		with.Understand()
		if got := best(with); got.Model == 0 || got.Score == without.Score {
			t.Errorf("with its vector: got %+v", got)
		}
	})
}
