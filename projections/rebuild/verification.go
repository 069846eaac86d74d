package rebuild

import (
	"context"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

// verification is a verification in progress. It reads one tenant after the other, in slices. Each transaction of its
// snapshot reads one slice at a time.
type verification struct {
	catalogue *catalogue.Catalogue
	new       catalogue.Version
	old       *catalogue.Version // nil to compare with the log alone
	snapshot  database.Snapshot
	tx        bun.Tx            // the first of the snapshot
	log       events.Snapshot   // as tx sees it
	compared  func(items int64) // may be called concurrently

	report   domain.RebuildReport
	sums     map[string]uint64 // by table
	inTerms  int64             // rows of the index of terms
	searches searchSample
}

// maxWrong is how many wrong rows a report shows.
const maxWrong = 20

// addWrong notes which row differs from the log, without what people wrote.
func (e *verification) addWrong(format string, values ...any) {
	if len(e.report.Wrong) < maxWrong {
		e.report.Wrong = append(e.report.Wrong, fmt.Sprintf(format, values...))
	}
}

func (e *verification) run(ctx context.Context) error {
	var heads []head
	err := e.tx.NewRaw("SELECT tenant, count(*) AS events, max(position) AS position FROM events GROUP BY tenant ORDER "+
		"BY tenant").Scan(ctx, &heads)
	if err != nil {
		return rows.Failed(ctx, "read the heads", err)
	}
	for _, h := range heads {
		if h.Events != h.Position {
			e.addWrong("tenant %s: %d events are missing from the log", h.Tenant, h.Position-h.Events)
		}
		if err := e.tenant(ctx, h); err != nil {
			return err
		}
	}
	if err := e.orphans(ctx); err != nil {
		return err
	}
	for table, sum := range e.sums {
		e.report.Checksums[table] = fmt.Sprintf("%016x", sum)
	}
	return nil
}

// head is the end of a tenant's log.
type head struct {
	Tenant   string `bun:"tenant"`
	Events   int64  `bun:"events"`
	Position int64  `bun:"position"`
}

// How many streams are compared at a time, and how many bytes they may have.
const (
	firstPage = 500
	maxPage   = 4000
	pageBytes = 8 << 20
)

func (e *verification) tenant(ctx context.Context, h head) error {
	words, erased, err := e.slices(ctx, h)
	if err != nil {
		return err
	}
	if err := e.words(ctx, h.Tenant, words); err != nil {
		return err
	}
	if err := e.sessions(ctx, h, erased); err != nil {
		return err
	}
	return e.texts(ctx, h, erased)
}

// readActive reads the active version. While that is repaired, reading may fail; then the transaction continues
// without it.
func (e *verification) readActive(ctx context.Context, tx bun.IDB, read func() error) (unread bool, err error) {
	if !e.report.Repair {
		return false, read()
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT active"); err != nil {
		return false, err
	}
	if err = read(); err == nil || ctx.Err() != nil || errors.Is(err, domain.ErrUnavailable) {
		return false, err
	}
	_, err = tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT active")
	return true, err
}

// orphans looks for rows that belong to no item of any tenant.
func (e *verification) orphans(ctx context.Context) error {
	seen := map[bun.Ident]int64{
		e.new.Tables.Knowledge: e.report.Rows["knowledge"], e.new.Tables.Scopes: e.report.Rows["scopes"],
		e.new.Tables.Terms: e.inTerms, e.new.Tables.Votes: e.report.Rows["votes"],
		e.new.Tables.Reports: e.report.Rows["reports"],
	}
	for _, table := range e.new.Tables.All() {
		var list int64
		if err := e.tx.NewRaw("SELECT count(*) FROM ?", table).Scan(ctx, &list); err != nil {
			return rows.Failed(ctx, "count rows", err)
		}
		if list != seen[table] {
			e.addWrong("%s: %d rows belong to no item", table, list-seen[table])
		}
	}
	return nil
}
