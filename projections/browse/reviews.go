package browse

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// The bounds of a review.
const (
	maxWaiting    = 1000 // items of a queue
	maxSuperseded = 5000 // superseded items whose use is looked up
	maxUses       = 100  // that are counted of an item
	usedSince     = 90 * 24 * time.Hour
)

// queue is a queue of a review, in SQL over the items k at the time ?0.
type queue struct {
	name                 string
	severity             int
	index, some          string
	count, since, reason string

	find func(reviewer, context.Context, domain.ReviewQuery) ([]waiting, error) // instead of SQL; nil for SQL
}

const (
	newestHarm = "(SELECT max(v.at) FROM ?1 AS v WHERE v.tenant = k.tenant AND v.id = k.id AND v.verdict = 'harmful')"
	harmSince  = "k.status = 'active' AND k.harmful > 0 AND EXISTS (SELECT 1 FROM ?1 AS v WHERE v.tenant = k.tenant " +
		"AND v.id = k.id AND v.verdict = 'harmful' AND (k.confirmed_at IS NULL OR v.at > k.confirmed_at))"
)

func queues() []queue {
	return []queue{
		{
			name: domain.QueueStale, severity: 3, index: "stale",
			some:  "k.status = 'active' AND " + rows.MayBeStale + " AND " + reportersThen + " > 0",
			count: reportersThen,
			since: "CASE WHEN k.confirm_until <= ?0 THEN coalesce(k.suspended_since, k.stale_since) " +
				"ELSE k.stale_since END",
			reason: "CASE WHEN k.stale_reason = '' THEN k.suspended_reason ELSE k.stale_reason END",
		},
		{
			name: domain.QueueExpired, severity: 1, index: "stale",
			some: "k.status = 'active' AND " + rows.MayBeStale + " AND k.confirm_until <= ?0", count: "0",
			since: "k.confirm_until", reason: "''",
		},
		{
			name: domain.QueueContested, severity: 3, index: "harmful",
			some: "k.helpful >= 2 AND k.harmful >= 2 AND " + harmSince, count: "k.harmful", since: newestHarm, reason: "''",
		},
		{
			name: domain.QueueLowConfidence, severity: 2, index: "harmful",
			some:  fmt.Sprintf("%s < %g AND %s", rows.ConfidenceAt, domain.LowConfidence, harmSince),
			count: "k.harmful", since: newestHarm, reason: "''",
		},
		{
			name: domain.QueueSupersededUsed, severity: 3, index: "replaced",
			some: "k.status = 'superseded' AND k.superseded_by <> ''", count: "0", since: "k.updated_at",
			reason: "k.superseded_by",
		},
		{name: domain.QueueVerificationDue, severity: 1, find: reviewer.due},
		{name: domain.QueueOwnerDeactivated, severity: 2, find: reviewer.abandoned},
		{name: domain.QueueUnused, severity: 1, find: reviewer.unused},
	}
}

// waiting is an item in a queue.
type waiting struct {
	Number int64         `bun:"number"`
	ID     string        `bun:"id"`
	Count  int           `bun:"counted"`
	Since  database.Time `bun:"since"`
	Reason string        `bun:"reason"`
}

// Review lists the items that wait for a review. The order is total: severity times uses, the oldest reason, the
// oldest item.
func (r Reports) Review(ctx context.Context, q domain.ReviewQuery) (domain.ReviewPage, error) {
	page := domain.ReviewPage{Queues: map[string]domain.QueueLength{}}
	v, err := r.Browser.view(ctx)
	if err != nil {
		return page, err
	}
	p := reviewer{view: v, stewards: &stewards{log: r.Log.Reader, tenant: q.Tenant}}
	if err := p.read(ctx, v.DB, q.Assigned != ""); err != nil {
		return page, err
	}
	found := map[int64]*candidate{}
	for _, one := range queues() {
		find := one.find
		if find == nil {
			find = func(p reviewer, ctx context.Context, q domain.ReviewQuery) ([]waiting, error) {
				return p.waitingIn(ctx, q, one)
			}
		}
		all, err := find(p, ctx, q)
		if err != nil {
			return page, rows.Failed(ctx, "read a queue", err)
		}
		page.Queues[one.name] = domain.QueueLength{Items: min(len(all), maxWaiting), More: len(all) > maxWaiting}
		for _, w := range all[:min(len(all), maxWaiting)] {
			c := cmp.Or(found[w.Number], &candidate{id: w.ID, number: w.Number})
			found[w.Number] = c
			c.add(one, w)
		}
	}
	for _, kind := range domain.ProposalKinds {
		page.Queues[string(kind)] = domain.QueueLength{}
	}
	err = p.addPairs(ctx, q, func(to queue, w waiting, pair *pairOf) {
		c := cmp.Or(found[w.Number], &candidate{id: w.ID, number: w.Number})
		found[w.Number] = c
		if c.addPair(to, w, pair, q.Queue) {
			page.Queues[to.name] = domain.QueueLength{Items: page.Queues[to.name].Items + 1}
		}
	})
	if err != nil {
		return page, rows.Failed(ctx, "read proposals", err)
	}
	chosen := make([]*candidate, 0, len(found))
	for _, c := range found {
		asked := func(why domain.ReviewReason) bool { return why.Queue == q.Queue }
		if q.Queue == "" || slices.ContainsFunc(c.Reasons, asked) {
			chosen = append(chosen, c)
		}
	}
	if q.Assigned != "" || q.Mine != nil {
		if chosen, err = p.assignedTo(ctx, q, found, chosen, page.Queues); err != nil {
			return page, rows.Failed(ctx, "read assignments", err)
		}
	}
	if err := p.countUses(ctx, q.Tenant, chosen); err != nil {
		return page, rows.Failed(ctx, "count uses", err)
	}
	slices.SortFunc(chosen, byUrgency)
	page.Total = len(chosen)
	chosen = chosen[min(q.Skip, int64(len(chosen))):]
	page.Items, err = p.readReviews(ctx, q.Tenant, chosen[:min(q.Limit, len(chosen))])
	return page, err
}

// reviewer reads queues.
type reviewer struct {
	view
	*stewards
}

// candidate is an item of any queue.
type candidate struct {
	domain.Review

	id       string
	number   int64
	severity int
	oldest   time.Time
	pair     *pairOf // of several, the one with the highest score
}

// addPair notes a proposal, and tells whether it is the first of its queue about this item. Of the queue that was asked
// for, it prefers a pair to those of the other one.
func (c *candidate) addPair(to queue, w waiting, pair *pairOf, asked string) (first bool) {
	rank := func(p *pairOf) float64 {
		if string(p.Kind) == asked {
			return 1 + p.Score
		}
		return p.Score
	}
	if c.pair == nil || rank(pair) > rank(c.pair) {
		c.pair = pair
	}
	i := slices.IndexFunc(c.Reasons, func(why domain.ReviewReason) bool { return why.Queue == to.name })
	if i < 0 {
		c.add(to, w)
		return true
	}
	c.Reasons[i].Count++
	c.Reasons[i].Since = w.Since.Time // the proposals come the newest first
	if w.Since.Before(c.oldest) {
		c.oldest = w.Since.Time
	}
	return false
}

func (c *candidate) add(to queue, w waiting) {
	c.severity += to.severity
	if since := w.Since.Time; c.oldest.IsZero() || since.Before(c.oldest) {
		c.oldest = since
	}
	c.Reasons = append(c.Reasons, domain.ReviewReason{Queue: to.name, Since: w.Since.Time, Count: w.Count, Text: w.Reason})
}

func byUrgency(a, b *candidate) int {
	return cmp.Or(cmp.Compare(b.severity*(1+b.Uses), a.severity*(1+a.Uses)), a.oldest.Compare(b.oldest),
		cmp.Compare(a.number, b.number))
}

// waitingIn reads the newest items of a queue, and one more than are listed.
func (p reviewer) waitingIn(ctx context.Context, q domain.ReviewQuery, in queue) (all []waiting, err error) {
	chosen, choice := p.isChosen(domain.EventQuery{Tenant: q.Tenant, Only: q.Only, Scope: q.Scope, Owner: q.Owner})
	query := p.DB.NewSelect().TableExpr("?", p.IndexHint(in.index)).ColumnExpr("k.number, k.id").
		ColumnExpr("? AS counted, ? AS since, ? AS reason", p.now(in.count), p.now(in.since), p.now(in.reason)).
		Where("k.tenant = ?", q.Tenant).Where("?", p.now(in.some)).Where(chosen, choice...).OrderExpr("k.number DESC")
	query = p.forAssignee(query, q)
	if in.name == domain.QueueSupersededUsed {
		used := p.DB.NewSelect().TableExpr("accesses AS a").ColumnExpr("1").Where("a.at > newest.since")
		query = p.DB.NewSelect().TableExpr("(?) AS newest", query.Limit(maxSuperseded)).ColumnExpr("newest.*").
			Where("EXISTS (?)", p.useOf(used, q.Tenant, "newest.id", usedSince)).OrderExpr("newest.number DESC")
	}
	err = query.Limit(maxWaiting+1).Scan(ctx, &all)
	return all, err
}

// now is an expression about the present.
func (p reviewer) now(expression string) schema.QueryWithArgs {
	if !strings.Contains(expression, "?") {
		return bun.SafeQuery(expression)
	}
	return bun.SafeQuery(expression, database.At(p.Now()), p.Tables.Votes)
}

// useOf narrows accesses a to uses of an item within a time. Their ids are UUIDs of version 7, in the order of time.
func (p reviewer) useOf(query *bun.SelectQuery, tenant, item string, within time.Duration) *bun.SelectQuery {
	since := fmt.Sprintf("%012x", p.Now().Add(-within).UnixMilli())
	return query.Where("a.tenant = ?", tenant).Where("a.item = "+item).Where("a.item <> ''").
		Where("a.access_id >= ?", since[:8]+"-"+since[8:]+"-7000-8000-000000000000").
		Where("a.kind NOT IN (?)", bun.List([]string{domain.Denied, domain.Reviewed}))
}

// countUses counts the uses of each candidate.
func (p reviewer) countUses(ctx context.Context, tenant string, all []*candidate) error {
	if len(all) == 0 {
		return nil
	}
	ids, byID := make([]string, len(all)), map[string]*candidate{}
	for i, c := range all {
		ids[i], byID[c.id] = c.id, c
	}
	some := p.useOf(p.DB.NewSelect().TableExpr("accesses AS a").ColumnExpr("1").Limit(maxUses), tenant, "w.id", usedSince)
	last := p.useOf(p.DB.NewSelect().TableExpr("accesses AS a").ColumnExpr("a.at").OrderExpr("a.access_id DESC").Limit(1),
		tenant, "w.id", usedSince)
	var used []struct {
		ID   string        `bun:"id"`
		Uses int           `bun:"uses"`
		Last database.Time `bun:"last"`
	}
	listed := rows.Tuples(rows.SingleKeys(ids))
	err := p.DB.NewSelect().TableExpr("(SELECT column1 AS id FROM (VALUES ?) AS listed) AS w", listed).
		ColumnExpr("w.id, (SELECT count(*) FROM (?) AS counted) AS uses, (?) AS last", some, last).Scan(ctx, &used)
	for _, u := range used {
		byID[u.ID].Uses, byID[u.ID].Used = u.Uses, u.Last.Time
	}
	return err
}

// readReviews reads the items of a page, and leaves out those that cannot be read.
func (p reviewer) readReviews(ctx context.Context, tenant string, page []*candidate) ([]domain.Review, error) {
	if len(page) == 0 {
		return nil, nil
	}
	numbers := make([]int64, len(page))
	for i, c := range page {
		numbers[i] = c.number
	}
	found, err := p.Read(ctx, p.DB.NewSelect().Model((*rows.Row)(nil)).ModelTableExpr("? AS k", p.Tables.Knowledge).
		Where("k.tenant = ?", tenant).Where("k.number IN (?)", bun.List(numbers)))
	if err != nil {
		return nil, rows.Failed(ctx, "read items for review", err)
	}
	items := map[int64]*domain.Knowledge{}
	for i := range found {
		if !found[i].Broken {
			items[found[i].Number] = p.Item(&found[i])
		}
	}
	if err := p.readPairs(ctx, tenant, page); err != nil {
		return nil, rows.Failed(ctx, "read pairs for review", err)
	}
	list := make([]domain.Review, 0, len(page))
	for _, c := range page {
		if c.Item = items[c.number]; c.Item != nil {
			if c.Assigned, err = p.assignment(ctx, c.Item); err != nil {
				return nil, err
			}
			list = append(list, c.Review)
		}
	}
	return list, nil
}
