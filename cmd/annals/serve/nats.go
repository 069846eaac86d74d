package serve

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/annals-kb/annals/cmd/annals/telemetry"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/events/forward"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/extraction"
)

// forwarding are the settings for forwarding the log.
type forwarding struct {
	// NATSURL is a NATS server with JetStream that receives every event.
	NATSURL string `group:"forwarding" name:"nats-url" env:"ANNALS_NATS_URL" placeholder:"URL"`

	// NATSPrefix is the prefix of the subjects. A new prefix forwards the whole log again.
	NATSPrefix string `group:"forwarding" name:"nats-prefix" env:"ANNALS_NATS_PREFIX" default:"annals" placeholder:"WORDS"`

	// NATSTexts is off by default, because an erasure does not delete forwarded texts.
	NATSTexts bool `group:"forwarding" name:"nats-texts" env:"ANNALS_NATS_TEXTS"`
}

func (f forwarding) options() forward.NATSOptions {
	return forward.NATSOptions{URL: f.NATSURL, Prefix: f.NATSPrefix, Texts: f.NATSTexts}
}

// forwards tells whether the log is forwarded. The error names invalid settings.
func (f forwarding) forwards() (bool, error) {
	if f.NATSURL == "" {
		return false, nil
	}
	if err := f.options().Validate(); err != nil {
		return false, fmt.Errorf("nats-url, nats-prefix (ANNALS_NATS_URL, ANNALS_NATS_PREFIX): %w", err)
	}
	return true, nil
}

// forwarder connects to the NATS server; nil without one.
func (f forwarding) forwarder(l *follow.Log, logger *slog.Logger) (*forward.NATS, error) {
	if forwards, err := f.forwards(); !forwards {
		return nil, err
	}
	options := f.options()
	options.Logger = logger
	n, err := forward.OpenNATS(l, options)
	if err != nil {
		return nil, terminal.Wrong("as in ANNALS_NATS_URL=nats://127.0.0.1:4222", "%s", err)
	}
	return n, nil
}

// present answers questions about the present. Its status includes forwarding, extraction and summaries.
type present struct {
	projections.Reader
	forwarder *forward.NATS
	worker    *extraction.Worker
	summaries *extraction.Summaries
	telemetry *telemetry.Telemetry
}

func (r present) Search(ctx context.Context, s domain.Search) (domain.Answer, error) {
	if r.telemetry == nil {
		return r.Reader.Search(ctx, s)
	}
	return r.telemetry.Search(ctx, s, r.Reader.Search)
}

func (r present) Status(ctx context.Context, tenant string) ([]domain.ProjectionStatus, error) {
	all, err := r.Reader.Status(ctx, tenant)
	if err != nil {
		return all, err
	}
	extracted, err := r.worker.Status(ctx, tenant)
	if all = append(all, extracted); err != nil {
		return all, err
	}
	if r.summaries != nil {
		summarised, err := r.summaries.Status(ctx, tenant)
		if all = append(all, summarised); err != nil {
			return all, err
		}
	}
	if r.forwarder == nil {
		return all, nil
	}
	own, err := r.forwarder.Status(ctx, tenant)
	return append(all, own), err
}

// stopForwarding closes the connection, if there is one.
func (s *Service) stopForwarding() error {
	if s.forwarder == nil {
		return nil
	}
	return s.forwarder.Close()
}
