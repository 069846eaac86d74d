package serve

import (
	"context"
	"fmt"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/events/forward"
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

func checkNATS(c Config) error {
	if c.NATSURL == "" {
		return nil
	}
	if err := c.forwarding.options().Validate(); err != nil {
		return fmt.Errorf("nats-url, nats-prefix (ANNALS_NATS_URL, ANNALS_NATS_PREFIX): %w", err)
	}
	return nil
}

// openNATS connects to the NATS server of the settings.
func openNATS(_ context.Context, c *core) (part, error) {
	if err := checkNATS(c.cfg); err != nil || c.cfg.NATSURL == "" {
		return part{}, err
	}
	options := c.cfg.options()
	options.Logger = c.logger
	n, err := forward.OpenNATS(c.followers, options)
	if err != nil {
		return part{}, terminal.Wrong("as in ANNALS_NATS_URL=nats://127.0.0.1:4222", "%s", err)
	}
	return part{follow: []func(*message.Router){n.Follow}, status: []statusOf{n.Status}, close: n.Close}, nil
}
