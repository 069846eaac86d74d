package events

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	batch   prometheus.Histogram
	commit  prometheus.Histogram
	queue   prometheus.Gauge
	refused *prometheus.CounterVec
}

func newMetrics(registerer prometheus.Registerer) metrics {
	factory := promauto.With(registerer)
	return metrics{
		batch: factory.NewHistogram(prometheus.HistogramOpts{
			Name:    "annals_append_batch_size",
			Help:    "Commands written in one transaction.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 11),
		}),
		commit: factory.NewHistogram(prometheus.HistogramOpts{
			Name:    "annals_append_seconds",
			Help:    "Time that one transaction took, from its BEGIN until its COMMIT was answered.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 15),
		}),
		queue: factory.NewGauge(prometheus.GaugeOpts{
			Name: "annals_append_queue",
			Help: "Commands that wait for a transaction.",
		}),
		refused: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "annals_append_refused_total",
			Help: "Commands that were answered with an error, by its kind.",
		}, []string{"kind"}),
	}
}
