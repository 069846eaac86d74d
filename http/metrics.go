package http

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics count requests by method, route pattern and status: never by what was asked.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	inFlight prometheus.Gauge
	records  *prometheus.CounterVec

	following prometheus.Gauge
	ended     *prometheus.CounterVec
}

func newMetrics(registry *prometheus.Registry) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "annals_http_requests_total", Help: "Requests answered.",
		}, []string{"method", "route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "annals_http_request_seconds", Help: "Time from the request's headers to the end of its answer.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"method", "route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "annals_http_requests_in_flight", Help: "Requests being answered.",
		}),
		records: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "annals_http_bulk_records_total", Help: "Records of bulk requests answered, by what became of them.",
		}, []string{"status"}),
	}
	m.following = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "annals_http_streams", Help: "Callers that follow the log.",
	})
	m.ended = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "annals_http_streams_ended_total", Help: "Callers that followed the log, by why they do no more.",
	}, []string{"reason"})
	for _, reason := range feedEnds {
		m.ended.WithLabelValues(reason)
	}
	registry.MustRegister(m.requests, m.seconds, m.inFlight, m.records, m.following, m.ended)
	return m
}

func (m *metrics) answered(method, route string, status int, took time.Duration) {
	if route == unmatched { // the method may be anything, too
		method = ""
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(method, route).Observe(took.Seconds())
}
