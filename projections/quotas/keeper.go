package quotas

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

var _ events.Admission = (*Keeper)(nil)

// Keeper refuses what would exceed a limit. It is safe for concurrent use. It knows how much is used: as it read that,
// and what this process has written since.
type Keeper struct {
	limits  Limits
	db      *database.DB
	active  func(ctx context.Context, tx bun.IDB) (catalogue.Version, error)
	refused *prometheus.CounterVec
	logger  *slog.Logger

	mu      sync.Mutex
	tenants map[string]usage
}

type usage struct {
	held, added map[string]Amount // as read, and what this process wrote since
	day         time.Time         // whose writes are in held
	through     int64             // the position until which they are
	written     bool              // since that was read
}

// New keeps limits. active is the version of knowledge that holds the items.
func New(
	db *database.DB, limits Limits, active func(context.Context, bun.IDB) (catalogue.Version, error),
	registerer prometheus.Registerer, logger *slog.Logger,
) *Keeper {
	return &Keeper{
		limits: limits, db: db, active: active, logger: logger, tenants: map[string]usage{},
		refused: promauto.With(registerer).NewCounterVec(prometheus.CounterOpts{
			Name: "annals_quota_refused_total",
			Help: "Writes that a quota refused, by whose it is and what it limits.",
		}, []string{"of", "limit"}),
	}
}

// interval is how often the use is read again of tenants in which this process wrote.
const interval = 10 * time.Second

// Run reads again how much is used, until ctx ends: other servers write, too.
func (k *Keeper) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(interval):
		}
		k.mu.Lock()
		tenants := slices.Collect(maps.Keys(k.tenants))
		k.mu.Unlock()
		for _, tenant := range tenants {
			k.mu.Lock()
			written := k.tenants[tenant].written
			k.mu.Unlock()
			if !written {
				continue
			}
			if err := k.read(database.ForTenant(ctx, tenant), k.db, tenant, time.Now()); err != nil && ctx.Err() == nil {
				k.logger.WarnContext(ctx, "the usage of quotas could not be read", "tenant", tenant, "error", err)
			}
		}
	}
}

// Admit implements [events.Admission]. What adds nothing passes, and so does what the server itself writes.
func (k *Keeper) Admit(ctx context.Context, tx bun.IDB, of events.Decision) error {
	more := map[string]Amount{}
	for scope, amount := range changes(of) {
		if scope != "" {
			more["scope:"+string(scope)] = amount
			continue
		}
		more[domain.TenantStreams.Of(of.By.Tenant)] = amount
		if of.By.HasKey() {
			more[of.By.Authentication] = amount
		}
	}
	return k.admit(ctx, tx, of.By, more, of.At)
}

// AdmitFile implements [events.Admission].
func (k *Keeper) AdmitFile(ctx context.Context, tx bun.IDB, tenant string, file domain.File) error {
	more := map[string]Amount{domain.TenantStreams.Of(tenant): {Bytes: int64(len(file.Bytes))}}
	return k.admit(ctx, tx, domain.Principal{Tenant: tenant}, more, file.UploadedAt)
}

func (k *Keeper) admit(
	ctx context.Context, tx bun.IDB, by domain.Principal, more map[string]Amount, now time.Time,
) error {
	k.mu.Lock()
	_, known := k.tenants[by.Tenant]
	k.mu.Unlock()
	if !known {
		if err := k.read(ctx, tx, by.Tenant, now); err != nil {
			return err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.tenants[by.Tenant]
	for _, name := range slices.Sorted(maps.Keys(more)) {
		limit, limited := k.limits.of(name)
		if !limited || by.Authentication == domain.SystemPrincipal().Authentication {
			continue
		}
		used, add := t.held[name].plus(t.added[name]), more[name]
		again := dayOf(now).Add(24 * time.Hour)
		if again.After(t.day.Add(24 * time.Hour)) { // what was read is of yesterday
			used.Writes = 0
		}
		for _, each := range []struct {
			what             string
			used, add, limit int64
		}{
			{"items", used.Items, add.Items, limit.Items},
			{"bytes", used.Bytes, add.Bytes, limit.Bytes},
			{"writes_day", used.Writes, add.Writes, limit.Writes},
		} {
			if each.add <= 0 || each.add <= each.limit-each.used {
				continue
			}
			kind, _, _ := strings.Cut(name, ":")
			k.refused.WithLabelValues(kind, each.what).Inc()
			refusal := domain.Refuse(domain.ErrQuota, "the quota %s of %s is used up: %s of %s are in use, and this adds %s",
				each.what, name, humanize.Comma(each.used), humanize.Comma(each.limit), humanize.Comma(each.add))
			switch {
			case each.limit == 0:
				refusal.Detail = fmt.Sprintf("the quota %s of %s is 0: nothing may be written", each.what, name)
				return refusal.WithFix("ask the operator to change ANNALS_QUOTAS")
			case each.what == "writes_day":
				refusal.Wait = again.Sub(now)
				return refusal.WithFix("it begins again at %s", again.Format(time.RFC3339))
			}
			return refusal.WithFix("forget what is not needed, or ask the operator to change ANNALS_QUOTAS")
		}
	}
	for name, amount := range more {
		t.added[name] = t.added[name].plus(amount)
	}
	t.written = true
	k.tenants[by.Tenant] = t
	return nil
}

func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// read reads how much of a tenant's limits is used.
func (k *Keeper) read(ctx context.Context, tx bun.IDB, tenant string, now time.Time) error {
	k.mu.Lock()
	last := k.tenants[tenant]
	before := maps.Clone(last.added)
	k.mu.Unlock()
	t := usage{added: map[string]Amount{}, day: dayOf(now)}
	if err := k.readHeld(ctx, tx, tenant, &t, last); err != nil {
		return rows.Failed(ctx, "read the usage of quotas", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for name, amount := range k.tenants[tenant].added { // what was written meanwhile may count twice until the next time
		t.added[name] = amount.minus(before[name])
		t.written = t.written || t.added[name] != Amount{}
	}
	k.tenants[tenant] = t
	return nil
}

// readHeld reads how many items a tenant has that are not forgotten, with the bytes of their texts and of all files,
// and its writes of the day: in all, by key and by scope, where there are limits of these. It reads only the writes
// that were not counted the last time.
func (k *Keeper) readHeld(ctx context.Context, tx bun.IDB, tenant string, t *usage, last usage) error {
	v, err := k.active(ctx, tx)
	if err != nil {
		return err
	}
	const sums = "count(*), coalesce(sum(octet_length(k.task) + octet_length(k.content) + octet_length(k.abstract) + " +
		"octet_length(k.overview) + coalesce(octet_length(CAST(k.meta AS text)), 0)), 0), 0"
	of := domain.TenantStreams.Of(tenant)
	items := k.db.NewSelect().TableExpr("? AS k", v.Tables.Knowledge).Where("k.tenant = ?", tenant).Where("k." + rows.Live)
	all := []*bun.SelectQuery{
		items.Clone().ColumnExpr("CAST(? AS text), "+sums, of),
		k.db.NewSelect().TableExpr("files").Where("tenant = ?", tenant).
			ColumnExpr("CAST(? AS text), 0, coalesce(sum(octet_length(bytes)), 0), 0", of),
	}
	if k.limits.concern("key") {
		all = append(all, items.Clone().ColumnExpr("e.authentication, "+sums).Join("JOIN events AS e").
			JoinOn("e.tenant = k.tenant").JoinOn("e.stream = ? || k.id", domain.KnowledgeStream("")).JoinOn("e.version = 1").
			GroupExpr("e.authentication"))
	}
	if k.limits.concern("scope") {
		all = append(all, items.Clone().ColumnExpr("'scope:' || s.value, "+sums).
			Join("CROSS JOIN "+rows.EachScope(k.db.Engine, "k.scopes")).GroupExpr("s.value"))
	}
	from, to, err := events.Since(ctx, tx, tenant, t.day)
	if err != nil {
		return err
	}
	t.held, t.through = map[string]Amount{}, to
	if t.day.Equal(last.day) {
		from = max(from, last.through+1)
		for name, amount := range last.held {
			t.held[name] = Amount{Writes: amount.Writes}
		}
	}
	all = append(all, k.db.NewSelect().TableExpr("events").Where("tenant = ?", tenant).
		Where("position BETWEEN ? AND ?", from, to).Where("name IN (?)", bun.List(written)).
		ColumnExpr("authentication, 0, 0, count(*)").GroupExpr("authentication"))
	text := make([]string, len(all))
	for i, query := range all {
		text[i] = query.String()
	}
	return database.ForEach(ctx, tx, func(row *sql.Rows) error {
		var name string
		var more Amount
		err := row.Scan(&name, &more.Items, &more.Bytes, &more.Writes)
		t.held[name] = t.held[name].plus(more)
		t.held[of] = t.held[of].plus(Amount{Writes: more.Writes})
		return err
	}, strings.Join(text, " UNION ALL "))
}
