package past

import (
	"context"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections/rows"
)

// Prepare implements [follow.Preparer]. It folds a page of events into the rows that begin and end with them.
func (p *Projection) Prepare(ctx context.Context, page follow.Page) (follow.Change, error) {
	way := &pageChange{past: p, tenant: page.Tenant, policy: p.catalogue.Policy(), tokenizer: p.catalogue.Tokenizers[0]}
	retold, err := p.refold(ctx, page, way)
	if err != nil {
		return nil, err
	}
	formers, err := p.loadItems(ctx, page, retold)
	if err != nil {
		return nil, err
	}
	for _, event := range page.Events {
		id, isItem := domain.ItemOf(event.Stream)
		if !isItem || retold[event.Stream] {
			continue
		}
		f := formers[id]
		if f == nil {
			f = &pastItem{Knowledge: &domain.Knowledge{ID: id}, hasText: true, scopes: map[string]validity{}}
			formers[id] = f
		}
		if err := way.fold(f, event); err != nil {
			return nil, err
		}
	}
	return way, nil
}

// loadItems returns the items that a page changes, by id, as the projection has stored them.
func (p *Projection) loadItems(ctx context.Context, page follow.Page, retold rows.Set) (map[string]*pastItem, error) {
	var streams []string
	seen, begun := rows.Set{}, rows.Set{}
	for _, event := range page.Events {
		if _, isItem := domain.ItemOf(event.Stream); !isItem || retold[event.Stream] {
			continue
		}
		if event.Version == 1 {
			begun[event.Stream] = true
		}
		if !begun[event.Stream] {
			seen.Add(&streams, event.Stream)
		}
	}
	formers := map[string]*pastItem{}
	if len(streams) == 0 {
		return formers, p.votes(ctx, page, formers)
	}
	began, err := p.log.Reader.Beginnings(ctx, page.Tenant, streams)
	if err != nil {
		return nil, err
	}
	numbers := make([]int64, 0, len(began))
	for _, number := range began {
		numbers = append(numbers, number)
	}
	rows, err := p.rows(ctx, p.catalogue.DB, page.Tenant, numbers, Forever-1)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		k := rows[i].knowledge(p.catalogue.Policy())
		formers[k.ID] = &pastItem{
			Knowledge: k, positions: rows[i].positions(), tags: tagSignature(rows[i].TagBits), scopes: validities(k),
			item: validity{open: true, since: rows[i].Since},
		}
	}
	if err := p.loadTexts(ctx, page, formers); err != nil {
		return nil, err
	}
	return formers, p.votes(ctx, page, formers)
}

// rows returns what items were at a position, the newest first.
func (p *Projection) rows(
	ctx context.Context, db bun.IDB, tenant string, numbers []int64, position int64,
) ([]itemRow, error) {
	var all []itemRow
	items := p.itemsAt(db, tenant, position).Where("k.number IN (?)", bun.List(numbers))
	if err := p.described(items, position).OrderExpr("k.number DESC").Scan(ctx, &all); err != nil {
		return nil, rows.Failed(ctx, "read the past", err)
	}
	return all, nil
}

// itemsAt selects the items as they were at a position.
func (p *Projection) itemsAt(db bun.IDB, tenant string, position int64) *bun.SelectQuery {
	return db.NewSelect().TableExpr("? AS k", p.Tables.Items).ColumnExpr("k.*").
		Where("k.tenant = ?", tenant).Where("k.since <= ?", position).Where("k.until > ?", position)
}

// described adds the counts of votes and reports at a position to selected items.
func (p *Projection) described(items *bun.SelectQuery, position int64) *bun.SelectQuery {
	query := items.NewSelect().TableExpr("(?) AS k", items).ColumnExpr(itemRowColumns)
	if p.catalogue.DB.Engine == database.Postgres {
		return query.Join("CROSS JOIN LATERAL (SELECT b.* FROM ? AS b WHERE b.tenant = k.tenant AND b.number = k.number "+
			"AND b.since <= ? ORDER BY b.since DESC LIMIT 1) AS c",
			p.Tables.Counts, position)
	}
	return query.Join(`JOIN ? AS c ON c.tenant = k.tenant AND c.number = k.number
		AND c.since = (SELECT max(b.since) FROM ? AS b WHERE b.tenant = k.tenant AND b.number = k.number AND b.since <= ?)`,
		p.Tables.Counts, p.Tables.Counts, position)
}

// loadTexts reads all texts of items that a page revises, because their terms are computed from all of them.
func (p *Projection) loadTexts(ctx context.Context, page follow.Page, formers map[string]*pastItem) error {
	var positions, numbers []int64
	var revised []*pastItem
	for _, event := range page.Events {
		id, _ := domain.ItemOf(event.Stream)
		f := formers[id]
		if _, isRevision := event.Fact.(domain.Revised); !isRevision || f == nil || f.hasText {
			continue
		}
		f.hasText = true
		revised = append(revised, f)
		positions, numbers = append(positions, f.positions.all(f.Number)...), append(numbers, f.Number)
	}
	if len(revised) == 0 {
		return nil
	}
	facts, err := p.log.Reader.Snapshot.Facts(ctx, page.Tenant, positions)
	if err != nil {
		return err
	}
	since, err := p.wordsSince(ctx, page.Tenant, numbers)
	if err != nil {
		return err
	}
	for _, f := range revised {
		f.positions.restore(f.Knowledge, facts)
		if at, open := since[f.Number]; open {
			f.words = validity{open: true, since: at}
		}
	}
	return nil
}

// wordsSince returns, by item, since when its current terms hold.
func (p *Projection) wordsSince(ctx context.Context, tenant string, numbers []int64) (map[int64]int64, error) {
	var list []struct{ Number, Since int64 }
	err := p.catalogue.DB.NewSelect().TableExpr("? AS w", p.Tables.Words).Column("number", "since").
		Where("tenant = ?", tenant).Where("number IN (?)", bun.List(numbers)).Where("until = ?", int64(Forever)).
		Scan(ctx, &list)
	if err != nil {
		return nil, rows.Failed(ctx, "read the past", err)
	}
	since := make(map[int64]int64, len(list))
	for _, row := range list {
		since[row.Number] = row.Since
	}
	return since, nil
}

// votes loads the votes of the items of which a page gives, withdraws or weighs some. They are those of the streams
// before the page.
func (p *Projection) votes(ctx context.Context, page follow.Page, formers map[string]*pastItem) error {
	var streams []string
	voted := rows.Set{}
	for _, event := range page.Events {
		id, _ := domain.ItemOf(event.Stream)
		if f := formers[id]; f != nil {
			if _, needed := p.catalogue.Policy().VotesFor(f.Knowledge, event.Fact); needed {
				voted.Add(&streams, event.Stream)
			}
		}
	}
	if len(streams) == 0 {
		return nil
	}
	history, err := events.StreamsWithin(ctx, p.catalogue.DB, page.Tenant, streams)
	if err != nil {
		return rows.Failed(ctx, "read streams", err)
	}
	k := &domain.Knowledge{}
	for _, event := range history {
		if event.Position > page.After {
			continue
		}
		if event.Version == 1 {
			k = &domain.Knowledge{}
		}
		if err := k.Evolve(event.Fact, event.Metadata(), p.catalogue.Policy()); err != nil {
			return err
		}
		id, _ := domain.ItemOf(event.Stream)
		f := formers[id]
		f.Votes, f.Voices, f.Source.AgentID = k.Votes, k.Voices, k.Source.AgentID
	}
	return nil
}

// refold folds the items that a page redacts again, from their beginning to the end of the page. Their former terms
// would still find the redacted texts.
func (p *Projection) refold(ctx context.Context, page follow.Page, way *pageChange) (retold rows.Set, err error) {
	retold = rows.Set{}
	var streams []string
	for _, event := range page.Events {
		_, isItem := domain.ItemOf(event.Stream)
		if _, redacted := event.Fact.(domain.Redacted); redacted && isItem {
			retold.Add(&streams, event.Stream)
		}
	}
	if len(streams) == 0 {
		return retold, nil
	}
	history, err := events.StreamsWithin(ctx, p.catalogue.DB, page.Tenant, streams)
	if err != nil {
		return nil, rows.Failed(ctx, "read streams", err)
	}
	var f *pastItem
	for _, event := range history {
		if event.Position > page.Last().Position {
			continue
		}
		if event.Version == 1 {
			id, _ := domain.ItemOf(event.Stream)
			f = &pastItem{Knowledge: &domain.Knowledge{ID: id}, hasText: true, scopes: map[string]validity{}}
			way.refolded = append(way.refolded, event.Position)
		}
		if err := way.fold(f, event); err != nil {
			return nil, err
		}
	}
	return retold, nil
}

// clear deletes the rows of the items that are folded again.
func (p *pageChange) clear(s *rows.Script, tx bun.IDB, t rows.PastTables) {
	if len(p.refolded) == 0 {
		return
	}
	var scopes []string // for the key of the index
	for _, row := range p.scopes {
		if scope, number := row[1].(string), row[2].(int64); slices.Contains(p.refolded, number) &&
			!slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	for _, table := range []bun.Ident{t.Items.Name, t.Counts.Name, t.Words.Name, t.Pieces.Name} {
		s.AddQuery(tx.NewDelete().TableExpr("?", table).Where("tenant = ?", p.tenant).
			Where("number IN (?)", bun.List(p.refolded)))
	}
	s.AddQuery(tx.NewDelete().TableExpr("?", t.Scopes).Where("tenant = ?", p.tenant).
		Where("scope IN (?)", bun.List(scopes)).Where("number IN (?)", bun.List(p.refolded)))
}
