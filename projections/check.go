package projections

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// Checked is what a comparison of everything that is answered with the log came to.
type Checked struct {
	Version int   `json:"version"` // of knowledge, that readers read
	Items   int64 `json:"items"`
	// Wrong says where rows are not what the log gives, at most twenty times, and never what people wrote.
	Wrong []string `json:"wrong"`
}

// Check compares what a database answers from with what its log gives, read and folded anew: every row of the
// active version of knowledge, and what is kept about streams of other things. It reads one moment, writes
// nothing, and others go on meanwhile. Progress is told, now and then, how many items were compared and of how
// many; it may be nil. The error is about not being able to look, or about an event that cannot be folded.
func Check(ctx context.Context, db *database.DB, settings Settings, progress func(items, of int64)) (Checked, error) {
	settings = settings.withDefaults()
	p := newKnowledge(db, settings)
	moment, err := db.Moment(ctx, runtime.GOMAXPROCS(0))
	if err != nil {
		return Checked{}, err
	}
	defer moment.End()
	tx := moment.Transactions[0]
	active, err := p.activeIn(ctx, tx)
	if err != nil {
		return Checked{}, err
	}
	if active.foreign {
		return Checked{}, fmt.Errorf("version %d of knowledge was made by another program: %w", active.Version, domain.ErrConflict)
	}
	of, err := tx.NewSelect().TableExpr("?", active.tables.knowledge).Count(ctx)
	if err != nil {
		return Checked{}, p.failed(ctx, "count items", err)
	}
	var items float64
	var telling sync.Mutex
	e := &examination{
		knowledge: p, new: active, moment: moment, tx: tx, log: events.SnapshotOf(tx), sums: map[string]uint64{},
		report: domain.RebuildReport{Wrong: []string{}, Rows: map[string]int64{}, Checksums: map[string]string{}},
		compared: func(more float64) {
			telling.Lock()
			defer telling.Unlock()
			if items += more; progress != nil {
				done := int64(math.Round(items))
				progress(done, max(done, int64(of)))
			}
		},
	}
	if err := e.everything(ctx); err != nil {
		return Checked{}, err
	}
	if err := e.states(ctx); err != nil {
		return Checked{}, err
	}
	return Checked{Version: active.Version, Items: e.report.Items, Wrong: e.report.Wrong}, nil
}

// states compares what is kept about streams of other things than knowledge.
func (e *examination) states(ctx context.Context) error {
	tenants, err := tenantsWithStreams(ctx, e.tx)
	if err != nil {
		return e.knowledge.failed(ctx, "list tenants", err)
	}
	for _, tenant := range tenants {
		streams, err := e.log.CheckStates(ctx, tenant)
		if err != nil {
			return err
		}
		for _, stream := range streams {
			e.wrong("tenant %s, stream %s: what is kept about it is not what the log says", tenant, stream)
		}
	}
	return nil
}

// tenantsWithStreams are those with a log, and those of whom anything is kept.
func tenantsWithStreams(ctx context.Context, db bun.IDB) (tenants []string, err error) {
	err = db.NewRaw("SELECT tenant FROM events GROUP BY tenant UNION SELECT tenant FROM streams GROUP BY tenant ORDER BY tenant").Scan(ctx, &tenants)
	return tenants, err
}
