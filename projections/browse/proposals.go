package browse

import (
	"cmp"
	"context"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// OpenProposals are the ids of the open proposals that are about no other items than these.
func (r Reports) OpenProposals(ctx context.Context, tenant string, items []string) (ids []string, err error) {
	all, err := r.ProposalsAbout(ctx, tenant, items)
	for _, p := range all {
		other := func(id string) bool { return !slices.Contains(items, id) }
		if p.Outcome == "" && !slices.ContainsFunc(p.Items, other) {
			ids = append(ids, p.ID)
		}
	}
	return ids, err
}

// ProposalsAbout are the proposals about any of some items, open or closed, in the order of their ids.
func (r Reports) ProposalsAbout(
	ctx context.Context, tenant string, items []string,
) (about []domain.RecordedProposal, err error) {
	var ids []string
	err = r.Browser.catalogue.DB.NewSelect().TableExpr("proposals AS p").ColumnExpr("DISTINCT p.proposal").
		Where("p.tenant = ?", tenant).Where("p.item IN (?)", bun.List(items)).OrderExpr("p.proposal").Scan(ctx, &ids)
	if err != nil {
		return nil, rows.Failed(ctx, "find proposals", err)
	}
	states, err := r.proposals(ctx, tenant, ids)
	for _, id := range ids {
		if p, found := states[id]; found {
			about = append(about, domain.RecordedProposal{ID: id, Proposal: p})
		}
	}
	return about, err
}

// proposals are proposals by their ids.
func (r Reports) proposals(ctx context.Context, tenant string, ids []string) (map[string]domain.Proposal, error) {
	streams := make([]string, len(ids))
	for i, id := range ids {
		streams[i] = domain.ProposalStreams.Of(id)
	}
	states, err := r.Log.Reader.StatesOf(ctx, tenant, streams)
	found := map[string]domain.Proposal{}
	for name, state := range states {
		found[domain.ProposalStreams.ID(name)], _ = state.(domain.Proposal)
	}
	return found, err
}

// Dispute sets by which items others are disputed, as far as the reader may see all items of a proposal. It also hides
// their references, as [Browser.Hide] does.
func (b *Browser) Dispute(ctx context.Context, reader domain.Principal, items ...*domain.Knowledge) error {
	var disputed []string
	all := make([]domain.Referrer, len(items))
	for i, k := range items {
		all[i] = k
		if k.Disputed {
			disputed = append(disputed, k.ID)
		}
	}
	if err := b.Hide(ctx, reader, all...); err != nil || len(disputed) == 0 {
		return err
	}
	p, err := b.view(ctx)
	if err != nil {
		return err
	}
	query := p.DB.NewSelect().TableExpr("proposals AS p").ColumnExpr("DISTINCT p.item, a.item AS other").
		Join("JOIN proposals AS a ON a.tenant = p.tenant AND a.proposal = p.proposal AND a.item <> p.item").
		Where("p.item IN (?)", bun.List(disputed)).OrderExpr("p.item, other")
	var pairs []struct {
		Item, Other string
	}
	if err := p.OpenProposals(query, reader.Tenant, domain.Contradiction, &reader).Scan(ctx, &pairs); err != nil {
		return rows.Failed(ctx, "find disputes", err)
	}
	by := map[string][]string{}
	for _, pair := range pairs {
		by[pair.Item] = append(by[pair.Item], pair.Other)
	}
	for _, k := range items {
		k.DisputedBy = by[k.ID][:min(len(by[k.ID]), domain.MostDisputes)]
	}
	return nil
}

// mostPairs limits the proposals of a group: as many as all items of a merge have pairs.
const mostPairs = (domain.MostMerged + 1) * domain.MostMerged / 2

// pairs finds the items about which a proposal of a kind is open, the newest proposals first, and of each the newest
// item first. All items of a proposal must be active, and visible to the caller.
func pairs(kind domain.ProposalKind) func(reviewer, context.Context, domain.ReviewQuery) ([]waiting, error) {
	return func(p reviewer, ctx context.Context, q domain.ReviewQuery) ([]waiting, error) {
		from := "proposals AS p"
		if p.view.DB.Engine == database.SQLite { // it would choose the primary key, which also has the closed ones
			from += " INDEXED BY proposals_open"
		}
		query := p.items(q, p.view.DB.NewSelect().TableExpr(from+" CROSS JOIN ? AS k", p.view.Tables.Knowledge))
		all, err := p.scan(ctx, p.view.OpenProposals(query, q.Tenant, kind, q.Only).
			ColumnExpr("p.proposal, p.score, 1 AS counted, p.at AS since, '' AS reason").Where("k.id = p.item").
			OrderExpr("p.at DESC, p.proposal, k.number DESC").Limit(maxExamined+1))
		group(all, kind == domain.Contradiction)
		return all, err
	}
}

// group lets proposals wait together, as the newest of them, if they are to be joined and share items, directly or
// through others.
func group(all []waiting, join bool) {
	by, in := map[int64]string{}, map[string]string{} // the first proposal about an item; another one of the same group
	newest := func(proposal string) string {
		for in[proposal] != "" {
			proposal = in[proposal]
		}
		return proposal
	}
	for _, w := range all {
		a, b := newest(cmp.Or(by[w.Number], w.Proposal)), newest(w.Proposal)
		if by[w.Number] = a; join && a != b {
			in[b] = a
		}
	}
	groups := map[string]*waiting{}
	for _, w := range all {
		name := newest(w.Proposal)
		g := cmp.Or(groups[name], &waiting{Proposal: w.Proposal})
		groups[name] = g
		if !slices.Contains(g.Group, w.Proposal) && g.Count < mostPairs {
			g.Group, g.Count = append(g.Group, w.Proposal), g.Count+1
		}
		g.Since, g.Score = w.Since, max(g.Score, w.Score)
	}
	for i, w := range all {
		g := groups[newest(w.Proposal)]
		w.Proposal, w.Group, w.Count, w.Since, w.Score = g.Proposal, g.Group, g.Count, g.Since, g.Score
		all[i] = w
	}
}
