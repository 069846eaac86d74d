package browse

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// maxProposals limits the open proposals that one request reads: the newest.
const maxProposals = 5000

// openProposal is a row of streams.
type openProposal struct {
	Stream string          `bun:"stream"`
	State  json.RawMessage `bun:"state"`

	domain.Proposal `bun:"-"`
}

func (o openProposal) id() string { return strings.TrimPrefix(o.Stream, domain.ProposalStream("")) }

// openProposals selects the open proposals of a tenant, the newest first. An index on streams has the same condition.
func openProposals(db *database.DB, tenant string) *bun.SelectQuery {
	index := bun.Safe("streams AS s")
	if db.Engine == database.SQLite { // it would choose the primary key, which also has the closed ones
		index = "streams AS s INDEXED BY streams_open_reviews"
	}
	return proposals(db, tenant, index).Where("s.state ->> 'outcome' IS NULL").
		OrderExpr("s.position DESC").Limit(maxProposals)
}

func proposals(db *database.DB, tenant string, table bun.Safe) *bun.SelectQuery {
	return db.NewSelect().TableExpr("?", table).ColumnExpr("s.stream, s.state").Where("s.tenant = ?", tenant).
		Where("s.stream >= 'review:'").Where("s.stream < 'review;'")
}

// aboutAny narrows proposals to those about any of some items.
func aboutAny(db *database.DB, query *bun.SelectQuery, items []string) *bun.SelectQuery {
	within := "json_array_elements_text(s.state -> 'items') AS i (id) WHERE i.id"
	if db.Engine == database.SQLite {
		within = "json_each(s.state, '$.items') AS i WHERE i.value"
	}
	return query.Where("EXISTS (SELECT 1 FROM "+within+" IN (?))", bun.List(items))
}

func readProposals(ctx context.Context, query *bun.SelectQuery) (all []openProposal, err error) {
	if err := query.Scan(ctx, &all); err != nil {
		return nil, err
	}
	for i := range all {
		if err := json.Unmarshal(all[i].State, &all[i].Proposal); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// OpenProposals are the ids of the open proposals that are about no other items than these.
func (r Reports) OpenProposals(ctx context.Context, tenant string, items []string) (ids []string, err error) {
	all, err := r.ProposalsAbout(ctx, tenant, items)
	for _, p := range all {
		other := func(id string) bool { return !slices.Contains(items, id) }
		if !slices.ContainsFunc(p.Items, other) {
			ids = append(ids, p.ID)
		}
	}
	return ids, err
}

// ProposalsAbout are the open proposals about any of some items, the newest first.
func (r Reports) ProposalsAbout(
	ctx context.Context, tenant string, items []string,
) (about []domain.OpenProposal, err error) {
	db := r.Browser.catalogue.DB
	all, err := readProposals(ctx, aboutAny(db, openProposals(db, tenant), items))
	if err != nil {
		return nil, rows.Failed(ctx, "find proposals", err)
	}
	for _, p := range all {
		about = append(about, domain.OpenProposal{ID: p.id(), Proposal: p.Proposal})
	}
	return about, nil
}

// ProposalStreams are the streams of all proposals about an item, open or closed.
func (r Reports) ProposalStreams(ctx context.Context, tenant, item string) (streams []string, err error) {
	db := r.Browser.catalogue.DB
	found := aboutAny(db, proposals(db, tenant, "streams AS s"), []string{item})
	all, err := readProposals(ctx, found.OrderExpr("s.stream"))
	if err != nil {
		return nil, rows.Failed(ctx, "find proposals", err)
	}
	for _, p := range all {
		streams = append(streams, p.Stream)
	}
	return streams, nil
}

// addPairs adds the items about which a proposal is open to the candidates of a review. Of the items of a proposal
// that pass the filters, it is the newest. All of them must be active, and visible to the caller.
func (p reviewer) addPairs(ctx context.Context, q domain.ReviewQuery, add func(queue, waiting, *pairOf)) error {
	all, err := readProposals(ctx, openProposals(p.DB, q.Tenant))
	if err != nil || len(all) == 0 {
		return err
	}
	var ids []string
	named := rows.Set{}
	for _, one := range all {
		for _, id := range one.Items {
			named.Add(&ids, id)
		}
	}
	chosen, choice := p.isChosen(domain.EventQuery{Tenant: q.Tenant, Only: q.Only, Scope: q.Scope, Owner: q.Owner})
	readable, readers := p.isReadable(domain.EventQuery{Tenant: q.Tenant, Only: q.Only})
	type known struct {
		ID     string `bun:"id"`
		Number int64  `bun:"number"`
		Chosen bool   `bun:"chosen"`
	}
	items := map[string]known{}
	for part := range slices.Chunk(ids, 1000) {
		var found []known
		err := p.DB.NewSelect().TableExpr("? AS k", p.Tables.Knowledge).ColumnExpr("k.id, k.number").
			ColumnExpr("("+chosen+") AS chosen", choice...).Where("k.tenant = ?", q.Tenant).
			Where("k.id IN (?)", bun.List(part)).Where("k.status = 'active'").Where(readable, readers...).
			OrderExpr("k.number").Scan(ctx, &found)
		if err != nil {
			return err
		}
		for _, one := range found {
			items[one.ID] = one
		}
	}
	for _, one := range all {
		var of known
		whole := true
		for _, id := range one.Items {
			item, found := items[id]
			if whole = whole && found; item.Chosen && item.Number > of.Number {
				of = item
			}
		}
		if !whole || of.Number == 0 {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(one.Items), func(id string) bool { return id == of.ID })
		severity := 2
		if one.Kind == domain.Contradiction {
			severity = 3
		}
		add(queue{name: string(one.Kind), severity: severity},
			waiting{Number: of.Number, ID: of.ID, Count: 1, Since: database.At(one.At)},
			&pairOf{ReviewPair: domain.ReviewPair{
				Proposal: one.id(), Kind: one.Kind, Score: one.Score, Rule: one.Rule,
			}, others: others})
	}
	return nil
}

// pairOf is a proposal about an item and others, which are read later.
type pairOf struct {
	domain.ReviewPair

	others []string
}

// readPairs reads the other items of the pairs of a page.
func (p reviewer) readPairs(ctx context.Context, tenant string, page []*candidate) error {
	var ids []string
	for _, c := range page {
		if c.pair != nil {
			ids = append(ids, c.pair.others...)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	found, err := p.Read(ctx, p.DB.NewSelect().Model((*rows.Row)(nil)).ModelTableExpr("? AS k", p.Tables.Knowledge).
		Where("k.tenant = ?", tenant).Where("k.id IN (?)", bun.List(ids)))
	if err != nil {
		return err
	}
	items := map[string]*domain.Knowledge{}
	for i := range found {
		if !found[i].Broken {
			items[found[i].ID] = p.Item(&found[i])
		}
	}
	for _, c := range page {
		if c.pair == nil {
			continue
		}
		c.Pair = &c.pair.ReviewPair
		for _, id := range c.pair.others {
			if items[id] != nil {
				c.Pair.Items = append(c.Pair.Items, items[id])
			}
		}
	}
	return nil
}
