package subscriptions

import (
	"context"
	"database/sql"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

var (
	countGauge = prometheus.NewDesc("annals_deliveries", "Deliveries to webhooks of all tenants.", []string{"state"}, nil)
	ageGauge   = prometheus.NewDesc("annals_deliveries_oldest_pending_seconds",
		"Age of the oldest pending delivery, of all tenants; 0 if none is.", nil, nil)
)

// Gauges report the deliveries of all tenants.
type Gauges struct{ *Subscriptions }

var _ prometheus.Collector = Gauges{}

func (s Gauges) Describe(to chan<- *prometheus.Desc) {
	to <- countGauge
	to <- ageGauge
}

// Collect implements [prometheus.Collector]. Gauges that cannot be read are left out.
func (s Gauges) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(database.ForEveryTenant(context.Background()), 5*time.Second)
	defer cancel()
	counts, oldest := map[string]int64{}, time.Duration(0)
	err := database.ForEach(ctx, s.db, func(rows *sql.Rows) error {
		var state string
		var n int64
		var since database.Time
		err := rows.Scan(&state, &n, &since)
		if counts[state] = n; state == "pending" {
			oldest = max(0, s.now().Sub(since.Time))
		}
		return err
	}, `
		SELECT state, count(*), min(at)
		FROM deliveries
		GROUP BY state
		ORDER BY state`)
	if err != nil {
		s.Logger.WarnContext(ctx, "metrics of deliveries were left out", "error", err)
		return
	}
	for _, state := range domain.DeliveryStates {
		to <- prometheus.MustNewConstMetric(countGauge, prometheus.GaugeValue, float64(counts[state]), state)
	}
	to <- prometheus.MustNewConstMetric(ageGauge, prometheus.GaugeValue, oldest.Seconds())
}
