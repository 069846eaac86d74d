package serve

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/database"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/operate"
	"github.com/annals-kb/annals/http/standby"
)

// replicating are the settings of a server that reads a standby.
type replicating struct {
	// ReadDatabase is a standby that answers what only reads, in the process of the primary's server.
	ReadDatabase string `group:"where" name:"read-database" env:"DATABASE_READ_URL" placeholder:"URL"`

	// PrimaryURL is the server of the primary, which gets the writes.
	PrimaryURL string `group:"where" name:"primary-url" env:"ANNALS_PRIMARY_URL" placeholder:"URL"`

	// MaxLag is how far the standby may be behind while the server is ready. 0 for no limit.
	MaxLag time.Duration `group:"limits" name:"max-lag" env:"ANNALS_MAX_LAG" default:"1m"`
}

func checkStandby(c Config) error {
	var problems []error
	if _, err := c.primary(); err != nil {
		problems = append(problems, err)
	}
	if c.MaxLag < 0 {
		problems = append(problems, errors.New("max-lag (ANNALS_MAX_LAG) must not be negative"))
	}
	_, isFile := SqliteFile(c.Database)
	_, readsFile := SqliteFile(c.ReadDatabase)
	if isFile && c.PrimaryURL != "" {
		problems = append(problems, errors.New("primary-url (ANNALS_PRIMARY_URL) is for PostgreSQL: SQLite has no standby"))
	}
	if (isFile || readsFile) && c.ReadDatabase != "" {
		problems = append(problems, errors.New("read-database (DATABASE_READ_URL) is for PostgreSQL: SQLite has no standby"))
	}
	return errors.Join(problems...)
}

// primary is the address of the primary's server; nil if none is set.
func (r replicating) primary() (*url.URL, error) {
	if r.PrimaryURL == "" {
		return nil, nil
	}
	at, err := url.Parse(r.PrimaryURL)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.User != nil ||
		at.RawQuery != "" || at.Fragment != "" {
		return nil, errors.New("primary-url (ANNALS_PRIMARY_URL) must be http:// or https://, a host, and no parameters")
	}
	return at, nil
}

// replica watches the role of the database, and how far a standby follows.
type replica struct {
	core  *core
	state atomic.Pointer[database.Replay]
	lost  atomic.Bool // the database did not answer the last time
}

var lag = prometheus.GaugeOpts{
	Name: "annals_replica_lag_seconds", Help: "How far the standby that this server reads is behind its primary.",
}

// openStandby forwards the writes of a standby's server, and lets the service give way when the role changes.
func openStandby(_ context.Context, c *core) (part, error) {
	if c.db.Engine != database.Postgres {
		return part{}, nil
	}
	primary, err := c.cfg.primary()
	if err != nil {
		return part{}, err
	}
	key, err := c.key.Derive("annals batches of standbys")
	if err != nil {
		return part{}, err
	}
	r := &replica{core: c}
	r.state.Store(&database.Replay{Standby: c.db.Standby()})
	p := part{
		reads:  []func(context.Context){c.every(time.Second, "look at the role of the database", r.look)},
		offers: []any{r},
	}
	forwarder := &standby.Forwarder{
		Primary: primary, Database: c.db.ID(), Key: key, Logger: c.logger,
		Await: func(ctx context.Context, tenant string, position int64) error {
			_, err := c.log.Watchers.AwaitHead(ctx, tenant, position)
			return err
		},
	}
	if to := (toPrimary{forwarder, r}); primary != nil && c.primary == nil {
		p.offers = append(p.offers, to)
		if c.db.Standby() {
			p.reads = append(p.reads, c.writeUses(to.writeUses))
		}
	}
	if !c.db.Standby() {
		p.api = func(api *annalshttp.Config) { api.Mounts = append(api.Mounts, r.batches(key)) }
		return p, nil
	}
	p.api = func(api *annalshttp.Config) { api.Elsewhere = forwarder.Elsewhere }
	p.probes = []operate.Probe{{Name: "replica", Check: r.check}}
	if primary != nil {
		p.probes = append(p.probes, operate.Probe{Name: "primary", Beside: true, Check: forwarder.Check})
	}
	c.registry.MustRegister(prometheus.NewGaugeFunc(lag, func() float64 { return r.state.Load().Lag.Seconds() }))
	return p, nil
}

// Replica is the role at the start of the service, and the newest lag.
func (r *replica) Replica() (id, role string, lag time.Duration) {
	return r.core.db.ID(), r.core.db.Role(), r.state.Load().Lag
}

// look reads the role and the lag. The service gives way if the role is another than at its start.
func (r *replica) look(ctx context.Context) error {
	now, err := r.core.db.Replay(ctx)
	r.lost.Store(err != nil)
	if err != nil {
		return err
	}
	r.state.Store(&now)
	if now.Standby != r.core.db.Standby() {
		r.core.giveWay()
	}
	return nil
}

// trouble is why the standby should not be asked.
func (r *replica) trouble() error {
	if r.lost.Load() {
		return errors.New("the standby does not answer")
	}
	return r.check(context.Background())
}

// check fails if the standby is too far behind.
func (r *replica) check(context.Context) error {
	now, most := r.state.Load(), r.core.cfg.MaxLag
	if most == 0 || now.Lag <= most {
		return nil
	}
	why := ""
	if now.Why != "" {
		why = ": " + now.Why
	}
	return fmt.Errorf("the standby is %s behind its primary, and ANNALS_MAX_LAG is %s%s",
		now.Lag.Round(time.Second), most, why)
}
