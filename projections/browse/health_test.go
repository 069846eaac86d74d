package browse_test

import (
	"math"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/browse"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestHealthIsMeasuredAgainAfterAChangeOrAWhile(t *testing.T) {
	EachAt(t, time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), func(t *testing.T, w *World, now *time.Time) {
		gauges := browse.NewHealthGauges(w.Reports())
		registry := prometheus.NewPedanticRegistry()
		NoError(t, registry.Register(gauges))
		remember := func(id string) {
			w.Know(id, domain.Remembered{
				Class: domain.Class{Type: domain.Plan}, Owner: w.By.Subject, Scopes: []domain.Scope{"team:pay"}, Text: domain.Text{Content: id},
			})
		}
		after := func(passed time.Duration, items, minutes float64) {
			t.Helper()
			*now = now.Add(passed)
			NoError(t, gauges.Refresh(t.Context()))
			got := map[string]float64{}
			for _, family := range Must(registry.Gather())(t) {
				got[family.GetName()] = family.GetMetric()[0].GetGauge().GetValue()
			}
			age := math.Round(got["annals_scope_median_age_days"] * 24 * 60)
			if got["annals_scope_items"] != items || age != minutes {
				t.Errorf("got %v, want %v items of %v minutes", got, items, minutes)
			}
		}
		remember("a")
		after(0, 1, 0)
		remember("b")
		after(time.Minute, 1, 0)
		after(5*time.Minute, 2, 6)
		after(30*time.Minute, 2, 6)
		after(30*time.Minute, 2, 66)
	})
}
