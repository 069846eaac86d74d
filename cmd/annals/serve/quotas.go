package serve

import (
	"fmt"

	"github.com/annals-kb/annals/events"
)

// limiting are the settings of quotas.
type limiting struct {
	Quotas string `group:"limits" env:"ANNALS_QUOTAS" placeholder:"LINES"`
}

func checkQuotas(c Config) error {
	if _, err := events.ParseQuotas(c.Quotas); err != nil {
		return fmt.Errorf("quotas (ANNALS_QUOTAS): %w", err)
	}
	return nil
}

func limitLog(c Config, options *events.Options) (err error) {
	options.Quotas, err = events.ParseQuotas(c.Quotas)
	return err
}
