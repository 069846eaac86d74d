package serve

import (
	"context"
	"log/slog"

	"github.com/annals-kb/annals/cmd/annals/telemetry"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	annalshttp "github.com/annals-kb/annals/http"
)

// telemetering is where traces and metrics are sent. The variables of OpenTelemetry set it.
type telemetering struct{ telemetry *telemetry.Telemetry } // nil for none

func prepareTelemetry(ctx context.Context, c *Config, logger *slog.Logger) (err error) {
	if c.telemetry, err = telemetry.Open(ctx, terminal.Version().Version, logger); err != nil {
		return terminal.Wrong("unset OTEL_EXPORTER_OTLP_ENDPOINT to send nothing", "%s", err)
	}
	return nil
}

func traceLog(c *core, options *events.Options) error {
	options.Span = c.cfg.telemetry.Seam()
	return nil
}

// openTelemetry traces requests, writes, searches, and requests to the models that were opened before.
func openTelemetry(ctx context.Context, c *core) (part, error) {
	t := c.cfg.telemetry
	if t == nil {
		return part{}, nil
	}
	if err := t.Collect(ctx, c.registry); err != nil {
		return part{close: nil}, err
	}
	c.knowledge.Searcher.Span = t.Seam()
	t.Models(c.embedder, c.previous)
	for _, p := range c.parts {
		t.Models(p.offers...)
	}
	return part{
		writer: t.Writer,
		search: func(next search) search {
			return func(ctx context.Context, s domain.Search) (domain.Answer, error) { return t.Search(ctx, s, next) }
		},
		api: func(api *annalshttp.Config) { api.Trace = t.Trace },
		close: func() error { // while the database can be asked for metrics
			t.Close()
			return nil
		},
	}, nil
}
