package browse

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// examined is what a report of health reads of an item.
type examined struct {
	Owner        string         `bun:"owner"`
	Type         string         `bun:"type"`
	Scopes       []domain.Scope `bun:"scopes"`
	Stale        bool           `bun:"stale"`
	Contested    bool           `bun:"contested"`
	Low          bool           `bun:"low"`
	Judged       bool           `bun:"judged"`
	CreatedAt    database.Time  `bun:"created_at"`
	ConfirmedAt  database.Time  `bun:"confirmed_at"`
	ConfirmUntil database.Time  `bun:"confirm_until"`
}

// scopeTally counts the items of a scope.
type scopeTally struct {
	domain.ScopeHealth

	ages []time.Duration
}

// Health says how well scopes are looked after: all together, then the largest first. It examines the newest items, as
// a count does.
func (r Reports) Health(ctx context.Context, q domain.ReportQuery) ([]domain.ScopeHealth, error) {
	v, err := r.Browser.view(ctx)
	if err != nil {
		return nil, err
	}
	p := reviewer{view: v, stewards: &stewards{log: r.Log.Reader, tenant: q.Tenant}}
	if err := p.stewards.read(ctx, v.DB); err != nil {
		return nil, err
	}
	now := p.view.Now()
	chosen, choice := p.view.isChosen(about(q))
	query := p.view.DB.NewSelect().TableExpr("? AS k", p.view.Tables.Knowledge).
		ColumnExpr("k.owner, k.type, k.scopes, k.created_at, k.confirmed_at, k.confirm_until").
		ColumnExpr("k.stale_reporters > 0 OR coalesce(k.confirm_until <= ?, FALSE) AS stale", database.At(now)).
		ColumnExpr("? AS contested", p.view.Contested(q.Tenant, q.Only)).
		ColumnExpr(fmt.Sprintf("%s < %g AS low", rows.ConfidenceAt, domain.LowConfidence), database.At(now)).
		ColumnExpr("k.helpful > 1 OR k.harmful > 0 OR k.confirmed_at IS NOT NULL AS judged").
		Where("k.tenant = ?", q.Tenant).Where("k.status = 'active'").Where(chosen, choice...).
		OrderExpr("k.number DESC").Limit(mostCounted)
	tallies := map[domain.Scope]*scopeTally{}
	err = rows.ScanEach(ctx, p.view.DB.DB, rows.WhereKind(query, domain.Filter{NoArchives: true}),
		func(one *examined, unreadable error) {
			if unreadable == nil {
				p.tally(tallies, one, q.Scope, now)
			}
		})
	if err != nil {
		return nil, rows.Failed(ctx, "report on health", err)
	}
	all := make([]domain.ScopeHealth, 0, len(tallies))
	for scope, t := range tallies {
		slices.Sort(t.ages)
		t.Scope, t.MedianAge = scope, t.ages[len(t.ages)/2]
		all = append(all, t.ScopeHealth)
	}
	slices.SortFunc(all, func(a, b domain.ScopeHealth) int {
		if (a.Scope == "") != (b.Scope == "") {
			return cmp.Compare(a.Scope, b.Scope)
		}
		return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.Scope, b.Scope))
	})
	return all, nil
}

// tally counts an item in each of its scopes and among all, or in the one scope that was asked for.
func (p reviewer) tally(
	tallies map[domain.Scope]*scopeTally, one *examined, only domain.Scope, now time.Time,
) {
	k := domain.Knowledge{
		Scopes: one.Scopes, Class: domain.Class{Type: domain.Type(one.Type)}, CreatedAt: one.CreatedAt.Time,
		ConfirmedAt: one.ConfirmedAt.Time, ConfirmUntil: one.ConfirmUntil.Time,
	}
	scopes := []domain.Scope{only}
	if only == "" {
		scopes = append(scopes, one.Scopes...)
	}
	overdue := p.stewards.policies.Overdue(&k, now)
	doubtful := one.Stale || one.Contested || one.Low || overdue
	young := now.Sub(k.CreatedAt) < domain.NewFor
	for _, scope := range scopes {
		t := tallies[scope]
		if t == nil {
			t = &scopeTally{}
			tallies[scope] = t
		}
		t.Items++
		t.ages = append(t.ages, now.Sub(k.CreatedAt))
		for n, is := range map[*int]bool{
			&t.Verified: !k.ConfirmedAt.IsZero() && !one.Stale && !overdue, &t.Stale: one.Stale,
			&t.Contested: one.Contested, &t.Overdue: overdue, &t.Doubtful: doubtful,
			&t.New:     young && !one.Judged && !doubtful,
			&t.Unowned: !p.stewards.deactivated[domain.Entity(one.Owner)].IsZero(),
		} {
			if is {
				*n++
			}
		}
	}
}

const (
	mostGauged   = 50              // scopes with metrics of their own
	afterChange  = 5 * time.Minute // until the metrics of a tenant whose log grows are computed again
	afterNothing = time.Hour       // until those of another tenant are, since items become overdue and older
)

// HealthGauges are metrics of the group scopes with the most items, of all tenants. [HealthGauges.Refresh] computes
// them.
type HealthGauges struct {
	reports  Reports
	values   map[string]*prometheus.Desc
	measured map[string]measurement // by tenant
	current  atomic.Pointer[[]tenantHealth]
}

type tenantHealth struct {
	domain.ScopeHealth

	tenant string
}

// measurement is the health of the groups of a tenant at a time.
type measurement struct {
	groups []tenantHealth
	head   string // the id of the newest event
	at     time.Time
}

var _ prometheus.Collector = (*HealthGauges)(nil)

// NewHealthGauges makes the gauges. They have no values before the first refresh.
func NewHealthGauges(reports Reports) *HealthGauges {
	g := &HealthGauges{reports: reports, values: map[string]*prometheus.Desc{}}
	for name, help := range map[string]string{
		"items":           "Active items of a scope.",
		"verified":        "Share of a scope's items that were confirmed and are neither stale nor overdue, 0 to 1.",
		"stale":           "Share of a scope's items that were reported stale, or whose confirmation has expired, 0 to 1.",
		"contested":       "Share of a scope's items that are contested, 0 to 1.",
		"overdue":         "Share of a scope's items whose verification is overdue, 0 to 1.",
		"unowned":         "Share of a scope's items whose owner was deactivated, 0 to 1.",
		"median_age_days": "Median of the days since the items of a scope were remembered.",
	} {
		g.values[name] = prometheus.NewDesc("annals_scope_"+name, help, []string{"tenant", "scope"}, nil)
	}
	return g
}

// Refresh computes the metrics, as far as they may have changed. The context may read every tenant. Do not call it
// concurrently.
func (g *HealthGauges) Refresh(ctx context.Context) error {
	heads, err := g.reports.Log.Watchers.Heads(ctx)
	if err != nil {
		return err
	}
	var all []tenantHealth
	measured := map[string]measurement{}
	for tenant, head := range heads {
		m, err := g.measure(database.ForTenant(ctx, tenant), tenant, head)
		if err != nil {
			return err
		}
		measured[tenant], all = m, append(all, m.groups...)
	}
	g.measured = measured
	slices.SortFunc(all, func(a, b tenantHealth) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.Scope, b.Scope))
	})
	all = all[:min(len(all), mostGauged)]
	g.current.Store(&all)
	return nil
}

func (g *HealthGauges) measure(ctx context.Context, tenant, head string) (measurement, error) {
	last, now := g.measured[tenant], g.reports.Browser.catalogue.Now()
	if age := now.Sub(last.at); age < afterChange || head == last.head && age < afterNothing {
		return last, nil
	}
	m := measurement{head: head, at: now}
	found, err := g.reports.Health(ctx, domain.ReportQuery{Tenant: tenant})
	for _, h := range found {
		if slices.Contains(domain.GroupKinds, h.Scope.Entity().Kind()) {
			m.groups = append(m.groups, tenantHealth{h, tenant})
		}
	}
	return m, err
}

func (g *HealthGauges) Describe(to chan<- *prometheus.Desc) {
	for desc := range maps.Values(g.values) {
		to <- desc
	}
}

func (g *HealthGauges) Collect(to chan<- prometheus.Metric) {
	all := g.current.Load()
	if all == nil {
		return
	}
	for _, h := range *all {
		for name, value := range map[string]float64{
			"items": float64(h.Items), "verified": h.Share(h.Verified), "stale": h.Share(h.Stale),
			"contested": h.Share(h.Contested), "overdue": h.Share(h.Overdue), "unowned": h.Share(h.Unowned),
			"median_age_days": h.MedianAge.Hours() / 24,
		} {
			to <- prometheus.MustNewConstMetric(
				g.values[name], prometheus.GaugeValue, value, h.tenant, string(h.Scope),
			)
		}
	}
}
