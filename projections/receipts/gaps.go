package receipts

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/annals-kb/annals/database"
)

// Gap is a range of receipts that were given, or may have been, and are not kept.
type Gap struct {
	Run         int64
	First, Last int64     // sequence numbers; Last is 0 if it is not known how many were given
	After       time.Time // of the receipt before; zero if there is none
	Server      string    // that gave them
}

func (g Gap) String() string {
	switch {
	case g.Last == 0 && g.First == 1:
		return fmt.Sprintf("run %d did not end by itself: its receipts may be lost", g.Run)
	case g.Last == 0:
		return fmt.Sprintf("receipts after %s may be lost: the run did not end by itself", idOf(g.Run, g.First-1))
	case g.First == g.Last:
		return fmt.Sprintf("%s was lost", idOf(g.Run, g.First))
	}
	return fmt.Sprintf("%s to %s were lost", idOf(g.Run, g.First), idOf(g.Run, g.Last))
}

// silentAfter is how long after its last sign a run that did not end counts as killed.
const silentAfter = 3 * time.Minute

// run is a row of receipt_runs.
type run struct {
	Run    int64         `bun:"run"`
	Server string        `bun:"server"`
	Began  database.Time `bun:"began_at"`
	Seen   database.Time `bun:"seen_at"`
	Ended  database.Time `bun:"ended_at"`
	Lasts  string        `bun:"lasts"`
}

// Gaps are the receipts of a tenant that were lost, in the order of their runs: dropped, or not written when a server
// was killed. Expired receipts are no gap.
func (r *Receipts) Gaps(ctx context.Context, tenant string) ([]Gap, error) {
	if err := r.Flush(ctx); err != nil {
		return nil, err
	}
	var runs []run
	err := r.db.NewRaw(`
		SELECT run, server, began_at, seen_at, ended_at, lasts
		FROM receipt_runs
		ORDER BY run`).Scan(ctx, &runs)
	if err != nil {
		return nil, failed(ctx, err)
	}
	var all []Gap
	for _, of := range runs {
		gaps, err := r.gapsOf(ctx, tenant, of)
		if err != nil {
			return nil, err
		}
		all = append(all, gaps...)
	}
	return all, nil
}

// gapsOf are the gaps of a run.
func (r *Receipts) gapsOf(ctx context.Context, tenant string, of run) (gaps []Gap, err error) {
	var pages []page
	err = r.db.NewSelect().Model(&pages).Column("tenant", "run", "first", "last", "receipts", "to_at").
		Where("p.tenant = ?", tenant).Where("p.run = ?", of.Run).OrderExpr("p.first").Scan(ctx)
	if err != nil {
		return nil, failed(ctx, err)
	}
	next, after := int64(1), time.Time{}
	lost := func(first, last int64) {
		if first <= last {
			gaps = append(gaps, Gap{of.Run, first, last, after, of.Server})
		}
	}
	if len(pages) > 0 && of.Began.Before(r.expired(tenant)) { // the first ones may have expired
		next = pages[0].First
	}
	for _, p := range pages {
		lost(next, p.First-1)
		if next = p.Last + 1; p.Receipts < p.Last-p.First+1 {
			sequences, err := r.numbersIn(ctx, p)
			if err != nil {
				return nil, err
			}
			for i := 1; i < len(sequences); i++ {
				lost(sequences[i-1]+1, sequences[i]-1)
			}
		}
		after = p.To.Time
	}
	switch {
	case !of.Ended.IsZero():
		lasts := map[string]int64{}
		if err := json.Unmarshal([]byte(of.Lasts), &lasts); err != nil { // somebody has changed it
			return append(gaps, Gap{of.Run, next, 0, after, of.Server}), nil
		}
		if len(pages) > 0 || !of.Ended.Before(r.expired(tenant)) {
			lost(next, lasts[tenant])
		}
	case len(pages) == 0 && r.options.retention(tenant).Sample < 0:
	case of.Run != r.current() && r.options.Clock().Sub(of.Seen.Time) > silentAfter && !of.Seen.Before(r.expired(tenant)):
		gaps = append(gaps, Gap{of.Run, next, 0, after, of.Server})
	}
	return gaps, nil
}

// numbersIn are the sequence numbers in a page.
func (r *Receipts) numbersIn(ctx context.Context, p page) (numbers []int64, err error) {
	var found []page
	err = r.db.NewSelect().Model(&found).Column("tenant", "run", "first", "data").Where("p.tenant = ?", p.Tenant).
		Where("p.run = ?", p.Run).Where("p.first = ?", p.First).Scan(ctx)
	if err != nil {
		return nil, failed(ctx, err)
	}
	for i := range found {
		all, err := found[i].receipts()
		if err != nil {
			return nil, err
		}
		for _, one := range all {
			numbers = append(numbers, one.Sequence)
		}
	}
	return numbers, nil
}
