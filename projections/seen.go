package projections

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
)

// gathering is when what a principal sees below a directory is gathered from the scopes and owners that it belongs to, rather
// than looked for among all that lies there: where there is much that it may not see.
type gathering struct {
	below int64 // from so many items below a directory on, seen or not
	seen  int64 // and while it sees no more than so many anywhere
	bytes int   // of contents that are read at once; what goes beyond them is the last
}

// Beyond these, either way is about as long.
const (
	gatheredBelow = 5000
	gatheredSeen  = 20_000
	gatheredBytes = 8 << 20
)

// gathers tells whether what a principal sees below a directory, and after a place, is to be gathered.
func (p *Knowledge) gathers(ctx context.Context, by domain.Principal, directory, after domain.URI) (yes bool, err error) {
	if by.SeesAll() {
		return false, nil
	}
	upTo := func(most int64, query *bun.SelectQuery) *bun.SelectQuery {
		return p.db.NewSelect().ColumnExpr("count(*)").TableExpr("(?) AS part", query.ColumnExpr("1").Limit(most))
	}
	below := p.below(p.db.NewSelect().TableExpr("?", p.indexHint("uri")), by.Tenant, directory, behind(after))
	err = p.db.NewSelect().ColumnExpr("CASE WHEN (?) < ? THEN FALSE ELSE (?) + (?) <= ? END",
		upTo(p.gathered.below, below), p.gathered.below,
		upTo(p.gathered.seen+1, p.sharedSome(by)), upTo(p.gathered.seen+1, p.ownedSome(by)), p.gathered.seen).Scan(ctx, &yes)
	if err != nil {
		return false, p.failed(ctx, "count what may be seen", err)
	}
	return yes, nil
}

func (p *Knowledge) sharedSome(by domain.Principal) *bun.SelectQuery {
	return p.db.NewSelect().TableExpr("? AS s", p.tables().scopes).
		Where("s.tenant = ?", by.Tenant).Where("s.scope IN (?)", bun.List(scopesOf(by)))
}

func (p *Knowledge) ownedSome(by domain.Principal) *bun.SelectQuery {
	return p.db.NewSelect().TableExpr("?", p.indexHint("owner")).
		Where("k.tenant = ?", by.Tenant).Where("k.owner IN (?)", bun.List(by.Entities()))
}

// gather lets a query select from the items k that a principal may see, each looked up by its number.
func (p *Knowledge) gather(query *bun.SelectQuery, by domain.Principal) *bun.SelectQuery {
	// Not a UNION, for which SQLite would rather read all that there is in the order of numbers.
	seen := p.db.NewSelect().Distinct().ColumnExpr("number").TableExpr("(?) AS part",
		p.sharedSome(by).ColumnExpr("s.number").UnionAll(p.ownedSome(by).ColumnExpr("k.number")))
	if p.isPostgres() {
		return query.ModelTableExpr("(?) AS seen CROSS JOIN LATERAL (SELECT * FROM ? AS k WHERE k.tenant = ? AND k.number = seen.number OFFSET 0) AS k",
			seen, p.tables().knowledge, by.Tenant)
	}
	return query.ModelTableExpr("(?) AS seen CROSS JOIN ?", seen, p.indexHint("number")).Where("k.number = seen.number")
}

// below narrows the items k to the live ones below a directory; unless that is nil, behind a URI in it. That is the only lower bound:
// of several, SQLite may begin at the lowest.
func (p *Knowledge) below(query *bun.SelectQuery, tenant string, directory domain.URI, after any) *bun.SelectQuery {
	prefix := beginning(directory)
	query = query.Where("k.tenant = ?", tenant).Where("k."+isLive).Where("k.uri < ?", prefix+last)
	if after == nil {
		return query.Where("k.uri >= ?", prefix)
	}
	return query.Where("k.uri > ?", after)
}

// behind is where to begin.
func behind(after domain.URI) any {
	if after == "" {
		return nil
	}
	return after
}

// behindAll is where to begin behind a place in a directory, and everything below it if that is a directory, too.
func behindAll(place domain.DirectoryEntry) any {
	if place.IsDir {
		return string(place.URI) + "/" + last
	}
	return behind(place.URI)
}

// firsts selects the first URI of each entry of a directory from what is gathered, as steps does from all.
func (p *Knowledge) firsts(d domain.Directory) *bun.SelectQuery {
	found := p.below(p.gather(p.db.NewSelect().Model((*row)(nil)), d.By), d.By.Tenant, d.URI, behindAll(d.After)).
		Where("k.status = ?", domain.Active).ColumnExpr("k.uri")
	return p.db.NewSelect().ColumnExpr("min(e.uri) AS uri").TableExpr("(?) AS e", found).
		GroupExpr(p.entry(d.URI, "e.uri", "''")).OrderExpr("1").Limit(int64(d.Limit))
}
