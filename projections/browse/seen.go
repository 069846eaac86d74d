package browse

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
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

// gathers returns the numbers of what a principal sees, if what it sees below a directory, after a URI, should be
// gathered.
func (p view) gathers(
	ctx context.Context, by domain.Principal, directory, after domain.URI,
) (seen []uint32, yes bool, err error) {
	if by.SeesAll() {
		return nil, false, nil
	}
	below := p.below(p.DB.NewSelect().TableExpr("?", p.IndexHint("uri")), by.Tenant, directory, behind(after))
	err = p.DB.NewSelect().ColumnExpr("count(*) >= ?", p.gathered.Below).
		TableExpr("(?) AS part", below.ColumnExpr("1").Limit(p.gathered.Below)).Scan(ctx, &yes)
	if err != nil {
		return nil, false, rows.Failed(ctx, "count what may be seen", err)
	}
	if !yes {
		return nil, false, nil
	}
	chosen, err := p.chosen(ctx, by, domain.Filter{}, words.SetsOfGroups)
	return chosen.ToArray(), int64(chosen.GetCardinality()) <= p.gathered.Seen, err
}

// gather lets a query select from the items k that a principal sees, each looked up by its number.
func (p view) gather(query *bun.SelectQuery, by domain.Principal, seen []uint32) *bun.SelectQuery {
	in := rows.Table{Engine: p.DB.Engine, Tenant: by.Tenant, Table: p.Tables.Knowledge, Alias: "k"}
	return p.Visible(rows.LookUp(query, in, rows.SingleKeys(seen), "number"), by)
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
func (p view) firsts(d domain.Directory, seen []uint32) *bun.SelectQuery {
	gathered := p.gather(p.DB.NewSelect(), d.By, seen)
	found := p.below(gathered, d.By.Tenant, d.URI, behindAll(d.After)).
		Where("k.status = ?", domain.Active).ColumnExpr("k.uri")
	return p.DB.NewSelect().ColumnExpr("min(e.uri) AS uri").TableExpr("(?) AS e", found).
		GroupExpr(p.entry(d.URI, "e.uri", "''")).OrderExpr("1").Limit(int64(d.Limit))
}
