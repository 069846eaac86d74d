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
	"github.com/annals-kb/annals/http/operate"
	httpreceipts "github.com/annals-kb/annals/http/receipts"
	"github.com/annals-kb/annals/projections/receipts"
)

// receiptSettings are the settings of receipts. After the general one, both have those of tenants: NAME=SETTING.
type receiptSettings struct {
	// Receipts is on, off, or sample:N for one answer in N.
	Receipts     []string `group:"receipts" env:"ANNALS_RECEIPTS" default:"on" placeholder:"on|off|sample:N"`
	KeepReceipts []string `group:"receipts" env:"ANNALS_KEEP_RECEIPTS" default:"4320h" placeholder:"TIME"`
}

func checkReceipts(c Config) error {
	_, err := c.retention()
	return err
}

// retention reads the settings. The error names every bad one.
func (s receiptSettings) retention() (o receipts.Options, err error) {
	samples, badSamples := perTenant("receipts (ANNALS_RECEIPTS)", s.Receipts, "on", parseSample)
	keeps, badKeeps := perTenant("keep-receipts (ANNALS_KEEP_RECEIPTS)", s.KeepReceipts, "0s", parseKeep)
	o.Retention, o.Tenants = receipts.Retention{Keep: keeps[""], Sample: samples[""]}, map[string]receipts.Retention{}
	for tenant, sample := range samples {
		o.Tenants[tenant] = receipts.Retention{Keep: o.Keep, Sample: sample}
	}
	for tenant, keep := range keeps {
		own, has := o.Tenants[tenant]
		if !has {
			own = o.Retention
		}
		own.Keep = keep
		o.Tenants[tenant] = own
	}
	return o, errors.Join(badSamples, badKeeps)
}

// perTenant are the values of a setting, by the tenants that have their own. That of all others has no name.
func perTenant[T any](
	setting string, given []string, missing string, parse func(string) (T, error),
) (values map[string]T, err error) {
	var errs []error
	values = map[string]T{}
	for i, one := range append([]string{missing}, given...) {
		tenant, value, own := strings.Cut(one, "=")
		if !own {
			tenant, value = "", one
		}
		parsed, err := parse(value)
		_, twice := values[tenant]
		twice = twice && (own || i > 1)
		switch {
		case err != nil:
			err = fmt.Errorf("%s %w, not %q", setting, err, one)
		case own && !domain.IsTenantName(tenant):
			err = fmt.Errorf("%s: a tenant cannot have the name of %q", setting, one)
		case twice:
			err = fmt.Errorf("%s: %q is a second setting for the same", setting, one)
		}
		values[tenant], errs = parsed, append(errs, err)
	}
	return values, errors.Join(errs...)
}

// parseSample is of how many answers one has a receipt; less than 0 for none.
func parseSample(value string) (n int, err error) {
	switch value {
	case "off":
		return -1, nil
	case "on":
		return 1, nil
	}
	if sample, is := strings.CutPrefix(value, "sample:"); is {
		n, err = strconv.Atoi(sample)
	}
	if err != nil || n < 1 {
		return 0, errors.New("must be on, off, or sample:N with a number from 1, also as TENANT=off")
	}
	return n, nil
}

func parseKeep(value string) (time.Duration, error) {
	keep, err := time.ParseDuration(value)
	if err != nil || keep < 0 {
		return 0, errors.New("must be a time such as 4320h, also as TENANT=8760h")
	}
	return keep, nil
}

// openReceipts keeps receipts of answers, and offers them. Without new ones, those that there are stay and expire.
func openReceipts(ctx context.Context, c *core) (part, error) {
	options, err := c.cfg.retention()
	if err != nil {
		return part{}, err
	}
	options.Primary = offered[receipts.Primary](c)
	off := options.Gives() && c.db.Standby() && options.Primary == nil
	if off {
		options.Retention, options.Tenants = receipts.Retention{Keep: options.Keep, Sample: -1}, nil
	}
	options.DB, options.Log, options.Items, options.Scrub = c.db, c.log, c.knowledge.Browser, c.entrance
	options.Ranking, options.Registerer, options.Logger = terminal.Version().Version, c.registry, c.logger
	kept := receipts.New(ctx, options)
	c.eraser.Questions = kept
	room := httpreceipts.Room{
		Receipts: kept, Reader: present{c}, Searcher: c.knowledge.Searcher, Browser: c.knowledge.Browser,
		Prover: offered[httpreceipts.Prover](c),
		Rights: func(ctx context.Context, tenant string, of domain.Subscription) (domain.Principal, error) {
			return c.api.Callers.RightsOf(ctx, tenant, of)
		},
	}
	p := part{
		run: []func(context.Context){kept.Run}, offers: []any{kept}, rooms: []annalshttp.Room{room},
		api: func(api *annalshttp.Config) {
			if options.Gives() {
				api.Recorder = kept
			} else if off && c.primary != nil {
				api.Recorder = offered[*receipts.Receipts](c.primary)
			}
		},
	}
	if options.Primary != nil { // a standby has receipts, too
		p.reads, p.run = p.run, nil
	}
	if off && c.primary == nil {
		p.probes = []operate.Probe{{Name: "receipts", Beside: true, Check: func(context.Context) error {
			return errors.New("answers have no receipts: this server reads a standby")
		}}}
	}
	return p, nil
}
