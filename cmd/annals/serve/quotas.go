package serve

import (
	"context"
	"fmt"

	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/quotas"
)

// limiting are the settings of quotas.
type limiting struct {
	Quotas string `group:"limits" env:"ANNALS_QUOTAS" placeholder:"LINES"`
}

func checkQuotas(c Config) error {
	if _, err := quotas.Parse(c.Quotas); err != nil {
		return fmt.Errorf("quotas (ANNALS_QUOTAS): %w", err)
	}
	return nil
}

func limitLog(c *core, options *events.Options) error {
	limits, err := quotas.Parse(c.cfg.Quotas)
	if err == nil && len(limits) > 0 {
		options.Admission = quotas.New(c.db, limits, c.knowledge.Versions.ActiveIn, c.registry, c.logger)
	}
	return err
}

func openQuotas(_ context.Context, c *core) (p part, err error) {
	if keeper, limited := c.log.Options().Admission.(*quotas.Keeper); limited {
		p.run = append(p.run, keeper.Run)
	}
	return p, nil
}
