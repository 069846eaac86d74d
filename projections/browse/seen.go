package browse

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// Gathering is when what a principal sees below a directory is gathered from the scopes and owners that it belongs
// to, rather than looked for among all that lies there: where there is much that it may not see.
type Gathering struct {
	Below int64 // from so many items below a directory on, seen or not
	Seen  int64 // and while it sees no more than so many anywhere
	Bytes int   // of contents that are read at once; what goes beyond them is the last
}

// Beyond these, either way is about as long.
const (
	gatheredBelow = 5000
	gatheredSeen  = 20_000
	gatheredBytes = 8 << 20
)

// gathers tells whether what a principal sees below a directory, and after a place, is to be gathered.
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
	// Not a UNION, for which SQLite would rather read all that there is in the order of numbers.
	seen := p.DB.NewSelect().Distinct().ColumnExpr("number").TableExpr("(?) AS part",
		p.sharedSome(by).ColumnExpr("s.number").UnionAll(p.ownedSome(by).ColumnExpr("k.number")))
	if p.IsPostgres() {
		return query.ModelTableExpr("(?) AS seen CROSS JOIN LATERAL (SELECT * FROM ? AS k WHERE k.tenant = ? AND k.number "+
			"= seen.number OFFSET 0) AS k",
			seen, p.Tables.Knowledge, by.Tenant)
	}
	return query.ModelTableExpr("(?) AS seen CROSS JOIN ?", seen, p.IndexHint("number")).Where("k.number = seen.number")
}

// below narrows the items k to the live ones below a directory; unless that is nil, behind a URI in it. That is the
// only lower bound: of several, SQLite may begin at the lowest.
func (p view) below(query *bun.SelectQuery, tenant string, directory domain.URI, after any) *bun.SelectQuery {
	prefix := rows.Beginning(directory)
	query = query.Where("k.tenant = ?", tenant).Where("k."+rows.Live).Where("k.uri < ?", prefix+rows.LastCharacter)
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
		return string(place.URI) + "/" + rows.LastCharacter
	}
	return behind(place.URI)
}

// firsts selects the first URI of each entry of a directory from what is gathered, as steps does from all.
func (p view) firsts(d domain.Directory) *bun.SelectQuery {
	found := p.below(p.gather(p.DB.NewSelect().Model((*rows.Row)(nil)), d.By), d.By.Tenant, d.URI, behindAll(d.After)).
		Where("k.status = ?", domain.Active).ColumnExpr("k.uri")
	return p.DB.NewSelect().ColumnExpr("min(e.uri) AS uri").TableExpr("(?) AS e", found).
		GroupExpr(p.entry(d.URI, "e.uri", "''")).OrderExpr("1").Limit(int64(d.Limit))
}
