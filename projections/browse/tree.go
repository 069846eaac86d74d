package browse

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// Directories have no table: they follow from the URIs of the live items, and the unique index of URIs has these in
// order. The entries of a directory are found by stepping from one name to the next, however much lies below each.

// At returns the live item with this URI. The caller decides who may see it. The error matches [domain.ErrNotFound]
// if there is none, and [domain.ErrBroken] if its row cannot be read.
func (b *Browser) At(ctx context.Context, tenant string, uri domain.URI) (*domain.Knowledge, error) {
	p, err := b.view(ctx)
	if err != nil {
		return nil, err
	}
	k, err := p.ReadOne(ctx, p.Items().
		Where("tenant = ?", tenant).Where("uri = ?", uri).Where(rows.Live))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, domain.Refuse(domain.ErrNotFound, "no item has this URI")
	}
	if err != nil {
		return nil, rows.Failed(ctx, "read what lies at a place", err)
	}
	return k, nil
}

// Live returns, by id, those of these items that are neither forgotten nor erased and that the principal may see.
func (b *Browser) Live(ctx context.Context, by domain.Principal, ids []string) (map[string]*domain.Knowledge, error) {
	found, err := b.Items(ctx, by.Tenant, ids)
	maps.DeleteFunc(found, func(_ string, k *domain.Knowledge) bool { return !rows.IsLive(k) || !by.MaySee(k) })
	return found, err
}

// Items returns items by their ids, whatever their status. It leaves out those that cannot be read. The caller decides
// who may see them.
func (b *Browser) Items(ctx context.Context, tenant string, ids []string) (map[string]*domain.Knowledge, error) {
	found := map[string]*domain.Knowledge{}
	err := lookUp(ctx, b, tenant, "id", ids, func(k *domain.Knowledge) { found[k.ID] = k })
	return found, err
}

// Numbered is [Browser.Items] by the numbers of items.
func (b *Browser) Numbered(ctx context.Context, tenant string, numbers []int64) (map[int64]*domain.Knowledge, error) {
	found := map[int64]*domain.Knowledge{}
	err := lookUp(ctx, b, tenant, "number", numbers, func(k *domain.Knowledge) { found[k.Number] = k })
	return found, err
}

func lookUp[T any](
	ctx context.Context, b *Browser, tenant, column string, keys []T, each func(*domain.Knowledge),
) error {
	if len(keys) == 0 {
		return nil
	}
	p, err := b.view(ctx)
	if err != nil {
		return err
	}
	in := rows.Table{Engine: p.DB.Engine, Tenant: tenant, Table: p.Tables.Knowledge, Alias: "k"}
	list, err := p.Read(ctx, rows.LookUp(rows.Select(p.DB), in, rows.SingleKeys(keys), column))
	if err != nil {
		return rows.Failed(ctx, "look items up", err)
	}
	for i := range list {
		if !list[i].Broken {
			each(p.Item(&list[i]))
		}
	}
	return nil
}

// Below reads the active items below a directory that the principal may see, in the order of their URIs.
func (b *Browser) Below(ctx context.Context, walk domain.Walk) ([]*domain.Knowledge, error) {
	p, err := b.view(ctx)
	if err != nil {
		return nil, err
	}
	items := make([]*domain.Knowledge, 0, walk.Limit)
	for { // until the page is full: rows that cannot be read are left out
		query, err := p.lyingBelow(ctx, rows.Select(p.DB), walk.By, walk.Below, walk.After)
		if err != nil {
			return nil, err
		}
		wanted := walk.Limit - len(items)
		list, err := p.Read(ctx, query.OrderExpr("k.uri").Limit(int64(wanted)))
		if err != nil {
			return nil, rows.Failed(ctx, "walk through a directory", err)
		}
		for i := range list {
			walk.After = domain.URI(list[i].Text.URI)
			if !list[i].Broken {
				items = append(items, p.Item(&list[i]))
			}
		}
		if len(list) < wanted || len(items) == walk.Limit {
			return items, nil
		}
	}
}

// Places reads the entries of a directory that the principal may see, in the order of names.
func (b *Browser) Places(ctx context.Context, d domain.Directory) ([]domain.DirectoryEntry, error) {
	p, err := b.view(ctx)
	if err != nil {
		return nil, err
	}
	places := make([]domain.DirectoryEntry, 0, d.Limit)
	for { // until the page is full: items that cannot be read are left out
		wanted := d.Limit - len(places)
		rows, err := p.firstOf(ctx, d, wanted)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			place := placeOf(d.URI, p.Item(&rows[i]))
			d.After = place
			if rows[i].Broken {
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
func (p view) firstOf(ctx context.Context, d domain.Directory, limit int) ([]rows.Row, error) {
	d.Limit = limit
	entries, err := p.entries(ctx, d)
	if err != nil {
		return nil, err
	}
	query := rows.Select(p.DB)
	if p.IsPostgres() { // otherwise it compares every item with every step
		query = query.ModelTableExpr("(?) AS c CROSS JOIN LATERAL (SELECT * FROM ? AS k WHERE tenant = ? AND k.uri = "+
			"c.uri AND k."+rows.Live+" OFFSET 0) AS k",
			entries, p.Tables.Knowledge, d.By.Tenant)
	} else {
		query = query.ModelTableExpr("(?) AS c CROSS JOIN ?", entries, p.IndexHint("uri")).
			Where("k.tenant = ?", d.By.Tenant).Where("k.uri = c.uri").Where("k." + rows.Live)
	}
	list, err := p.Read(ctx, query.OrderExpr("c.uri"))
	if err != nil {
		return nil, rows.Failed(ctx, "read a directory", err)
	}
	return list, nil
}

// placeOf is the entry of a directory that an item is, or lies below.
func placeOf(directory domain.URI, k *domain.Knowledge) domain.DirectoryEntry {
	name, _, deeper := strings.Cut(strings.TrimPrefix(k.Text.URI, rows.Beginning(directory)), "/")
	return domain.DirectoryEntry{URI: directory.Join(name), IsDir: deeper, First: k}
}

// entries selects the first URI of each entry of a directory.
func (p view) entries(ctx context.Context, d domain.Directory) (schema.QueryAppender, error) {
	seen, gathers, err := p.gathers(ctx, d.By, d.URI, d.After.URI)
	if gathers {
		return p.firsts(d, seen), err
	}
	return p.steps(d), err
}

// steps selects the first URI of each entry: the first of all, and then each time the first URI that comes after
// everything below the previous entry.
func (p view) steps(d domain.Directory) *bun.RawQuery {
	first := func(after any) *bun.SelectQuery {
		query := p.DB.NewSelect().TableExpr("?", p.IndexHint("uri")).ColumnExpr("k.uri")
		return p.lying(query, d.By, d.URI, after).OrderExpr("k.uri").Limit(1)
	}
	return p.DB.NewRaw(`
		WITH RECURSIVE entry AS (
			SELECT (?) AS uri, 1 AS n
			UNION ALL
			SELECT (?), e.n + 1 FROM entry AS e WHERE e.uri IS NOT NULL AND e.n < ?
		)
		SELECT uri FROM entry WHERE uri IS NOT NULL`,
		first(behindAll(d.After)), first(bun.SafeQuery(p.entry(d.URI, "e.uri", "?"), rows.LastCharacter)), d.Limit)
}

// entry is the part of a URI up to the entry of a directory that it lies in. If more lies below that entry, a slash
// and after follow.
func (p view) entry(directory domain.URI, uri, after string) string {
	position := "strpos"
	if !p.IsPostgres() {
		position = "instr"
	}
	at := len([]rune(rows.Beginning(directory))) + 1
	slash := fmt.Sprintf("%s(substr(%s, %d), '/')", position, uri, at)
	return fmt.Sprintf("CASE %[1]s WHEN 0 THEN %[3]s ELSE substr(%[3]s, 1, %[2]d + %[1]s) || %[4]s END", slash,
		at-1, uri, after)
}

// lyingBelow selects the active items k below a directory that the principal may see, in the faster of two ways.
func (p view) lyingBelow(
	ctx context.Context, query *bun.SelectQuery, by domain.Principal, directory, after domain.URI,
) (*bun.SelectQuery, error) {
	seen, gathers, err := p.gathers(ctx, by, directory, after)
	if gathers {
		query = p.below(p.gather(query, by, seen), by.Tenant, directory, behind(after))
		return query.Where("k.status = ?", domain.Active), err
	}
	return p.lying(query.ModelTableExpr("?", p.IndexHint("uri")), by, directory, behind(after)), err
}

// lying narrows the items k to the active ones below a directory, and behind a URI in it, that the principal may see.
func (p view) lying(query *bun.SelectQuery, by domain.Principal, directory domain.URI, after any) *bun.SelectQuery {
	query = p.below(query, by.Tenant, directory, after).Where("k.status = ?", domain.Active)
	return p.Visible(query, by)
}

// Began is when the tenant's log begins; zero if it is empty.
func (b *Browser) Began(ctx context.Context, tenant string) (time.Time, error) {
	var at database.Time
	err := b.catalogue.DB.NewRaw("SELECT recorded_at FROM events WHERE tenant = ? AND position = 1", tenant).Scan(ctx, &at)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return at.Time, rows.Failed(ctx, "read when the log begins", err)
	}
	return at.Time, nil
}

// Memories reports the use of every active memory that the principal may see, of one category unless that is empty.
func (b *Browser) Memories(
	ctx context.Context, by domain.Principal, category domain.Category, each func(domain.MemoryUse),
) error {
	p, err := b.view(ctx)
	if err != nil {
		return err
	}
	query, err := p.lyingBelow(ctx, p.DB.NewSelect(), by, domain.RootURI, "")
	if err != nil {
		return err
	}
	query = query.ColumnExpr("k.category, k.helpful + k.harmful, k.created_at, k.updated_at").
		Where("k.context_type = ?", domain.Memory)
	if category != "" {
		query = query.Where("k.category = ?", category)
	}
	err = database.ForEach(ctx, p.DB, func(rows *sql.Rows) error {
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
		return rows.Failed(ctx, "count memories", err)
	}
	return nil
}

// Leaves reads the URIs of the active items below a directory that the principal may see, in order, and with contents
// also their texts. It returns at most walk.Limit items, and fewer if their texts are long. more tells whether there
// are others.
func (b *Browser) Leaves(
	ctx context.Context, walk domain.Walk, contents bool,
) (leaves []domain.Leaf, more bool, err error) {
	p, err := b.view(ctx)
	if err != nil {
		return nil, false, err
	}
	query, err := p.lyingBelow(ctx, p.DB.NewSelect(), walk.By, walk.Below, walk.After)
	if err != nil {
		return nil, false, err
	}
	query = query.ColumnExpr("k.uri")
	if contents {
		query = query.ColumnExpr("k.content")
	} else {
		query = query.ColumnExpr("''")
	}
	read := 0
	err = database.ForEach(ctx, p.DB, func(rows *sql.Rows) error {
		if len(leaves) == walk.Limit || read >= p.gathered.Bytes {
			more = true
			return database.ErrEnough
		}
		var leaf domain.Leaf
		err := rows.Scan(&leaf.URI, &leaf.Content)
		leaves, read = append(leaves, leaf), read+len(leaf.Content)
		return err
	}, query.OrderExpr("k.uri").Limit(int64(walk.Limit)+1).String())
	if err != nil {
		return nil, false, rows.Failed(ctx, "walk through a directory", err)
	}
	return leaves, more, nil
}
