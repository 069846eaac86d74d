package browse

import (
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
		streams[i] = domain.ProposalStream(id)
	}
	states, err := r.Log.StatesOf(ctx, tenant, streams)
	found := map[string]domain.Proposal{}
	for name, state := range states {
		found[domain.ProposalOf(name)], _ = state.(domain.Proposal)
	}
	return found, err
}

// pairs finds the items about which a proposal of a kind is open, the newest proposals first, and of each the newest
// item first. All items of a proposal must be active, and visible to the caller.
func pairs(kind domain.ProposalKind) func(reviewer, context.Context, domain.ReviewQuery) ([]waiting, error) {
	return func(p reviewer, ctx context.Context, q domain.ReviewQuery) ([]waiting, error) {
		readable, args := p.isReadable(domain.EventQuery{Tenant: q.Tenant, Only: q.Only})
		hidden := p.DB.NewSelect().TableExpr("proposals AS o").ColumnExpr("1").
			Join("LEFT JOIN ? AS k ON k.tenant = o.tenant AND k.id = o.item", p.Tables.Knowledge).
			Where("o.tenant = p.tenant").Where("o.proposal = p.proposal").
			Where("NOT coalesce(k.status = 'active' AND "+readable+", FALSE)", args...)
		from := "proposals AS p"
		if p.DB.Engine == database.SQLite { // it would choose the primary key, which also has the closed ones
			from += " INDEXED BY proposals_open"
		}
		return p.scan(ctx, p.items(q, p.DB.NewSelect().TableExpr(from+" CROSS JOIN ? AS k", p.Tables.Knowledge)).
			ColumnExpr("p.proposal, p.score, 1 AS counted, p.at AS since, '' AS reason").
			Where("p.tenant = ?", q.Tenant).Where("p.is_open").Where("p.kind = ?", kind).
			Where("k.id = p.item").Where("NOT EXISTS (?)", hidden).
			OrderExpr("p.at DESC, p.proposal, k.number DESC").Limit(maxExamined+1))
	}
}
