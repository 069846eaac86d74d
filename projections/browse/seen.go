package browse

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// Gathering decides when a walk below a directory reads the principal's scopes and owners instead of the directory.
// That is faster where most items are hidden from the principal.
type Gathering struct {
	Below int64 // gather if at least this many items lie below the directory, visible or not
	Seen  int64 // and if the principal sees at most this many anywhere
	Bytes int   // stop after reading this many bytes of contents; the last content may exceed it
}

// Beyond these, either way is about as long.
const (
	gatheredBelow = 5000
	gatheredSeen  = 20_000
	gatheredBytes = 8 << 20
)

// gathers tells whether to gather what a principal sees below a directory, after a URI.
func (p view) gathers(ctx context.Context, by domain.Principal, directory, after domain.URI) (yes bool, err error) {
	if by.SeesAll() {
		return false, nil
	}
	upTo := func(most int64, query *bun.SelectQuery) *bun.SelectQuery {
		return p.DB.NewSelect().ColumnExpr("count(*)").TableExpr("(?) AS part", query.ColumnExpr("1").Limit(most))
	}
	below := p.below(p.DB.NewSelect().TableExpr("?", p.IndexHint("uri")), by.Tenant, directory, behind(after))
	err = p.DB.NewSelect().ColumnExpr("CASE WHEN (?) < ? THEN FALSE ELSE (?) + (?) <= ? END",
		upTo(p.gathered.Below, below), p.gathered.Below,
		upTo(p.gathered.Seen+1, p.sharedSome(by)), upTo(p.gathered.Seen+1, p.ownedSome(by)), p.gathered.Seen).Scan(ctx, &yes)
	if err != nil {
		return false, rows.Failed(ctx, "count what may be seen", err)
	}
	return yes, nil
}

func (p view) sharedSome(by domain.Principal) *bun.SelectQuery {
	return p.DB.NewSelect().TableExpr("? AS s", p.Tables.Scopes).
		Where("s.tenant = ?", by.Tenant).Where("s.scope IN (?)", bun.List(rows.ScopesOf(by)))
}

func (p view) ownedSome(by domain.Principal) *bun.SelectQuery {
	return p.DB.NewSelect().TableExpr("?", p.IndexHint("owner")).
		Where("k.tenant = ?", by.Tenant).Where("k.owner IN (?)", bun.List(by.Entities()))
}

// gather lets a query select from the items k that a principal may see, each looked up by its number.
func (p view) gather(query *bun.SelectQuery, by domain.Principal) *bun.SelectQuery {
	// UNION would let SQLite read the whole table in the order of numbers.
	seen := p.DB.NewSelect().Distinct().ColumnExpr("number").TableExpr("(?) AS part",
		p.sharedSome(by).ColumnExpr("s.number").UnionAll(p.ownedSome(by).ColumnExpr("k.number")))
	if p.IsPostgres() {
		return query.ModelTableExpr("(?) AS seen CROSS JOIN LATERAL (SELECT * FROM ? AS k WHERE k.tenant = ? AND k.number "+
			"= seen.number OFFSET 0) AS k",
			seen, p.Tables.Knowledge, by.Tenant)
	}
	return query.ModelTableExpr("(?) AS seen CROSS JOIN ?", seen, p.IndexHint("number")).Where("k.number = seen.number")
}

// below narrows the items k to live ones below a directory, and after a URI unless that is nil. It sets one lower
// bound only: of several, SQLite may begin at the lowest.
func (p view) below(query *bun.SelectQuery, tenant string, directory domain.URI, after any) *bun.SelectQuery {
	prefix := rows.Beginning(directory)
	query = query.Where("k.tenant = ?", tenant).Where("k."+rows.Live).Where("k.uri < ?", prefix+rows.LastCharacter)
	if after == nil {
		return query.Where("k.uri >= ?", prefix)
	}
	return query.Where("k.uri > ?", after)
}

// behind is the lower bound of URIs after this one; nil for none.
func behind(after domain.URI) any {
	if after == "" {
		return nil
	}
	return after
}

// behindAll is the lower bound after an entry of a directory, and after everything below it if it is a directory.
func behindAll(place domain.DirectoryEntry) any {
	if place.IsDir {
		return string(place.URI) + "/" + rows.LastCharacter
	}
	return behind(place.URI)
}

// firsts selects the first URI of each entry of a directory from the gathered items, as steps does from all items.
func (p view) firsts(d domain.Directory) *bun.SelectQuery {
	found := p.below(p.gather(p.DB.NewSelect().Model((*rows.Row)(nil)), d.By), d.By.Tenant, d.URI, behindAll(d.After)).
		Where("k.status = ?", domain.Active).ColumnExpr("k.uri")
	return p.DB.NewSelect().ColumnExpr("min(e.uri) AS uri").TableExpr("(?) AS e", found).
		GroupExpr(p.entry(d.URI, "e.uri", "''")).OrderExpr("1").Limit(int64(d.Limit))
}
