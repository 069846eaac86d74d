package http

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/body"
	"github.com/annals-kb/annals/http/serve"
)

// observe gives a request its id, answers with a problem after an error, and logs and counts the request at its end.
// It logs the route, never what people wrote.
func (s *Server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(e echo.Context) error {
		c := &serve.Call{
			API: s.api, Request: e.Request(), Response: e.Response(), ID: serve.RequestID(e.Request()), Now: s.cfg.Now(),
			Route: e.Path(),
		}
		c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), serve.CallKey{}, c))
		e.SetRequest(c.Request)
		e.Response().Header().Set("X-Request-Id", c.ID)
		s.metrics.inFlight.Inc()
		defer s.metrics.inFlight.Dec()
		defer s.logRequest(c, e)
		if err := recoverPanic(e, next); err != nil {
			s.answerError(c, e, err)
		}
		return nil
	}
}

// recoverPanic turns a panic into an error. It repeats a panic that is meant to cut the connection.
func recoverPanic(e echo.Context, next echo.HandlerFunc) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			if cause == http.ErrAbortHandler { //nolint:errorlint // net/http compares it like this
				panic(cause)
			}
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return next(e)
}

// answerError answers with a problem. If the answer has begun already, it cuts the connection, so that the caller
// does not take half an answer for a whole one.
func (s *Server) answerError(c *serve.Call, e echo.Context, err error) {
	err = fromEcho(err)
	c.Err = err
	if e.Response().Committed {
		panic(http.ErrAbortHandler)
	}
	serve.ProblemOf(err, c.Instance()).Write(e.Response())
}

// fromEcho maps Echo's own errors to those of the table.
func fromEcho(err error) error {
	own, ok := errors.AsType[*echo.HTTPError](err)
	if !ok {
		return err
	}
	switch own.Code {
	case http.StatusNotFound:
		return domain.Refuse(serve.ErrRoute, "there is nothing at this path").WithFix("see /docs for what there is")
	case http.StatusMethodNotAllowed:
		return domain.Refuse(serve.ErrMethod, "this path does not know that method").WithFix("see the header Allow")
	}
	return err
}

func (s *Server) logRequest(c *serve.Call, e echo.Context) {
	route, status, took := cmp.Or(c.Route, e.Path()), e.Response().Status, s.cfg.Now().Sub(c.Now)
	if route == "" || errors.Is(c.Err, serve.ErrRoute) || errors.Is(c.Err, serve.ErrMethod) {
		route = serve.Unmatched
	}
	c.Route = route
	s.recordDenial(c, status)
	s.metrics.answered(c.Request.Method, route, status, took)
	level := levelOf(route, status, c.Err)
	stale := status == http.StatusUnauthorized && c.Principal.Authentication != "" // a key that was valid once
	if stale {
		level = slog.LevelWarn
	}
	if !s.cfg.Logger.Enabled(c.Request.Context(), level) {
		return
	}
	attributes := append(make([]slog.Attr, 0, 10),
		slog.String("method", c.Request.Method), slog.String("route", route),
		slog.Int("status", status), slog.Int64("bytes", e.Response().Size),
		slog.Float64("ms", float64(took.Round(10*time.Microsecond))/float64(time.Millisecond)),
		slog.String("request_id", c.ID),
	)
	if c.Principal.Tenant != "" {
		attributes = append(attributes,
			slog.String("tenant", c.Principal.Tenant), slog.String("actor", string(c.Principal.Subject)))
	}
	if stale {
		attributes = append(attributes, slog.String("authentication", c.Principal.Authentication))
	}
	if serve.IsServerError(c.Err) {
		attributes = append(attributes, slog.Any("err", c.Err))
	}
	s.cfg.Logger.LogAttrs(c.Request.Context(), level, "answered", attributes...)
}

// levelOf is the log level of a request. Routes that monitors poll are logged at debug level.
func levelOf(route string, status int, err error) slog.Level {
	switch {
	case route == "/healthz" || route == "/readyz" || route == "/metrics":
		return slog.LevelDebug
	case errors.Is(err, domain.ErrBusy): // as expected under load
		return slog.LevelWarn
	case status >= http.StatusInternalServerError || serve.IsServerError(err):
		return slog.LevelError
	}
	return slog.LevelInfo
}

// metrics count requests by method, route pattern and status, never by their content.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	inFlight prometheus.Gauge
	records  *prometheus.CounterVec
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
	registry.MustRegister(m.requests, m.seconds, m.inFlight, m.records)
	return m
}

func (m *metrics) answered(method, route string, status int, took time.Duration) {
	if route == serve.Unmatched { // the method may be an arbitrary text, too
		method = ""
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(method, route).Observe(took.Seconds())
}

// protect refuses writes that another website makes a browser send. Its headers tell browsers not to guess media
// types, and to stay with TLS. There is no CORS header, so that pages of another website cannot read answers.
func protect() echo.MiddlewareFunc {
	crossOrigin := http.NewCrossOriginProtection()
	always := http.Header{
		"X-Content-Type-Options":  {"nosniff"},
		"Content-Security-Policy": {"default-src 'none'; frame-ancestors 'none'"},
		"Referrer-Policy":         {"no-referrer"},
		"Cache-Control":           {"no-store"},
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc { // Echo calls this for every request
		return func(e echo.Context) error {
			body.Unmark(e.Request())
			h := e.Response().Header()
			maps.Copy(h, always)
			if e.Request().TLS != nil {
				h.Set("Strict-Transport-Security", "max-age=31536000")
			}
			if err := crossOrigin.Check(e.Request()); err != nil {
				return domain.Refuse(serve.ErrOrigin, "a page of another website sent this request")
			}
			return next(e)
		}
	}
}

// recordDenial records that the caller was refused.
func (s *Server) recordDenial(c *serve.Call, status int) {
	if s.cfg.Recorder == nil || status != http.StatusForbidden && status != http.StatusUnauthorized {
		return
	}
	_ = s.cfg.Recorder.Give(c.Given(domain.GivenDenial, status)) // the refusal has been sent
}
