package browse

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/rows"
)

// Reports answer which items stand out, and who used them.
type Reports struct {
	Browser *Browser
	Log     *events.Log
}

// standing is a row of a report.
type standing struct {
	ID             string         `bun:"id"`
	Task           string         `bun:"task"`
	Owner          string         `bun:"owner"`
	Scopes         []domain.Scope `bun:"scopes"`
	Status         string         `bun:"status"`
	Helpful        int            `bun:"helpful"`
	Harmful        int            `bun:"harmful"`
	StaleReporters int            `bun:"stale_reporters"`
	StaleReason    string         `bun:"stale_reason"`
	Expired        bool           `bun:"expired"`
	ConfirmUntil   database.Time  `bun:"confirm_until"`
	Confidence     float64        `bun:"confidence"`
	Count          int            `bun:"counted"`
	Last           database.Time  `bun:"last"`
}

// The columns of a standing except its rank, and the expressions for them at the time ?0.
const (
	standingColumns = `most.id, most.task, most.owner, most.scopes, most.status, most.helpful, most.harmful,
		most.stale_reporters, most.stale_reason, most.expired, most.confirm_until, most.confidence`
	standsThen = `k.id, k.number, k.task, k.owner, k.scopes, k.status, k.helpful, k.harmful,
		` + rows.ReportersAt + ` AS stale_reporters,
		CASE WHEN k.confirm_until <= ?0 AND k.stale_reason = '' THEN k.suspended_reason ELSE k.stale_reason END
			AS stale_reason,
		coalesce(k.confirm_until <= ?0, FALSE) AS expired, k.confirm_until,
		` + rows.ConfidenceAt + ` AS confidence`
)

func (s standing) domain() domain.ReportItem {
	last := s.Last.Time
	if s.Expired && last.IsZero() {
		last = s.ConfirmUntil.Time
	}
	return domain.ReportItem{
		ID: s.ID, Task: s.Task, Owner: domain.Entity(s.Owner), Scopes: s.Scopes, Status: domain.Status(s.Status),
		Helpful: s.Helpful, Harmful: s.Harmful, Reporters: s.StaleReporters, Confidence: s.Confidence,
		Expired: s.Expired, Count: s.Count, Last: last, Reason: s.StaleReason,
	}
}

// Harm ranks items by the harmful votes that count and were cast within the time. Without a time, imported votes
// count, too.
func (r Reports) Harm(ctx context.Context, q domain.ReportQuery) ([]domain.ReportItem, error) {
	p, err := r.Browser.view(ctx)
	if err != nil {
		return nil, err
	}
	voices := func() *bun.SelectQuery {
		return p.DB.NewSelect().TableExpr("? AS v", p.Tables.Votes).Where("v.verdict = 'harmful'")
	}
	return p.ranked(ctx, q, ranking{votes: voices, counted: "k.harmful", some: "k.harmful > 0", index: "harmful"})
}

// Stale ranks items by their reports of staleness since the last confirmation, or by all reports if the confirmation
// has expired. Items with an expired confirmation and no report come last.
func (r Reports) Stale(ctx context.Context, q domain.ReportQuery) ([]domain.ReportItem, error) {
	p, err := r.Browser.view(ctx)
	if err != nil {
		return nil, err
	}
	now := database.At(p.Now())
	reports := func() *bun.SelectQuery {
		return p.DB.NewSelect().TableExpr("? AS v", p.Tables.Reports).
			Where("(NOT v.suspended OR EXISTS (SELECT 1 FROM ? AS e WHERE e.tenant = v.tenant AND e.id = v.id AND "+
				"e.confirm_until <= ?))",
				p.Tables.Knowledge, now)
	}
	return p.ranked(ctx, q, ranking{
		votes: reports, counted: rows.ReportersAt, some: rows.MayBeStale +
			" AND (k.stale_reporters > 0 OR k.confirm_until <= ?0)",
		at: []any{now}, index: "stale", also: p.expiredWithin(q).ColumnExpr("k.id, 0 AS counted"),
	})
}

// expiredWithin selects the items whose last confirmation expired within the time.
func (p view) expiredWithin(q domain.ReportQuery) *bun.SelectQuery {
	expired := p.DB.NewSelect().TableExpr("?", p.IndexHint("stale")).
		Where("k.tenant = ?", q.Tenant).Where(rows.MayBeStale).Where("k.confirm_until <= ?", database.At(p.Now()))
	return rows.Between(expired, "k.confirm_until", q.From, q.To)
}

// ranking says how items are ranked.
type ranking struct {
	votes   func() *bun.SelectQuery // the votes or reports v that count
	counted string                  // their number for item k at the time ?0
	some    string                  // which items are listed, at the time ?0
	at      []any                   // the time, if these expressions need it
	index   string                  // has the items that some selects
	also    *bun.SelectQuery        // ids of items that are listed within a time with a count of 0; nil for none
}

// ranked counts votes or reports by item, and lists the items with the most first. Without a time, a column has the
// count and an index the items. The time of the last vote or report is read for listed items only.
func (p view) ranked(ctx context.Context, q domain.ReportQuery, by ranking) ([]domain.ReportItem, error) {
	query := p.DB.NewSelect().ColumnExpr(standsThen, database.At(p.Now()))
	if q.From.IsZero() && q.To.IsZero() {
		query = query.TableExpr("?", p.IndexHint(by.index)).ColumnExpr(by.counted+" AS counted", by.at...).
			Where(by.some, by.at...)
	} else {
		then := rows.Between(by.votes().ColumnExpr("v.id, count(*) AS counted").Where("v.tenant = ?", q.Tenant).
			GroupExpr("v.id"), "v.at", q.From, q.To)
		if by.also != nil {
			then = p.DB.NewSelect().TableExpr("(?) AS part", then.UnionAll(by.also)).
				ColumnExpr("part.id, CAST(sum(part.counted) AS integer) AS counted").GroupExpr("part.id")
		}
		query = query.TableExpr("(?) AS said CROSS JOIN ? AS k", then, p.Tables.Knowledge).ColumnExpr("said.counted").
			Where("k.id = said.id")
	}
	chosen, args := p.isChosen(about(q))
	query = query.Where("k.tenant = ?", q.Tenant).Where(chosen, args...).
		OrderExpr("counted DESC, confidence, number").Limit(int64(q.Limit)).Offset(q.Skip)
	last := rows.Between(by.votes().ColumnExpr("max(v.at)").Where("v.tenant = ?", q.Tenant).
		Where("v.id = most.id"), "v.at", q.From, q.To)
	list, err := standings(ctx, p, p.DB.NewSelect().TableExpr("(?) AS most", query).
		ColumnExpr(standingColumns+", most.counted, (?) AS last", last).
		OrderExpr("most.counted DESC, most.confidence, most.number"))
	if err != nil {
		return nil, rows.Failed(ctx, "rank knowledge", err)
	}
	return list, nil
}

// standings reads rows of a report, and leaves out those that cannot be read.
func standings(ctx context.Context, p view, query *bun.SelectQuery) (list []domain.ReportItem, err error) {
	list = []domain.ReportItem{}
	var broken []string
	err = rows.ScanEach(ctx, p.DB.DB, query, func(s *standing, unreadable error) {
		if unreadable != nil {
			broken = append(broken, s.ID)
			return
		}
		list = append(list, s.domain())
	})
	if len(broken) > 0 {
		p.LogUnreadable(ctx, broken)
	}
	return list, err
}

// about selects events about the same items.
func about(q domain.ReportQuery) domain.EventQuery {
	return domain.EventQuery{Tenant: q.Tenant, Only: q.Only, Scope: q.Scope, Owner: q.Owner, From: q.From, To: q.To}
}

// lowering are the facts that may lower an item's confidence.
func lowering() []string {
	return []string{
		domain.FoundHarmful{}.Name(), domain.ReportedStale{}.Name(), domain.FeedbackRetracted{}.Name(),
		domain.Merged{}.Name(), domain.Unmerged{}.Name(),
	}
}

// Declining ranks items by how far their confidence fell within the time. It folds the history of every item whose
// confidence an event may have lowered or whose confirmation expired. Its cost grows with their number.
func (r Reports) Declining(ctx context.Context, q domain.ReportQuery) ([]domain.ReportItem, error) {
	streams, err := r.lowered(ctx, q)
	if err != nil {
		return nil, err
	}
	var fallen []domain.ReportItem
	for _, stream := range streams {
		s, err := r.fall(ctx, q, stream)
		if err != nil {
			return nil, err
		}
		if s.Before > s.After {
			fallen = append(fallen, s)
		}
	}
	slices.SortFunc(fallen, func(a, b domain.ReportItem) int {
		return cmp.Or(cmp.Compare(b.Before-b.After, a.Before-a.After), cmp.Compare(a.ID, b.ID))
	})
	fallen = fallen[min(q.Skip, int64(len(fallen))):]
	fallen = fallen[:min(q.Limit, len(fallen))]
	return r.described(ctx, q.Tenant, fallen)
}

// lowered lists the streams with an event that may lower a confidence, or with a confirmation that expired.
func (r Reports) lowered(ctx context.Context, q domain.ReportQuery) ([]string, error) {
	p, err := r.Browser.view(ctx)
	if err != nil {
		return nil, err
	}
	query := about(q)
	chosen, args := p.isChosen(query)
	var expired, streams []string
	if err := p.expiredWithin(q).ColumnExpr("k.id").Where(chosen, args...).Scan(ctx, &expired); err != nil {
		return nil, rows.Failed(ctx, "find expired confirmations", err)
	}
	seen := rows.Set{}
	for _, id := range expired {
		seen.Add(&streams, domain.KnowledgeStream(id))
	}
	query.Names, query.Limit = lowering(), 500
	for {
		found, next, err := r.Log.Finder.Find(ctx, query)
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			seen.Add(&streams, e.Stream)
		}
		if next == 0 {
			return streams, nil
		}
		query.After = next
	}
}

// fall compares an item's confidence at the end of the time with that at its beginning, or at the item's.
func (r Reports) fall(ctx context.Context, q domain.ReportQuery, stream string) (domain.ReportItem, error) {
	id := strings.TrimPrefix(stream, domain.KnowledgeStream(""))
	s := domain.ReportItem{ID: id}
	past, err := r.Log.Reader.Stream(ctx, q.Tenant, stream)
	if err != nil {
		return s, err
	}
	k, policy, first := &domain.Knowledge{ID: id}, r.Browser.catalogue.Policy(), true
	s.Policy = policy.Name
	step := func(at time.Time, confidence float64) {
		if first || at.Before(q.From) {
			s.Before = confidence
		}
		if !q.To.IsZero() && !at.Before(q.To) {
			return
		}
		if !first && confidence < s.After && !at.Before(q.From) {
			s.Count, s.Last = s.Count+1, at
		}
		s.After, first = confidence, false
	}
	var before time.Time
	expire := func(now time.Time) { // no event records that a confirmation expires
		if k.ConfirmUntil.After(before) && !k.ConfirmUntil.After(now) {
			step(k.ConfirmUntil, k.ExpiredConfidence)
		}
	}
	for _, event := range past {
		expire(event.RecordedAt)
		if err := k.Evolve(event.Fact, event.Metadata(), policy); err != nil {
			return s, fmt.Errorf("fold %s: %w", stream, err)
		}
		before = event.RecordedAt
		step(before, k.At(before).Confidence)
	}
	expire(r.Browser.catalogue.Now())
	return s, nil
}

// described adds the current state of the items, and leaves out those that cannot be read.
func (r Reports) described(ctx context.Context, tenant string, list []domain.ReportItem) ([]domain.ReportItem, error) {
	if len(list) == 0 {
		return list, nil
	}
	p, err := r.Browser.view(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(list))
	for i, s := range list {
		ids[i] = s.ID
	}
	now := p.DB.NewSelect().TableExpr("? AS k", p.Tables.Knowledge).ColumnExpr(standsThen, database.At(p.Now())).
		Where("k.tenant = ?", tenant).Where("k.id IN (?)", bun.List(ids))
	current, err := standings(ctx, p, p.DB.NewSelect().TableExpr("(?) AS most", now).ColumnExpr(standingColumns))
	if err != nil {
		return nil, rows.Failed(ctx, "describe knowledge", err)
	}
	known := map[string]domain.ReportItem{}
	for _, row := range current {
		known[row.ID] = row
	}
	left := list[:0]
	for _, s := range list {
		if now, readable := known[s.ID]; readable {
			now.Before, now.After, now.Policy, now.Count, now.Last = s.Before, s.After, s.Policy, s.Count, s.Last
			left = append(left, now)
		}
	}
	return left, nil
}
