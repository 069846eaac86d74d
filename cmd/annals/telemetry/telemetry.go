// Package telemetry sends traces and metrics of a server to an OpenTelemetry collector.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/time/rate"
)

// Telemetry sends what a server does to a collector. Its settings are the standard OTEL_ variables.
type Telemetry struct {
	tracer   trace.Tracer
	traces   *sdktrace.TracerProvider
	resource *resource.Resource
	metrics  *metric.MeterProvider
}

// Open returns nil unless OTEL_EXPORTER_OTLP_ENDPOINT is set. Nothing waits for the endpoint: spans that do not fit the
// queue are dropped.
func Open(ctx context.Context, version string, logger *slog.Logger) (*Telemetry, error) {
	address := os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT")
	if address == "" || strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return nil, nil //nolint:nilnil // telemetry that is off
	}
	if to, err := url.Parse(address); err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Host == "" {
		return nil, errors.New("OTEL_EXPORTER_OTLP_ENDPOINT must be an http:// or https:// URL, as in http://127.0.0.1:4318")
	}
	if protocol := os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %s, and annals speaks http/protobuf alone", protocol)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "annals"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	minutely := rate.Sometimes{Interval: time.Minute}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		minutely.Do(func() { logger.WarnContext(ctx, "OpenTelemetry reports a problem", "error", err) })
	}))
	endpoint, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	traces := sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithBatcher(endpoint))
	return &Telemetry{
		tracer: traces.Tracer("annals"), traces: traces, resource: about, metrics: metric.NewMeterProvider(),
	}, nil
}

// Collect sends what is in the registry every minute, or every OTEL_METRIC_EXPORT_INTERVAL milliseconds.
func (t *Telemetry) Collect(ctx context.Context, registry *prometheus.Registry) error {
	if os.Getenv("OTEL_METRICS_EXPORTER") == "none" { // as for a backend of traces alone
		return nil
	}
	endpoint, err := otlpmetrichttp.New(ctx)
	if err != nil {
		return fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	from := bridge.NewMetricProducer(bridge.WithGatherer(registry))
	t.metrics = metric.NewMeterProvider(metric.WithResource(t.resource),
		metric.WithReader(metric.NewPeriodicReader(endpoint, metric.WithProducer(from))))
	return nil
}

// Close sends what waits, as far as the endpoint accepts it within three seconds.
func (t *Telemetry) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := errors.Join(t.metrics.Shutdown(ctx), t.traces.Shutdown(ctx)); err != nil {
		otel.Handle(err)
	}
}
