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
	"github.com/annals-kb/annals/projections/people"
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
	deactivated map[domain.Entity]time.Time          // when members were deactivated
	maintainers map[domain.Entity][]domain.Entity    // of each group; nil until they are needed
	maintained  []domain.Entity                      // groups, by the assignee of a query
	groups      map[domain.Entity][]domain.Belonging // of verifiers, once they are needed
}

func (s *stewards) read(ctx context.Context, db *database.DB) error {
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
	s.deactivated, s.groups = map[domain.Entity]time.Time{}, map[domain.Entity][]domain.Belonging{}
	for _, one := range found {
		if delete(s.deactivated, domain.Entity(one.Stream)); one.Name == (domain.MemberDeactivated{}).Name() {
			s.deactivated[domain.Entity(one.Stream)] = one.At.Time
		}
	}
	return nil
}

// readMaintained reads which groups an assignee maintains.
func (s *stewards) readMaintained(ctx context.Context, by domain.Entity) error {
	if by == "" {
		return nil
	}
	stream, err := s.log.State(ctx, s.tenant, domain.DirectoryStream(by))
	entry, _ := stream.State.(domain.MemberEntry)
	for _, m := range entry.Groups {
		if m.Role == domain.Maintainer && entry.Active() && s.deactivated[m.Group].IsZero() {
			s.maintained = append(s.maintained, m.Group)
		}
	}
	return err
}

// assignment is who should review an item. Maintainers are looked up when the first item needs them, with the states
// of all users and agents of the tenant.
func (s *stewards) assignment(ctx context.Context, k *domain.Knowledge) (a domain.Assignment, err error) {
	gone := func(e domain.Entity) bool { return !s.deactivated[e].IsZero() }
	reads := func(e domain.Entity, scope domain.Scope) bool {
		return !gone(e) && (scope == "" || scope == domain.Public || e == scope.Entity() || s.inGroup(ctx, e, scope, &err))
	}
	return s.policies.Assign(k, reads, gone, func(group domain.Entity) []domain.Entity {
		if s.maintainers == nil && err == nil {
			err = s.readMaintainers(ctx)
		}
		return s.maintainers[group]
	}), err
}

// inGroup tells whether a verifier belongs to the group that has a scope.
func (s *stewards) inGroup(ctx context.Context, e domain.Entity, scope domain.Scope, failed *error) bool {
	all, known := s.groups[e]
	if !known && *failed == nil {
		var of domain.Belongings
		of, *failed = people.Directory{Log: s.log}.Belongings(ctx, s.tenant, e, nil)
		all = of.All
		s.groups[e] = all
	}
	return slices.ContainsFunc(all, func(b domain.Belonging) bool { return b.Group == scope.Entity() })
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
					if entry.Active() && m.Role == domain.Maintainer && s.deactivated[m.Group].IsZero() {
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
	for _, e := range slices.Concat(to, p.stewards.maintained) {
		scopes = append(scopes, e.Scope())
	}
	for _, policy := range p.stewards.policies.Policies {
		if slices.Contains(to, policy.Verifier) && policy.Scope == "" {
			return query
		} else if slices.Contains(to, policy.Verifier) {
			scopes = append(scopes, policy.Scope)
		}
	}
	reached := rows.Reaches(p.view.DB.Engine, "k.scopes")
	return query.Where("(k.owner IN (?) OR "+reached+")", bun.List(to), bun.List(scopes))
}

// isFor tells whether an item is assigned to the assignees of a query, or owned by the caller who asks for theirs.
func (p reviewer) isFor(ctx context.Context, q domain.ReviewQuery, queue string, w waiting) (bool, error) {
	to, k := assignees(q), w.item(queue)
	if len(to) == 0 || q.Mine != nil && k.Owner == q.Mine.EffectiveSubject() {
		return true, nil
	}
	assigned, err := p.stewards.assignment(ctx, k)
	return assigned.Has(to...), err
}

// longestAgo selects active items k, those first that were confirmed or remembered longest ago.
func (p reviewer) longestAgo(q domain.ReviewQuery, before time.Time) *bun.SelectQuery {
	query := p.items(q, p.view.DB.NewSelect().TableExpr("? AS k", p.view.Tables.Knowledge)).
		ColumnExpr("0 AS counted, ? AS since, '' AS reason", bun.Safe(verifiedAt)).
		Where("k.status = 'active'").Where(verifiedAt+" <= ?", database.At(before)).OrderExpr(verifiedAt + ", k.number")
	return rows.WhereKind(query, domain.Filter{NoArchives: true})
}

// due reads the items that a policy asks to verify, the longest overdue first.
func (p reviewer) due(ctx context.Context, q domain.ReviewQuery) (all []waiting, err error) {
	if len(p.stewards.policies.Policies) == 0 {
		return nil, nil
	}
	type kind struct {
		days int
		of   domain.Type
	}
	scopes, shortest := map[kind][]domain.Scope{}, domain.MaxVerificationDays
	for _, policy := range p.stewards.policies.Policies {
		to := kind{policy.EveryDays, policy.Type}
		scopes[to] = append(scopes[to], policy.Scope)
		shortest = min(shortest, policy.EveryDays)
	}
	before := func(days int) time.Time { return p.view.Now().AddDate(0, 0, -days) }
	query := p.longestAgo(q, before(shortest)).Where("k.confirm_until IS NULL").
		WhereGroup(" AND ", func(query *bun.SelectQuery) *bun.SelectQuery {
			for to, of := range scopes { // a more specific policy may have a longer period
				condition, args := verifiedAt+" <= ?", []any{database.At(before(to.days))}
				if to.of != "" {
					condition, args = condition+" AND k.type = ?", append(args, to.of)
				}
				if !slices.Contains(of, "") {
					condition, args = condition+" AND "+rows.Reaches(p.view.DB.Engine, "k.scopes"), append(args, bun.List(of))
				}
				query = query.WhereOr("("+condition+")", args...)
			}
			return query
		})
	found, err := p.scan(ctx, query.Limit(maxExamined))
	for _, k := range found {
		policy, is := p.stewards.policies.For(k.Scopes, domain.Type(k.Type))
		if until := k.Since.Add(policy.Every()); is && !until.After(p.view.Now()) {
			k.Since = database.At(until)
			all = append(all, k)
		}
	}
	return all[:min(len(all), maxWaiting+1)], err
}

// abandoned reads the newest items whose owner was deactivated.
func (p reviewer) abandoned(ctx context.Context, q domain.ReviewQuery) (all []waiting, err error) {
	if len(p.stewards.deactivated) == 0 {
		return nil, nil
	}
	query := p.items(q, p.view.DB.NewSelect().TableExpr("? AS k", p.view.Tables.Knowledge)).
		ColumnExpr("0 AS counted, k.owner AS reason").Where("k.status = 'active'").
		Where("k.owner IN (?)", bun.List(slices.Collect(maps.Keys(p.stewards.deactivated)))).
		OrderExpr("k.number DESC").Limit(maxWaiting + 1)
	all, err = p.scan(ctx, rows.WhereKind(query, domain.Filter{NoArchives: true}))
	for i, k := range all {
		all[i].Since = database.At(p.stewards.deactivated[domain.Entity(k.Owner)])
	}
	return all, err
}

// unused reads the items that were neither used nor confirmed for a year, where uses are recorded.
func (p reviewer) unused(ctx context.Context, q domain.ReviewQuery) ([]waiting, error) {
	since := p.view.Now().Add(-unusedFor)
	recorded := p.view.usesOf(q.Tenant).ColumnExpr("1")
	used := p.view.usesOf(q.Tenant).ColumnExpr("1").Where("u.number = oldest.number").
		Where("u.used_at >= ?", database.At(since))
	helpful := p.view.DB.NewSelect().TableExpr("? AS v", p.view.Tables.Votes).ColumnExpr("1").
		Where("v.tenant = ?", q.Tenant).
		Where("v.id = oldest.id").Where("v.verdict = 'helpful'").Where("v.at >= ?", database.At(since))
	return p.scan(ctx, p.view.DB.NewSelect().TableExpr("(?) AS oldest", p.longestAgo(q, since).Limit(maxExamined)).
		ColumnExpr("oldest.*").
		Where("EXISTS (?)", recorded).Where("NOT EXISTS (?)", used).Where("NOT EXISTS (?)", helpful).
		OrderExpr("oldest.since, oldest.number").Limit(maxWaiting+1))
}
