package erasure

import (
	"context"
	"encoding/json"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// Files tells which erased data the files of the database still have, and rewrites them.
type Files struct {
	DB  *database.DB
	Now func() time.Time
}

// purgeRow is a purge as it is kept.
type purgeRow struct {
	bun.BaseModel `bun:"table:purges,alias:s"`

	BeganAt  database.Time `bun:"began_at"`
	EndedAt  database.Time `bun:"ended_at"`
	Complete bool          `bun:"complete"`
	Report   string        `bun:"report"`
}

// Erasures tells what was erased in a caller's tenant, and whether the files still have some of it. For the operator
// it covers the files of every tenant.
func (p Files) Erasures(ctx context.Context, by domain.Principal) (domain.ErasureStatus, error) {
	whose := by.Tenant
	if by.IsOperator() {
		whose = ""
	}
	s, err := p.Unpurged(ctx, whose)
	if err == nil {
		err = p.DB.NewSelect().TableExpr("erasures").
			ColumnExpr("coalesce(sum(CASE WHEN redaction THEN 0 ELSE 1 END), 0), coalesce(sum(texts), 0)").
			Where("tenant = ?", by.Tenant).Scan(ctx, &s.Erasures, &s.Texts)
	}
	if err == nil {
		s.Kept, err = database.RetainedCopies(ctx, p.DB)
	}
	if err != nil {
		return s, rows.Failed(ctx, "read the erasures", err)
	}
	return s, nil
}

// Unpurged tells when the files were last rewritten, and what erased data of a tenant they still have. Without a name
// it covers every tenant.
func (p Files) Unpurged(ctx context.Context, tenant string) (domain.ErasureStatus, error) {
	if tenant == "" {
		ctx = database.ForEveryTenant(ctx)
	}
	var s domain.ErasureStatus
	var list []purgeRow
	err := p.DB.NewSelect().Model(&list).OrderExpr("began_at DESC").Limit(1).Scan(ctx)
	if err == nil && len(list) > 0 {
		r := list[0]
		s.Last = &domain.Purge{BeganAt: r.BeganAt.Time, EndedAt: r.EndedAt.Time, Complete: r.Complete}
		err = json.Unmarshal([]byte(r.Report), &s.Last.Notes)
	}
	if err == nil {
		s.ForOwner, err = database.OwnersPurge(ctx, p.DB)
	}
	if s.Last != nil && !s.Last.Complete {
		s.Last.ForOwner = s.ForOwner
	}
	var oldest database.Time
	if err == nil {
		err = p.DB.NewSelect().TableExpr("erasures").ColumnExpr("coalesce(sum(texts), 0), min(erased_at)").
			Where("? = '' OR tenant = ?", tenant, tenant).
			Where("NOT EXISTS (SELECT 1 FROM purges AS s WHERE s.complete AND s.began_at > erased_at)").
			Scan(ctx, &s.Unpurged, &oldest)
	}
	if err != nil {
		return s, rows.Failed(ctx, "read the purges", err)
	}
	s.Oldest = oldest.Time
	return s, nil
}

// PurgeFiles rewrites the database's files, so that nothing erased before remains in them.
func (p Files) PurgeFiles(ctx context.Context) (domain.Purge, error) {
	s, err := PurgeFiles(ctx, p.DB, p.Now)
	if err != nil {
		return s, rows.Failed(ctx, "purge", err)
	}
	return s, nil
}

// PurgeFiles does the same in the role that opened the database. That may be the owner of the tables, if the server's
// role owns none.
func PurgeFiles(ctx context.Context, db *database.DB, now func() time.Time) (s domain.Purge, err error) {
	s.BeganAt = now().UTC().Truncate(time.Microsecond)
	if s.Notes, s.Complete, err = database.Purge(ctx, db); err != nil {
		return s, err
	}
	if !s.Complete {
		if s.ForOwner, err = database.OwnersPurge(ctx, db); err != nil {
			return s, err
		}
	}
	s.EndedAt = now().UTC().Truncate(time.Microsecond)
	report, err := json.Marshal(s.Notes)
	if err != nil {
		return s, err
	}
	return s, db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewInsert().Model(&purgeRow{
			BeganAt: database.At(s.BeganAt), EndedAt: database.At(s.EndedAt), Complete: s.Complete, Report: string(report),
		}).Exec(ctx)
		return err
	})
}
