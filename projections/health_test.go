package projections_test

import (
	"math"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/browse"
)

func TestHealthIsMeasuredAgainAfterAChangeOrAWhile(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
		clock := func() time.Time { return now }
		w := newWorldWith(t, db, projections.Settings{Now: clock}, events.Options{Clock: clock})
		gauges := browse.NewHealthGauges(browse.Reports{Browser: w.base.Browser, Log: w.log})
		registry := prometheus.NewPedanticRegistry()
		noError(t, registry.Register(gauges))
		remember := func(id string) {
			w.know(id, domain.Remembered{
				Class: domain.Class{Type: domain.Plan}, Owner: w.by.Subject, Scopes: []domain.Scope{"team:pay"}, Text: domain.Text{Content: id},
			})
		}
		after := func(passed time.Duration, items, minutes float64) {
			t.Helper()
			now = now.Add(passed)
			noError(t, gauges.Refresh(t.Context()))
			got := map[string]float64{}
			for _, family := range must(registry.Gather())(t) {
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
