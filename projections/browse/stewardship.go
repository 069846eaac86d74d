package browse

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/rows"
)

const (
	maxExamined = 5000 // items that were verified longest ago, of which a queue is made
	unusedFor   = 365 * 24 * time.Hour
	verifiedAt  = "coalesce(k.confirmed_at, k.created_at)"
)

// stewards knows who looks after the items of a tenant.
type stewards struct {
	log         *events.Reader
	tenant      string
	policies    domain.Verification
	deactivated map[domain.Entity]time.Time       // when members were deactivated
	maintainers map[domain.Entity][]domain.Entity // of each group; nil until they are needed
}

func (s *stewards) read(ctx context.Context, db *database.DB, maintainers bool) error {
	stream, err := s.log.State(ctx, s.tenant, domain.VerificationStream)
	if err != nil {
		return err
	}
	s.policies, _ = stream.State.(domain.Verification)
	var found []struct {
		Stream string        `bun:"stream"`
		Name   string        `bun:"name"`
		At     database.Time `bun:"recorded_at"`
	}
	err = db.NewRaw(`
		SELECT e.stream, e.name, e.recorded_at
		FROM events AS e
		WHERE e.tenant = ? AND e.name IN ('directory.deactivated', 'directory.reactivated')
		ORDER BY e.stream, e.version`, s.tenant).Scan(ctx, &found)
	if err != nil {
		return rows.Failed(ctx, "read deactivations", err)
	}
	s.deactivated = map[domain.Entity]time.Time{}
	for _, one := range found {
		if delete(s.deactivated, domain.Entity(one.Stream)); one.Name == (domain.MemberDeactivated{}).Name() {
			s.deactivated[domain.Entity(one.Stream)] = one.At.Time
		}
	}
	if maintainers {
		return s.readMaintainers(ctx)
	}
	return nil
}

// assignment is who should review an item. Maintainers are looked up when the first item needs them, with the states
// of all users and agents of the tenant.
func (s *stewards) assignment(ctx context.Context, k *domain.Knowledge) (a domain.Assignment, err error) {
	gone := func(e domain.Entity) bool { return !s.deactivated[e].IsZero() }
	return s.policies.Assign(k, gone, func(group domain.Entity) []domain.Entity {
		if s.maintainers == nil && err == nil {
			err = s.readMaintainers(ctx)
		}
		return s.maintainers[group]
	}), err
}

func (s *stewards) readMaintainers(ctx context.Context) error {
	const page = 500
	s.maintainers = map[domain.Entity][]domain.Entity{}
	for _, kind := range []string{domain.User, domain.Agent} {
		for after := ""; ; {
			states, err := s.log.States(ctx, s.tenant, kind+":", after, page)
			if err != nil {
				return err
			}
			for _, state := range states {
				after = state.Name
				entry, _ := state.State.(domain.MemberEntry)
				for _, m := range entry.Groups {
					if entry.Active() && m.Role == domain.Maintainer {
						s.maintainers[m.Group] = append(s.maintainers[m.Group], entry.Member)
					}
				}
			}
			if len(states) < page {
				break
			}
		}
	}
	return nil
}

// assignees are the entities whose assignments a query asks for; none for all.
func assignees(q domain.ReviewQuery) []domain.Entity {
	switch {
	case q.Mine != nil:
		return append([]domain.Entity{q.Mine.EffectiveSubject()}, q.Mine.Maintains...)
	case q.Assigned != "":
		return []domain.Entity{q.Assigned}
	}
	return nil
}

// forAssignee narrows items k to those that may be assigned to the assignees of a query, and a few others.
func (p reviewer) forAssignee(query *bun.SelectQuery, q domain.ReviewQuery) *bun.SelectQuery {
	to := assignees(q)
	if len(to) == 0 {
		return query
	}
	var scopes []domain.Scope
	for _, e := range to {
		scopes = append(scopes, e.Scope())
	}
	for _, policy := range p.policies.Policies {
		if slices.Contains(to, policy.Verifier) && policy.Scope == "" {
			return query
		} else if slices.Contains(to, policy.Verifier) {
			scopes = append(scopes, policy.Scope)
		}
	}
	for group, all := range p.maintainers {
		if slices.ContainsFunc(all, func(e domain.Entity) bool { return slices.Contains(to, e) }) {
			scopes = append(scopes, group.Scope())
		}
	}
	return query.Where("(k.owner IN (?) OR "+reaches(p.DB.Engine)+")", bun.List(to), bun.List(scopes))
}

// assignedTo keeps the candidates that are assigned to the assignees of a query, and counts the queues anew.
func (p reviewer) assignedTo(
	ctx context.Context, q domain.ReviewQuery, found map[int64]*candidate, chosen []*candidate,
	lengths map[string]domain.QueueLength,
) ([]*candidate, error) {
	var list []struct {
		Number int64          `bun:"number"`
		Owner  string         `bun:"owner"`
		Type   string         `bun:"type"`
		Scopes []domain.Scope `bun:"scopes"`
	}
	for numbers := range slices.Chunk(slices.Collect(maps.Keys(found)), maxWaiting) {
		err := p.DB.NewSelect().TableExpr("? AS k", p.Tables.Knowledge).ColumnExpr("k.number, k.owner, k.type, k.scopes").
			Where("k.tenant = ?", q.Tenant).Where("k.number IN (?)", bun.List(numbers)).OrderExpr("k.number").Scan(ctx, &list)
		if err != nil {
			return nil, err
		}
		for _, one := range list {
			k := &domain.Knowledge{Owner: domain.Entity(one.Owner), Type: domain.Type(one.Type), Scopes: one.Scopes}
			to, err := p.assignment(ctx, k)
			if err != nil {
				return nil, err
			}
			if !to.Has(assignees(q)...) && (q.Mine == nil || k.Owner != q.Mine.EffectiveSubject()) {
				delete(found, one.Number)
			}
		}
		list = list[:0]
	}
	for name, length := range lengths {
		length.Items = 0
		for _, c := range found {
			if slices.ContainsFunc(c.Reasons, func(why domain.ReviewReason) bool { return why.Queue == name }) {
				length.Items++
			}
		}
		lengths[name] = length
	}
	return slices.DeleteFunc(chosen, func(c *candidate) bool { return found[c.number] == nil }), nil
}

// verifying is an item that may wait for its verification.
type verifying struct {
	waiting

	Owner  string         `bun:"owner"`
	Type   string         `bun:"type"`
	Scopes []domain.Scope `bun:"scopes"`
}

// longestAgo selects active items k, those first that were confirmed or remembered longest ago.
func (p reviewer) longestAgo(q domain.ReviewQuery, before time.Time) *bun.SelectQuery {
	chosen, choice := p.isChosen(domain.EventQuery{Tenant: q.Tenant, Only: q.Only, Scope: q.Scope, Owner: q.Owner})
	query := p.DB.NewSelect().TableExpr("? AS k", p.Tables.Knowledge).
		ColumnExpr("k.number, k.id, k.owner, k.type, k.scopes").
		ColumnExpr("0 AS counted, ? AS since, '' AS reason", bun.Safe(verifiedAt)).
		Where("k.tenant = ?", q.Tenant).Where("k.status = 'active'").Where(verifiedAt+" <= ?", database.At(before)).
		Where(chosen, choice...).OrderExpr(verifiedAt + ", k.number")
	return p.forAssignee(rows.WhereKind(query, domain.Filter{NoArchives: true}), q)
}

// due reads the items that a policy asks to verify, the longest overdue first.
func (p reviewer) due(ctx context.Context, q domain.ReviewQuery) (all []waiting, err error) {
	if len(p.policies.Policies) == 0 {
		return nil, nil
	}
	type kind struct {
		days int
		of   domain.Type
	}
	scopes, shortest := map[kind][]domain.Scope{}, domain.MaxVerificationDays
	for _, policy := range p.policies.Policies {
		to := kind{policy.EveryDays, policy.Type}
		scopes[to] = append(scopes[to], policy.Scope)
		shortest = min(shortest, policy.EveryDays)
	}
	before := func(days int) time.Time { return p.Now().AddDate(0, 0, -days) }
	query := p.longestAgo(q, before(shortest)).Where("k.confirm_until IS NULL").
		WhereGroup(" AND ", func(query *bun.SelectQuery) *bun.SelectQuery {
			for to, of := range scopes { // a more specific policy may have a longer period
				condition, args := verifiedAt+" <= ?", []any{database.At(before(to.days))}
				if to.of != "" {
					condition, args = condition+" AND k.type = ?", append(args, to.of)
				}
				if !slices.Contains(of, "") {
					condition, args = condition+" AND "+reaches(p.DB.Engine), append(args, bun.List(of))
				}
				query = query.WhereOr("("+condition+")", args...)
			}
			return query
		})
	var found []verifying
	if err := query.Limit(maxExamined).Scan(ctx, &found); err != nil {
		return nil, err
	}
	for _, k := range found {
		policy, is := p.policies.For(k.Scopes, domain.Type(k.Type))
		if until := k.Since.Add(policy.Every()); is && !until.After(p.Now()) {
			k.Since = database.At(until)
			all = append(all, k.waiting)
		}
	}
	return all[:min(len(all), maxWaiting+1)], nil
}

// abandoned reads the newest items whose owner was deactivated.
func (p reviewer) abandoned(ctx context.Context, q domain.ReviewQuery) (all []waiting, err error) {
	if len(p.deactivated) == 0 {
		return nil, nil
	}
	chosen, choice := p.isChosen(domain.EventQuery{Tenant: q.Tenant, Only: q.Only, Scope: q.Scope, Owner: q.Owner})
	var found []verifying
	query := p.DB.NewSelect().TableExpr("? AS k", p.Tables.Knowledge).
		ColumnExpr("k.number, k.id, k.owner, 0 AS counted, k.owner AS reason").
		Where("k.tenant = ?", q.Tenant).Where("k.status = 'active'").
		Where("k.owner IN (?)", bun.List(slices.Collect(maps.Keys(p.deactivated)))).
		Where(chosen, choice...).OrderExpr("k.number DESC").Limit(maxWaiting + 1)
	err = p.forAssignee(rows.WhereKind(query, domain.Filter{NoArchives: true}), q).Scan(ctx, &found)
	for _, k := range found {
		k.Since = database.At(p.deactivated[domain.Entity(k.Owner)])
		all = append(all, k.waiting)
	}
	return all, err
}

// unused reads the items that were neither used nor confirmed for a year, where retrievals are recorded.
func (p reviewer) unused(ctx context.Context, q domain.ReviewQuery) (all []waiting, err error) {
	since := p.Now().Add(-unusedFor)
	uses := func(item string) *bun.SelectQuery {
		return p.useOf(p.DB.NewSelect().TableExpr("accesses AS a").ColumnExpr("1"), q.Tenant, item, unusedFor)
	}
	helpful := p.DB.NewSelect().TableExpr("? AS v", p.Tables.Votes).ColumnExpr("1").Where("v.tenant = ?", q.Tenant).
		Where("v.id = oldest.id").Where("v.verdict = 'helpful'").Where("v.at >= ?", database.At(since))
	err = p.DB.NewSelect().TableExpr("(?) AS oldest", p.longestAgo(q, since).Limit(maxExamined)).
		ColumnExpr("oldest.number, oldest.id, oldest.counted, oldest.since, oldest.reason").
		Where("EXISTS (?)", uses("a.item").Limit(1)).Where("NOT EXISTS (?)", uses("oldest.id")).
		Where("NOT EXISTS (?)", helpful).OrderExpr("oldest.since, oldest.number").Limit(maxWaiting+1).Scan(ctx, &all)
	return all, err
}
