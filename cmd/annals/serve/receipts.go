package serve

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	annalshttp "github.com/annals-kb/annals/http"
	httpreceipts "github.com/annals-kb/annals/http/receipts"
	"github.com/annals-kb/annals/projections/receipts"
)

// receiptSettings are the settings of receipts.
type receiptSettings struct {
	// Receipts is on, off, or sample:N for one answer in N.
	Receipts     string        `group:"receipts" env:"ANNALS_RECEIPTS" default:"on" placeholder:"on|off|sample:N"`
	KeepReceipts time.Duration `group:"receipts" env:"ANNALS_KEEP_RECEIPTS" default:"4320h" placeholder:"TIME"`
}

func checkReceipts(c Config) error {
	_, err := c.sampled()
	if c.KeepReceipts < 0 {
		err = errors.Join(err, errors.New("keep-receipts (ANNALS_KEEP_RECEIPTS) must not be negative"))
	}
	return err
}

// sampled is of how many answers one has a receipt; less than 0 for none.
func (r receiptSettings) sampled() (n int, err error) {
	switch r.Receipts {
	case "off":
		return -1, nil
	case "on", "": // of a server without a command
		return 1, nil
	}
	if sample, is := strings.CutPrefix(r.Receipts, "sample:"); is {
		n, err = strconv.Atoi(sample)
	}
	if err != nil || n < 1 {
		return 0, fmt.Errorf("receipts (ANNALS_RECEIPTS) must be on, off, or sample:N with a number from 1, not %q",
			r.Receipts)
	}
	return n, nil
}

// openReceipts keeps receipts of answers, and offers them. Without new ones, those that there are stay and expire.
func openReceipts(ctx context.Context, c *core) (part, error) {
	sample, err := c.cfg.sampled()
	if err != nil {
		return part{}, err
	}
	kept := receipts.New(ctx, receipts.Options{
		DB: c.db, Log: c.log, Items: c.knowledge.Browser, Scrub: c.entrance, Ranking: terminal.Version().Version,
		Keep: c.cfg.KeepReceipts, Sample: sample, Registerer: c.registry, Logger: c.logger,
	})
	c.eraser.Questions = kept
	room := httpreceipts.Room{
		Receipts: kept, Reader: present{c}, Searcher: c.knowledge.Searcher, Browser: c.knowledge.Browser,
		Prover: offered[httpreceipts.Prover](c),
		Rights: func(ctx context.Context, tenant string, of domain.Subscription) (domain.Principal, error) {
			return c.api.Callers.RightsOf(ctx, tenant, of)
		},
	}
	return part{
		run: []func(context.Context){kept.Run}, offers: []any{kept}, rooms: []annalshttp.Room{room},
		api: func(api *annalshttp.Config) {
			if sample > 0 {
				api.Recorder = kept
			}
		},
	}, nil
}
