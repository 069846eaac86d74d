package receipts

import (
	"context"
	"fmt"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events/background"
)

// keepUp seals the receipts of past minutes, and deletes expired ones, until ctx ends.
func (r *Receipts) keepUp(ctx context.Context) {
	const between, perHour = time.Minute, 60
	tick := time.NewTicker(between)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if err := r.Seal(ctx); err != nil && ctx.Err() == nil {
			r.options.Logger.WarnContext(ctx, "receipts were not sealed; the next attempt is in a minute", "error", err)
		}
		if n%perHour > 0 || r.away() {
			continue
		}
		if err := r.Sweep(ctx); err != nil && ctx.Err() == nil {
			r.options.Logger.WarnContext(ctx, "old receipts were not deleted; the next attempt is in an hour", "error", err)
		}
		if bytes, err := r.Size(ctx); err == nil {
			r.size.Set(float64(bytes))
		}
	}
}

// Sweep deletes expired receipts. What seals them stays.
func (r *Receipts) Sweep(ctx context.Context) error {
	ctx = database.ForEveryTenant(ctx)
	var tenants []string
	err := r.db.NewRaw(`
		SELECT DISTINCT tenant
		FROM receipt_pages
		ORDER BY tenant`).Scan(ctx, &tenants)
	if err != nil {
		return failed(ctx, err)
	}
	for _, tenant := range tenants {
		if until := r.expired(tenant); !until.IsZero() {
			err = r.drop(ctx, tenant, " AND to_at < ?", database.At(until))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// expired is the time before which receipts of a tenant have expired; zero for none.
func (r *Receipts) expired(tenant string) time.Time {
	keep := r.options.retention(tenant).Keep
	if keep <= 0 {
		return time.Time{}
	}
	return r.options.Clock().Add(-keep)
}

// drop deletes the pages of a tenant that fulfil a condition, some at a time.
func (r *Receipts) drop(ctx context.Context, tenant, condition string, args ...any) error {
	const most = 200
	args = append(append([]any{tenant}, args...), most)
	for {
		began := time.Now()
		dropped, err := r.db.TransactOne(ctx, `
			DELETE FROM receipt_pages
			WHERE (tenant, run, first) IN (
				SELECT tenant, run, first
				FROM receipt_pages
				WHERE tenant = ?`+condition+`
				ORDER BY to_at
				LIMIT ?
			)`, args...)
		if err != nil {
			return fmt.Errorf("delete receipts: %w", err)
		}
		if dropped < most {
			return nil
		}
		r.log.Background().Yield(ctx, "", time.Since(began), background.LongestPause)
	}
}

// Size is how many bytes of disk the receipts of all tenants need.
func (r *Receipts) Size(ctx context.Context) (bytes int64, err error) {
	query := `
		SELECT coalesce(sum(s.pgsize), 0)
		FROM sqlite_schema AS t
		JOIN dbstat AS s ON s.name = t.name
		WHERE t.tbl_name = 'receipt_pages'`
	if r.db.Engine == database.Postgres {
		query = "SELECT pg_total_relation_size('receipt_pages')"
	}
	err = r.db.QueryRowContext(database.ForEveryTenant(ctx), query).Scan(&bytes)
	return bytes, failedOrNil(ctx, err)
}

func failedOrNil(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	return failed(ctx, err)
}
