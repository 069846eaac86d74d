package events

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/background"
)

// The settings for recording retrievals. Denials are always recorded.
const (
	RecordNone    = "off"
	RecordSampled = "sampled" // one in ten
	RecordAll     = "all"
)

// AccessOptions configure the recording of accesses.
type AccessOptions struct {
	Retrievals string        // one of the constants above; default: RecordNone
	Keep       time.Duration // for how long; 0 for ever
	Registerer prometheus.Registerer
	Logger     *slog.Logger // default: slog.Default
}

// Accesses records retrievals and denials. It writes in the background, so no caller waits. Accesses that cannot be
// written in time are dropped and counted. It is safe for concurrent use.
type Accesses struct {
	log     *Log
	options AccessOptions

	mu   sync.Mutex
	due  []domain.Access
	rows int           // rows of those accesses
	wake chan struct{} // holds one token: there are enough rows for a transaction

	recorded, dropped prometheus.Counter
}

const (
	mostDue     = 20_000 // rows that may wait
	accessBatch = 1_000  // rows a transaction
	sampledOne  = 10     // one in so many is recorded
)

// NewAccesses prepares the recording. [Accesses.Run] writes.
func NewAccesses(l *Log, o AccessOptions) *Accesses {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	factory := promauto.With(o.Registerer)
	return &Accesses{
		log: l, options: o, wake: make(chan struct{}, 1),
		recorded: factory.NewCounter(prometheus.CounterOpts{
			Name: "annals_accesses_recorded_total", Help: "Rows written to the log of accesses.",
		}),
		dropped: factory.NewCounter(prometheus.CounterOpts{
			Name: "annals_accesses_dropped_total",
			Help: "Rows that were due for the log of accesses and dropped, since writing them would have taken too long.",
		}),
	}
}

// Wants tells whether to record a retrieval.
func (a *Accesses) Wants() bool {
	switch a.options.Retrievals {
	case RecordAll:
		return true
	case RecordSampled:
		return rand.IntN(sampledOne) == 0
	}
	return false
}

// Record queues an access. It never waits.
func (a *Accesses) Record(access domain.Access) {
	rows := max(1, len(access.Items))
	a.mu.Lock()
	full := a.rows+rows > mostDue
	if !full {
		a.due, a.rows = append(a.due, access), a.rows+rows
	}
	enough := a.rows >= accessBatch
	a.mu.Unlock()
	if full {
		a.dropped.Add(float64(rows))
	}
	if enough {
		select {
		case a.wake <- struct{}{}:
		default:
		}
	}
}

// Run writes the queued accesses, every second or when there are enough, and deletes expired ones. When ctx ends, it
// writes the rest and returns.
func (a *Accesses) Run(ctx context.Context) {
	const between, sweeping, ending = time.Second, time.Hour, 5 * time.Second
	tick, sweep := time.NewTicker(between), time.NewTicker(sweeping)
	defer tick.Stop()
	defer sweep.Stop()
	a.sweep(ctx)
	for {
		select {
		case <-a.wake:
		case <-tick.C:
		case <-sweep.C:
			a.sweep(ctx)
		case <-ctx.Done():
			rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), ending)
			defer cancel()
			a.flush(rest)
			a.dropped.Add(float64(a.left()))
			return
		}
		a.flush(ctx)
	}
}

// flush writes the queued accesses in pieces, so that commands can be written in between.
func (a *Accesses) flush(ctx context.Context) {
	for {
		batch, rows := a.take()
		if len(batch) == 0 {
			return
		}
		began := time.Now()
		err := a.log.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error { return a.write(ctx, tx, batch) })
		if err != nil && ctx.Err() != nil { // the final flush writes it
			a.putBack(batch, rows)
			return
		}
		if err != nil {
			a.dropped.Add(float64(rows))
			a.options.Logger.WarnContext(ctx, "accesses were not recorded", "rows", rows, "error", err)
			return
		}
		a.recorded.Add(float64(rows))
		a.log.background.Yield(ctx, "", time.Since(began), background.LongestPause)
	}
}

// take removes as many accesses from the queue as fit into a transaction.
func (a *Accesses) take() (batch []domain.Access, rows int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for n < len(a.due) && rows < accessBatch {
		rows += max(1, len(a.due[n].Items))
		n++
	}
	batch = a.due[:n:n]
	a.due, a.rows = a.due[n:], a.rows-rows
	return batch, rows
}

// left is the number of rows that were not written.
func (a *Accesses) left() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.rows
}

func (a *Accesses) putBack(batch []domain.Access, rows int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.due, a.rows = append(batch, a.due...), a.rows+rows
}

func (a *Accesses) write(ctx context.Context, tx bun.IDB, batch []domain.Access) error {
	statement := []byte(`INSERT INTO accesses (
		tenant, access_id, rank, at, kind, route, status, actor, on_behalf_of, authentication,
		request_id, correlation_id, trace_id, item, score) VALUES `)
	first := true
	for _, access := range batch {
		id := accessID(access.At)
		items := access.Items
		if len(items) == 0 {
			items = []domain.Retrieved{{}}
		}
		for i, item := range items {
			if !first {
				statement = append(statement, ",\n"...)
			}
			first = false
			statement = database.AppendRow(statement, a.log.db.Engine, []any{
				access.Tenant, id.String(), i + 1, database.At(access.At), access.Kind, access.Route, access.Status,
				string(access.Actor), string(access.OnBehalfOf), access.Authentication, access.RequestID,
				access.CorrelationID, access.TraceID, item.ID, item.Score,
			})
		}
	}
	_, err := tx.ExecContext(ctx, "?", bun.Safe(statement))
	return err
}

// accessID is a UUIDv7 with this time.
func accessID(at time.Time) uuid.UUID {
	g := ids{}
	return g.next(at, true)
}

// sweep deletes expired accesses.
func (a *Accesses) sweep(ctx context.Context) {
	if a.options.Keep <= 0 {
		return
	}
	tenants, err := a.log.Reader.Tenants(ctx)
	until := uuid.UUID{}
	milliseconds := uint64(a.log.options.Clock().Add(-a.options.Keep).UnixMilli())
	for i := range 6 {
		until[i] = byte(milliseconds >> (40 - 8*i))
	}
	for _, tenant := range append(tenants, domain.DefaultTenant) {
		if err == nil {
			err = a.drop(ctx, tenant, until.String())
		}
	}
	if err != nil && ctx.Err() == nil {
		a.options.Logger.WarnContext(ctx, "old accesses were not deleted; the next attempt is in an hour", "error", err)
	}
}

func (a *Accesses) drop(ctx context.Context, tenant, until string) error {
	for {
		began, dropped := time.Now(), int64(0)
		err := a.log.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
			result, err := tx.ExecContext(ctx, `
				DELETE FROM accesses
				WHERE (tenant, access_id, rank) IN (
					SELECT tenant, access_id, rank
					FROM accesses
					WHERE tenant = ? AND access_id < ?
					ORDER BY tenant, access_id, rank
					LIMIT ?
				)`, tenant, until, accessBatch)
			if err == nil {
				dropped, err = result.RowsAffected()
			}
			return err
		})
		if err != nil || dropped < accessBatch {
			return err
		}
		a.log.background.Yield(ctx, "", time.Since(began), background.LongestPause)
	}
}
