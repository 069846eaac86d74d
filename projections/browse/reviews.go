package browse

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// The bounds of a review.
const (
	maxWaiting    = 1000 // items of a queue
	maxSuperseded = 5000 // superseded items whose use is looked up
)

// queue is a queue of a review, in SQL over the items k at the time ?0.
type queue struct {
	name                 string
	severity             int
	index, some          string
	count, since, reason string

	find func(reviewer, context.Context, domain.ReviewQuery) ([]waiting, error) // instead of SQL; nil for SQL
	most int                                                                    // rows that it finds, without one more
}

const (
	staleSince = "CASE WHEN k.confirm_until <= ?0 THEN coalesce(k.suspended_since, k.stale_since) " +
		"ELSE k.stale_since END"
	staleReason = "CASE WHEN k.stale_reason = '' THEN k.suspended_reason ELSE k.stale_reason END"
	newestHarm  = "(SELECT max(v.at) FROM ?1 AS v WHERE v.tenant = k.tenant AND v.id = k.id AND v.verdict = 'harmful')"
	harmSince   = "k.status = 'active' AND k.harmful > 0 AND EXISTS (SELECT 1 FROM ?1 AS v WHERE v.tenant = k.tenant " +
		"AND v.id = k.id AND v.verdict = 'harmful' AND (k.confirmed_at IS NULL OR v.at > k.confirmed_at))"
)

func queues() []queue {
	return []queue{
		{
			name: domain.QueueStale, severity: 3, index: "stale",
			some:  "k.status = 'active' AND " + rows.MayBeStale + " AND " + rows.ReportersAt + " > 0",
			count: rows.ReportersAt, since: staleSince, reason: staleReason,
		},
		{
			name: domain.QueueExpired, severity: 1, index: "stale",
			some: "k.status = 'active' AND " + rows.MayBeStale + " AND k.confirm_until <= ?0", count: "0",
			since: "k.confirm_until", reason: "''",
		},
		{
			name: domain.QueueContested, severity: 3, index: "harmful", some: rows.Refuted() + " AND " + harmSince,
			count: "k.harmful", since: newestHarm, reason: "''",
		},
		{ // by reports alone
			name: domain.QueueContested, severity: 3, index: "stale",
			some: "k.status = 'active' AND " + rows.MayBeStale + " AND " + rows.Refuted() + " AND " + rows.ReportersAt +
				" > 0 AND NOT (" + harmSince + ")",
			count: rows.ReportersAt, since: staleSince, reason: staleReason,
		},
		{
			name: domain.QueueDivided, severity: 3, index: "harmful",
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
		{
			name: domain.QueueProposed, severity: 4, index: "withheld",
			some: "k." + rows.Withheld + " AND k.status = 'proposed'", count: "0", since: "k.created_at", reason: "''",
		},
		{name: domain.QueueVerificationDue, severity: 1, find: reviewer.due},
		{name: domain.QueueOwnerDeactivated, severity: 2, find: reviewer.abandoned},
		{name: domain.QueueUnused, severity: 1, find: reviewer.unused},
		{name: domain.QueueDuplicate, severity: 2, find: pairs(domain.Duplicate), most: maxExamined},
		{name: domain.QueueContradiction, severity: 3, find: pairs(domain.Contradiction), most: maxExamined},
	}
}

// waiting is an item in a queue.
type waiting struct {
	Number int64         `bun:"number"`
	ID     string        `bun:"id"`
	Count  int           `bun:"counted"`
	Since  database.Time `bun:"since"`
	Reason string        `bun:"reason"`

	Owner  domain.Entity  `bun:"owner"`
	Type   domain.Type    `bun:"type"`
	Scopes []domain.Scope `bun:"scopes"`

	Proposal string   `bun:"proposal"` // by which it waits; empty in most queues
	Score    float64  `bun:"score"`    // of the proposal
	Group    []string `bun:"-"`        // the proposals that are reviewed together, Proposal first
}

// item is what the assignment of an item in a queue follows from.
func (w waiting) item(queue string) *domain.Knowledge {
	k := &domain.Knowledge{Owner: w.Owner, Class: domain.Class{Type: w.Type}, Scopes: w.Scopes}
	if queue == domain.QueueProposed {
		k.Status = domain.IsProposed
	}
	return k
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
	if err := p.stewards.read(ctx, v.DB); err != nil {
		return page, err
	}
	if err := p.stewards.readMaintained(ctx, q.Assigned); err != nil {
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
		if err == nil {
			page.Queues[one.name], err = p.fill(ctx, q, one, all, found, page.Queues[one.name])
		}
		if err != nil {
			return page, rows.Failed(ctx, "read a queue", err)
		}
	}
	chosen := make([]*candidate, 0, len(found))
	for _, c := range found {
		matches := func(why domain.ReviewReason) bool { return why.Queue == q.Queue }
		if q.Queue == "" || slices.ContainsFunc(c.Reasons, matches) {
			chosen = append(chosen, c)
		}
	}
	if err := p.countUses(ctx, q.Tenant, chosen); err != nil {
		return page, rows.Failed(ctx, "count uses", err)
	}
	slices.SortFunc(chosen, byUrgency)
	page.Total = len(chosen)
	if page.ByAssignee, page.ByScope, err = p.loads(ctx, chosen); err != nil {
		return page, err
	}
	chosen = chosen[min(q.Skip, int64(len(chosen))):]
	page.Items, err = r.readReviews(ctx, p, chosen[:min(q.Limit, len(chosen))])
	return page, err
}

// fill adds what waits in a queue of a length to the candidates, as far as it is assigned to the assignees of the
// query. Of the items of a proposal or group, it adds the first.
func (p reviewer) fill(
	ctx context.Context, q domain.ReviewQuery, in queue, all []waiting, found map[int64]*candidate,
	length domain.QueueLength,
) (domain.QueueLength, error) {
	proposed := map[string]bool{}
	for i, w := range all {
		if length.More = length.More || i == cmp.Or(in.most, maxWaiting) || length.Items == maxWaiting; length.More {
			break
		}
		if is, err := p.isFor(ctx, q, in.name, w); err != nil {
			return length, err
		} else if !is || proposed[w.Proposal] {
			continue
		}
		proposed[w.Proposal] = w.Proposal != ""
		c := cmp.Or(found[w.Number], &candidate{id: w.ID, number: w.Number, of: w.item(in.name)})
		found[w.Number] = c
		if c.add(in, w, q.Queue) {
			length.Items++
		}
	}
	return length, nil
}

// reviewer reads queues.
type reviewer struct {
	view     view
	stewards *stewards
}

// candidate is an item of any queue.
type candidate struct {
	domain.Review

	id       string
	number   int64
	of       *domain.Knowledge // what its assignment follows from
	severity int
	oldest   time.Time
	group    []string // of proposals; of several, the one with the highest rank
	rank     float64
}

// add notes why an item waits, and tells whether that is its first reason of the queue. Several proposals about it are
// one reason. Of the queue that was asked for, it prefers a pair to those of the other one.
func (c *candidate) add(in queue, w waiting, wanted string) (first bool) {
	since := w.Since.Time
	if c.oldest.IsZero() || since.Before(c.oldest) {
		c.oldest = since
	}
	if in.name == wanted {
		w.Score++
	}
	if w.Proposal != "" && (c.group == nil || w.Score > c.rank) {
		c.group, c.rank = w.Group, w.Score
	}
	i := slices.IndexFunc(c.Reasons, func(why domain.ReviewReason) bool { return why.Queue == in.name })
	if i >= 0 {
		c.Reasons[i].Count += w.Count
		c.Reasons[i].Since = since // the proposals come the newest first
		return false
	}
	c.severity += in.severity
	c.Reasons = append(c.Reasons, domain.ReviewReason{Queue: in.name, Since: since, Count: w.Count, Text: w.Reason})
	return true
}

func byUrgency(a, b *candidate) int {
	return cmp.Or(cmp.Compare(b.severity*(1+b.Uses), a.severity*(1+a.Uses)), a.oldest.Compare(b.oldest),
		cmp.Compare(a.number, b.number))
}

// loads counts candidates by their assignees and by their scopes.
func (p reviewer) loads(ctx context.Context, all []*candidate) (byAssignee, byScope []domain.ReviewLoad, err error) {
	to, scopes := map[domain.Entity]*domain.ReviewLoad{}, map[domain.Entity]*domain.ReviewLoad{}
	count := func(in map[domain.Entity]*domain.ReviewLoad, of domain.Entity, since time.Time) {
		load := cmp.Or(in[of], &domain.ReviewLoad{Of: of, Since: since})
		in[of] = load
		if load.Items++; since.Before(load.Since) {
			load.Since = since
		}
	}
	for _, c := range all {
		assigned, err := p.stewards.assignment(ctx, c.of)
		if err != nil {
			return nil, nil, err
		}
		if len(assigned.To) == 0 {
			count(to, "", c.oldest)
		}
		for _, e := range assigned.To {
			count(to, e, c.oldest)
		}
		for _, scope := range c.of.Scopes {
			count(scopes, domain.Entity(scope), c.oldest)
		}
	}
	return longest(to), longest(scopes), nil
}

// longest lists the longest loads, those first that wait longest.
func longest(loads map[domain.Entity]*domain.ReviewLoad) (list []domain.ReviewLoad) {
	for _, load := range loads {
		list = append(list, *load)
	}
	slices.SortFunc(list, func(a, b domain.ReviewLoad) int {
		return cmp.Or(b.Items-a.Items, a.Since.Compare(b.Since), cmp.Compare(a.Of, b.Of))
	})
	return list[:min(len(list), domain.MostLoads)]
}

// waitingIn reads the newest items of a queue, and one more than are listed.
func (p reviewer) waitingIn(ctx context.Context, q domain.ReviewQuery, in queue) ([]waiting, error) {
	query := p.items(q, p.view.DB.NewSelect().TableExpr("?", p.view.IndexHint(in.index))).
		ColumnExpr("? AS counted, ? AS since, ? AS reason", p.view.at(in.count), p.view.at(in.since), p.view.at(in.reason)).
		Where("?", p.view.at(in.some)).OrderExpr("k.number DESC")
	if in.name == domain.QueueSupersededUsed {
		query = p.view.DB.NewSelect().TableExpr("(?) AS newest", query.Limit(maxSuperseded)).ColumnExpr("newest.*").
			Where("EXISTS (?)", p.view.usesOf(q.Tenant).ColumnExpr("1").Where("u.number = newest.number").
				Where("u.used_at > newest.since")).
			OrderExpr("newest.number DESC")
	}
	return p.scan(ctx, query.Limit(maxWaiting+1))
}

// items narrows a query on items k to those that a review is about, and selects what [waiting] says of each.
func (p reviewer) items(q domain.ReviewQuery, query *bun.SelectQuery) *bun.SelectQuery {
	chosen, choice := p.view.isChosen(domain.EventQuery{Tenant: q.Tenant, Only: q.Only, Scope: q.Scope, Owner: q.Owner})
	return p.forAssignee(query.ColumnExpr("k.number, k.id, k.owner, k.type, k.scopes").
		Where("k.tenant = ?", q.Tenant).Where(chosen, choice...), q)
}

// scan reads what waits, and leaves out what cannot be read.
func (p reviewer) scan(ctx context.Context, query *bun.SelectQuery) (all []waiting, err error) {
	err = rows.ScanEach(ctx, p.view.DB.DB, query, func(w *waiting, unreadable error) {
		if unreadable == nil {
			all = append(all, *w)
		}
	})
	return all, err
}

// countUses counts the uses of each candidate.
func (p reviewer) countUses(ctx context.Context, tenant string, all []*candidate) error {
	if len(all) == 0 {
		return nil
	}
	numbers, byNumber := make([]int64, len(all)), map[int64]*candidate{}
	for i, c := range all {
		numbers[i], byNumber[c.number] = c.number, c
	}
	var used []struct {
		Number int64         `bun:"number"`
		Uses   int           `bun:"uses"`
		Last   database.Time `bun:"used_at"`
	}
	err := p.view.usesOf(tenant).ColumnExpr("u.number, u.uses, u.used_at").
		Where("u.number IN (?)", bun.List(numbers)).Scan(ctx, &used)
	for _, u := range used {
		byNumber[u.Number].Uses, byNumber[u.Number].Used = u.Uses, u.Last.Time
	}
	return err
}

// readReviews reads the items of a page with the pairs that they belong to. It leaves out items that cannot be read.
func (r Reports) readReviews(ctx context.Context, p reviewer, page []*candidate) ([]domain.Review, error) {
	if len(page) == 0 {
		return nil, nil
	}
	var ids, paired, streams []string
	for _, c := range page {
		ids = append(ids, c.id)
		paired = append(paired, c.group...)
		if c.group != nil {
			streams = append(streams, domain.ProposalStreams.Of(c.group[0]))
		}
	}
	proposals, err := r.proposals(ctx, p.stewards.tenant, paired)
	if err != nil {
		return nil, err
	}
	proposed, err := r.Log.Reader.NewestOf(ctx, p.stewards.tenant, streams, []string{domain.ReviewProposed{}.Name()})
	if err != nil {
		return nil, err
	}
	for _, proposal := range proposals {
		ids = append(ids, proposal.Items...)
	}
	found, err := p.view.Read(ctx, p.view.Items().
		Where("k.tenant = ?", p.stewards.tenant).Where("k.id IN (?)", bun.List(ids)))
	if err != nil {
		return nil, rows.Failed(ctx, "read items for review", err)
	}
	items := map[string]*domain.Knowledge{}
	for i := range found {
		if !found[i].Broken {
			items[found[i].ID] = p.view.Item(&found[i])
		}
	}
	list := make([]domain.Review, 0, len(page))
	for _, c := range page {
		if c.Item = items[c.id]; c.Item == nil {
			continue
		}
		if c.Assigned, err = p.stewards.assignment(ctx, c.Item); err != nil {
			return nil, err
		}
		for _, proposal := range c.group {
			of, is := proposals[proposal]
			if !is {
				continue
			}
			if c.Pair == nil {
				f, _ := proposed[domain.ProposalStreams.Of(proposal)].Fact.(domain.ReviewProposed)
				c.Pair = &domain.ReviewPair{
					Proposal: proposal, Kind: of.Kind, Score: of.Score, Rule: of.Rule, By: of.By, Reason: f.Reason,
				}
			}
			var more []*domain.Knowledge
			for _, id := range of.Items {
				if k := items[id]; k != nil && id != c.id && !slices.Contains(c.Pair.Items, k) {
					more = append(more, k)
				}
			}
			if len(c.Pair.Items)+len(more) <= domain.MostMerged {
				c.Pair.All, c.Pair.Items = append(c.Pair.All, proposal), append(c.Pair.Items, more...)
			}
		}
		list = append(list, c.Review)
	}
	return list, nil
}
