package projections

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Directories are nowhere written down: they are what the URIs of the live items have in common, and the index
// that keeps those unique has them in order. What lies in a directory is found by stepping from one name
// to the next, however much lies below each.

// last comes after every character that a URI contains.
const last = "\U0010FFFF"

// At is the live item with this URI. Who may see it is for the caller to decide. The error matches
// [domain.ErrNotFound] if there is none, and [domain.ErrBroken] if its row cannot be read.
func (p *Knowledge) At(ctx context.Context, tenant string, uri domain.URI) (*domain.Knowledge, error) {
	if err := p.refresh(ctx); err != nil {
		return nil, err
	}
	k, err := p.readOne(ctx, p.db.NewSelect().Model((*row)(nil)).ModelTableExpr("? AS k", p.tables().knowledge).
		Where("tenant = ?", tenant).Where("uri = ?", uri).Where(isLive))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, domain.Refuse(domain.ErrNotFound, "nothing lies there")
	}
	if err != nil {
		return nil, p.failed(ctx, "read what lies at a place", err)
	}
	return k, nil
}

// Live are those of these items that are neither forgotten nor erased, and that the principal may see, by id.
func (p *Knowledge) Live(ctx context.Context, by domain.Principal, ids []string) (map[string]*domain.Knowledge, error) {
	found := map[string]*domain.Knowledge{}
	if len(ids) == 0 {
		return found, nil
	}
	if err := p.refresh(ctx); err != nil {
		return nil, err
	}
	p = p.pinned()
	in := lookupTable{engine: p.db.Engine, tenant: by.Tenant, table: p.tables().knowledge, alias: "k"}
	rows, err := p.readRows(ctx, lookUp(p.db.NewSelect().Model((*row)(nil)), in, singleKeys(ids), "id").Where("k."+isLive))
	if err != nil {
		return nil, p.failed(ctx, "look items up", err)
	}
	for i := range rows {
		if k := p.item(&rows[i]); !rows[i].broken && by.MaySee(k) {
			found[k.ID] = k
		}
	}
	return found, nil
}

// Below reads the active items below a directory that the principal may see, in the order of their URIs.
func (p *Knowledge) Below(ctx context.Context, walk domain.Walk) ([]*domain.Knowledge, error) {
	if err := p.refresh(ctx); err != nil {
		return nil, err
	}
	p = p.pinned()
	items := make([]*domain.Knowledge, 0, walk.Limit)
	for { // until that many could be read
		query, err := p.lyingBelow(ctx, p.db.NewSelect().Model((*row)(nil)), walk.By, walk.Below, walk.After)
		if err != nil {
			return nil, err
		}
		wanted := walk.Limit - len(items)
		rows, err := p.readRows(ctx, query.OrderExpr("k.uri").Limit(int64(wanted)))
		if err != nil {
			return nil, p.failed(ctx, "walk through a directory", err)
		}
		for i := range rows {
			walk.After = domain.URI(rows[i].URI)
			if !rows[i].broken {
				items = append(items, p.item(&rows[i]))
			}
		}
		if len(rows) < wanted || len(items) == walk.Limit {
			return items, nil
		}
	}
}

// Places reads what lies directly in a directory and may be seen by the principal, in the order of names.
func (p *Knowledge) Places(ctx context.Context, d domain.Directory) ([]domain.DirectoryEntry, error) {
	if err := p.refresh(ctx); err != nil {
		return nil, err
	}
	p = p.pinned()
	places := make([]domain.DirectoryEntry, 0, d.Limit)
	for { // until that many could be read
		wanted := d.Limit - len(places)
		rows, err := p.firstOf(ctx, d, wanted)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			place := placeOf(d.URI, p.item(&rows[i]))
			d.After = place
			if rows[i].broken {
				place.First = nil
			}
			if place.IsDir || place.First != nil {
				places = append(places, place)
			}
		}
		if len(rows) < wanted || len(places) == d.Limit {
			return places, nil
		}
	}
}

// firstOf reads the first item of each entry of a directory, of at most so many entries.
func (p *Knowledge) firstOf(ctx context.Context, d domain.Directory, limit int) ([]row, error) {
	d.Limit = limit
	entries, err := p.entries(ctx, d)
	if err != nil {
		return nil, err
	}
	query := p.db.NewSelect().Model((*row)(nil))
	if p.isPostgres() { // which would rather compare everything with every step, if it could
		query = query.ModelTableExpr("(?) AS c CROSS JOIN LATERAL (SELECT * FROM ? AS k WHERE tenant = ? AND k.uri = c.uri AND k."+isLive+" OFFSET 0) AS k",
			entries, p.tables().knowledge, d.By.Tenant)
	} else {
		query = query.ModelTableExpr("(?) AS c CROSS JOIN ?", entries, p.indexHint("uri")).
			Where("k.tenant = ?", d.By.Tenant).Where("k.uri = c.uri").Where("k." + isLive)
	}
	rows, err := p.readRows(ctx, query.OrderExpr("c.uri"))
	if err != nil {
		return nil, p.failed(ctx, "read a directory", err)
	}
	return rows, nil
}

// placeOf is the place in a directory that an item has, or lies below.
func placeOf(directory domain.URI, k *domain.Knowledge) domain.DirectoryEntry {
	name, _, deeper := strings.Cut(strings.TrimPrefix(k.Text.URI, beginning(directory)), "/")
	return domain.DirectoryEntry{URI: directory.Join(name), IsDir: deeper, First: k}
}

// entries selects the first URI of each entry of a directory.
func (p *Knowledge) entries(ctx context.Context, d domain.Directory) (schema.QueryAppender, error) {
	gathers, err := p.gathers(ctx, d.By, d.URI, d.After.URI)
	if gathers {
		return p.firsts(d), err
	}
	return p.steps(d), err
}

// steps selects the first URI of each entry: the first of all, then again and again the first that comes
// after everything below the entry before.
func (p *Knowledge) steps(d domain.Directory) *bun.RawQuery {
	first := func(after any) *bun.SelectQuery {
		query := p.db.NewSelect().TableExpr("?", p.indexHint("uri")).ColumnExpr("k.uri")
		return p.lying(query, d.By, d.URI, after).OrderExpr("k.uri").Limit(1)
	}
	return p.db.NewRaw(`
		WITH RECURSIVE entry AS (
			SELECT (?) AS uri, 1 AS n
			UNION ALL
			SELECT (?), e.n + 1 FROM entry AS e WHERE e.uri IS NOT NULL AND e.n < ?
		)
		SELECT uri FROM entry WHERE uri IS NOT NULL`,
		first(behindAll(d.After)), first(bun.SafeQuery(p.entry(d.URI, "e.uri", "?"), last)), d.Limit)
}

// entry is the part of a URI that names the entry of a directory in which it lies, and of one with more below it also a slash
// and something else.
func (p *Knowledge) entry(directory domain.URI, uri, after string) string {
	position := "strpos"
	if !p.isPostgres() {
		position = "instr"
	}
	at := len([]rune(beginning(directory))) + 1
	slash := fmt.Sprintf("%s(substr(%s, %d), '/')", position, uri, at)
	return fmt.Sprintf("CASE %[1]s WHEN 0 THEN %[3]s ELSE substr(%[3]s, 1, %[2]d + %[1]s) || %[4]s END", slash, at-1, uri, after)
}

// beginning is what the URIs of everything in a directory begin with.
func beginning(directory domain.URI) string {
	if directory == domain.RootURI {
		return string(directory)
	}
	return string(directory) + "/"
}

// lyingBelow selects the active items k below a directory that the principal may see, whichever way leads there sooner.
func (p *Knowledge) lyingBelow(ctx context.Context, query *bun.SelectQuery, by domain.Principal, directory, after domain.URI) (*bun.SelectQuery, error) {
	gathers, err := p.gathers(ctx, by, directory, after)
	if gathers {
		return p.below(p.gather(query, by), by.Tenant, directory, behind(after)).Where("k.status = ?", domain.Active), err
	}
	return p.lying(query.ModelTableExpr("?", p.indexHint("uri")), by, directory, behind(after)), err
}

// lying narrows the items k to the active ones below a directory, and behind a URI in it, that the principal may see.
func (p *Knowledge) lying(query *bun.SelectQuery, by domain.Principal, directory domain.URI, after any) *bun.SelectQuery {
	query = p.below(query, by.Tenant, directory, after).Where("k.status = ?", domain.Active)
	return p.visible(query, by)
}

// visible narrows the items k to those that the principal may see.
func (p *Knowledge) visible(query *bun.SelectQuery, by domain.Principal) *bun.SelectQuery {
	if by.SeesAll() {
		return query
	}
	return query.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("k.owner IN (?)", bun.List(by.Entities())).
			WhereOr("(SELECT 1 FROM ? AS s WHERE s.tenant = k.tenant AND s.number = k.number AND s.scope IN (?) LIMIT 1) = 1", // asked of each item, not of all
				p.tables().scopes, bun.List(scopesOf(by)))
	})
}

func (p *Knowledge) isPostgres() bool { return p.db.Engine == database.Postgres }

// Began is when the tenant's log begins; zero if it is empty.
func (p *Knowledge) Began(ctx context.Context, tenant string) (time.Time, error) {
	var at database.Time
	err := p.db.NewRaw("SELECT recorded_at FROM events WHERE tenant = ? AND position = 1", tenant).Scan(ctx, &at)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return at.Time, p.failed(ctx, "read when the log begins", err)
	}
	return at.Time, nil
}

// Memories tells of the use of every active memory that the principal may see; of one category, unless that is
// empty.
func (p *Knowledge) Memories(ctx context.Context, by domain.Principal, category domain.Category, each func(domain.MemoryUse)) error {
	if err := p.refresh(ctx); err != nil {
		return err
	}
	p = p.pinned()
	query, err := p.lyingBelow(ctx, p.db.NewSelect().Model((*row)(nil)), by, domain.RootURI, "")
	if err != nil {
		return err
	}
	query = query.ColumnExpr("k.category, k.helpful + k.harmful, k.created_at, k.updated_at").Where("k.context_type = ?", domain.Memory)
	if category != "" {
		query = query.Where("k.category = ?", category)
	}
	err = database.ForEach(ctx, p.db, func(rows *sql.Rows) error {
		var u domain.MemoryUse
		var created, updated database.Time
		err := rows.Scan(&u.Category, &u.Votes, &created, &updated)
		u.Created, u.Updated = created.Time, updated.Time
		if err == nil {
			each(u)
		}
		return err
	}, query.String())
	if err != nil {
		return p.failed(ctx, "count memories", err)
	}
	return nil
}
