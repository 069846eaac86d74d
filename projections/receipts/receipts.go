package receipts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// Options configure the receipts. Zero values mean the defaults.
type Options struct {
	DB      *database.DB
	Log     *events.Log
	Items   Items
	Scrub   Scrubber // nil to keep questions as they were asked
	Ranking string   // the version of the ranking of searches
	Retention
	Tenants map[string]Retention // of those that differ
	Primary Primary              // nil if batches are always written to the database
	// Registerer registers the metrics; nil for none.
	Registerer prometheus.Registerer
	Logger     *slog.Logger     // default: slog.Default
	Clock      func() time.Time // default: that of the log
}

// Retention is which answers of a tenant have receipts, and for how long these are kept.
type Retention struct {
	Keep   time.Duration // 0 for ever
	Sample int           // one in so many answers has a receipt, and each denial; default: 1; below 0 for none
}

// retention is that of a tenant.
func (o *Options) retention(tenant string) Retention {
	if own, differs := o.Tenants[tenant]; differs {
		return own
	}
	return o.Retention
}

// Gives tells whether some answers have receipts.
func (o *Options) Gives() bool {
	for _, own := range o.Tenants {
		if own.Sample >= 0 {
			return true
		}
	}
	return o.Sample >= 0
}

// Items are the items as they are now.
type Items interface {
	// Items returns items by their ids. It leaves out those that cannot be read.
	Items(ctx context.Context, tenant string, ids []string) (map[string]*domain.Knowledge, error)
}

// Scrubber takes secrets out of questions.
type Scrubber interface {
	Clean(ctx context.Context, tenant, text string) (string, error)
}

// Receipts gives and keeps receipts. It is safe for concurrent use.
type Receipts struct {
	db      *database.DB
	log     *events.Log
	options Options

	mu        sync.Mutex
	run       int64 // 0 until it has begun
	newest    time.Time
	sequences map[string]int64 // the last one of each tenant
	given     []*Receipt       // not taken by the writer yet
	waiting   int              // receipts that were given, and are not written yet
	wake      chan struct{}    // holds one token: there are enough receipts for a page

	writing   sync.Mutex // guards what follows, which is the writer's
	taken     []*Receipt // without their digests
	ready     []page     // to be written
	heads     map[string]int64
	histories histories

	recorded, dropped prometheus.Counter
	size              prometheus.Gauge
}

// New begins a run of receipts, unless it is to give none. If the database accepts no writes yet, [Receipts.Run] tries
// again; until then, answers have no receipts.
func New(ctx context.Context, o Options) *Receipts {
	o.Logger, o.Sample = cmp.Or(o.Logger, slog.Default()), cmp.Or(o.Sample, 1)
	if o.Clock == nil {
		o.Clock = o.Log.Options().Clock
	}
	factory := promauto.With(o.Registerer)
	r := &Receipts{
		db: o.DB, log: o.Log, options: o, sequences: map[string]int64{}, wake: make(chan struct{}, 1),
		heads: map[string]int64{}, histories: histories{},
		recorded: factory.NewCounter(prometheus.CounterOpts{
			Name: "annals_receipts_recorded_total", Help: "Receipts that were written.",
		}),
		dropped: factory.NewCounter(prometheus.CounterOpts{
			Name: "annals_receipts_dropped_total",
			Help: "Receipts that were dropped, because the database accepted no writes or was too slow.",
		}),
		size: factory.NewGauge(prometheus.GaugeOpts{
			Name: "annals_receipts_bytes", Help: "Disk space of the receipts of all tenants, as of the last hour.",
		}),
	}
	if err := r.begin(ctx); err != nil {
		o.Logger.WarnContext(ctx, "answers have no receipts yet", "error", err)
	}
	return r
}

// begin takes the next number for the run. Runs that only the log knows count, too: their pages may not have been
// restored with it.
func (r *Receipts) begin(ctx context.Context) error {
	if !r.options.Gives() {
		return nil
	}
	run, err := r.record(ctx, Batch{Server: r.db.InstanceID})
	if err != nil {
		return fmt.Errorf("begin a run of receipts: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.run = run
	return nil
}

// newRun writes that a run of a server begins.
func (r *Receipts) newRun(ctx context.Context, server string) (run int64, err error) {
	logged, err := r.loggedRun(ctx)
	if err != nil {
		return 0, err
	}
	const tries = 5 // several servers may begin at once
	for range tries {
		err = r.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
			if err := tx.QueryRowContext(ctx, "SELECT coalesce(max(run), 0) FROM receipt_runs").Scan(&run); err != nil {
				return err
			}
			run = max(run, logged) + 1
			now := database.At(r.options.Clock())
			_, err := tx.ExecContext(ctx, "INSERT INTO receipt_runs (run, server, began_at, seen_at) VALUES (?, ?, ?, ?)", run,
				server, now, now)
			return err
		})
		if err == nil || !errors.Is(err, database.ErrUnique) {
			break
		}
	}
	return run, err
}

// loggedRun is the last run whose receipts are sealed in a log.
func (r *Receipts) loggedRun(ctx context.Context) (last int64, err error) {
	tenants, err := r.log.Reader.Tenants(ctx)
	if err != nil || len(tenants) == 0 {
		return 0, err
	}
	var streams []string
	err = r.db.NewRaw("SELECT stream FROM streams WHERE tenant IN (?) AND "+events.OfKind("stream", domain.ReceiptStreams),
		bun.List(tenants)).Scan(ctx, &streams)
	for _, stream := range streams {
		run, _ := strconv.ParseInt(domain.ReceiptStreams.ID(stream), 10, 64)
		last = max(last, run)
	}
	return last, err
}

// Run writes receipts until ctx ends, and then the rest. It must be called once.
func (r *Receipts) Run(ctx context.Context) {
	const between, afterFailure, patience, ending = 250 * time.Millisecond, time.Second, 10 * time.Second, 5 * time.Second
	var upkeep sync.WaitGroup
	upkeep.Go(func() { r.keepUp(ctx) })
	tick := time.NewTicker(between)
	defer tick.Stop()
	tried := time.Now()
	for ctx.Err() == nil {
		select {
		case <-r.wake:
		case <-tick.C:
		case <-ctx.Done():
		}
		if r.current() == 0 && time.Since(tried) > patience {
			tried = time.Now()
			if err := r.begin(ctx); err != nil {
				r.options.Logger.WarnContext(ctx, "answers still have no receipts", "error", err)
			}
		}
		began := time.Now()
		wrote, err := r.write(ctx)
		if err != nil && ctx.Err() == nil {
			r.options.Logger.WarnContext(ctx, "receipts wait to be written", "error", err)
			select {
			case <-time.After(afterFailure):
			case <-ctx.Done():
			}
		}
		if wrote {
			r.log.Background().Yield(ctx, "", time.Since(began), between)
		}
	}
	upkeep.Wait()
	rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), ending)
	defer cancel()
	if err := r.end(rest); err != nil {
		r.options.Logger.WarnContext(ctx, "the last receipts were not written", "error", err)
	}
}

// current is the number of the run; 0 until it has begun.
func (r *Receipts) current() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.run
}

// end writes the rest, and notes what the last receipt of each tenant is.
func (r *Receipts) end(ctx context.Context) error {
	if _, err := r.write(ctx); err != nil {
		return err
	}
	r.mu.Lock()
	run, lasts := r.run, maps.Clone(r.sequences)
	r.run = 0
	r.mu.Unlock()
	if run == 0 {
		return nil
	}
	_, err := r.record(ctx, Batch{Run: run, Lasts: lasts})
	return err
}
