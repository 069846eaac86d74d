package events

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Amount is how much there is of what quotas limit, or how much there may be.
type Amount struct{ Items, Bytes, Writes int64 }

func (a Amount) plus(b Amount) Amount {
	return Amount{a.Items + b.Items, a.Bytes + b.Bytes, a.Writes + b.Writes}
}

func (a Amount) minus(b Amount) Amount { return a.plus(Amount{-b.Items, -b.Bytes, -b.Writes}) }

// Quotas are limits by what they limit: tenant:NAME, key:PREFIX or scope:SCOPE. A * is for each that has no line of its
// own.
type Quotas map[string]Amount

func (q Quotas) of(name string) (Amount, bool) {
	limit, found := q[name]
	if kind, _, _ := strings.Cut(name, ":"); !found {
		limit, found = q[kind+":*"]
	}
	return limit, found
}

// Limit tells whether anything of a kind has a limit.
func (q Quotas) Limit(kind string) bool {
	for name := range q {
		if strings.HasPrefix(name, kind+":") {
			return true
		}
	}
	return false
}

const unlimited = math.MaxInt64

// ParseQuotas reads lines such as "tenant:default items=100000 bytes=10MB". A semicolon ends a line, too. The error
// names every bad field.
func ParseQuotas(lines string) (Quotas, error) {
	quotas := Quotas{}
	var errs []error
	for line := range strings.SplitSeq(strings.ReplaceAll(lines, ";", "\n"), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		refuse := func(is bool, format string, values ...any) {
			if is {
				errs = append(errs, fmt.Errorf("%s: "+format, append([]any{fields[0]}, values...)...))
			}
		}
		kind, of, _ := strings.Cut(fields[0], ":")
		_, notScope := domain.ParseScope(of)
		_, twice := quotas[fields[0]]
		refuse(kind != "tenant" && kind != "key" && kind != "scope" || of == "",
			"must be tenant:NAME, key:PREFIX or scope:SCOPE, with * for each")
		refuse(kind == "tenant" && of != "*" && !domain.IsTenantName(of), "a tenant cannot have this name")
		refuse(kind == "scope" && of != "*" && notScope != nil, "must name a scope, such as scope:team:pay")
		refuse(twice, "has a second line")
		refuse(len(fields) == 1, "limits nothing: add items=N, bytes=SIZE or writes_day=N")
		limit := Amount{unlimited, unlimited, unlimited}
		for _, field := range fields[1:] {
			what, value, _ := strings.Cut(field, "=")
			to := map[string]*int64{"items": &limit.Items, "bytes": &limit.Bytes, "writes_day": &limit.Writes}[what]
			if to == nil || kind == "scope" && what == "writes_day" {
				refuse(true, "%s is not items=N, bytes=SIZE or, of a tenant or a key, writes_day=N", field)
				continue
			}
			refuse(*to != unlimited, "%s comes twice", what)
			size, err := strconv.ParseUint(value, 10, 63)
			if what == "bytes" {
				size, err = humanize.ParseBytes(value)
			}
			refuse(err != nil || size >= unlimited, "%s must be a whole number from 0, of bytes with or without a unit", field)
			*to = int64(min(size, unlimited)) //nolint:gosec // it is not larger
		}
		quotas[fields[0]] = limit
	}
	return quotas, errors.Join(errs...)
}

// changes are how much facts add, by scope: in all under the empty scope, and to each scope of the item.
func (b *batch) changes(command domain.Command, facts []domain.Fact) map[domain.Scope]Amount {
	k := &domain.Knowledge{}
	if id, isItem := domain.ItemOf(command.Stream()); isItem {
		k = b.stage.Knowledge(id)
	}
	all := map[domain.Scope]Amount{}
	add := func(more Amount, scopes []domain.Scope) {
		for _, scope := range scopes {
			all[scope] = all[scope].plus(more)
		}
	}
	for _, fact := range facts {
		switch f := fact.(type) {
		case domain.Remembered:
			add(Amount{1, sizeOf(f.Text), 1}, append([]domain.Scope{""}, f.Scopes...))
		case domain.Revised:
			add(Amount{0, sizeOf(f.Of(k.Text)) - sizeOf(k.Text), 1}, append([]domain.Scope{""}, k.Scopes...))
		case domain.Restored:
			if k.Status == domain.IsDeleted {
				add(Amount{1, sizeOf(k.Text), 1}, append([]domain.Scope{""}, k.Scopes...))
			}
		case domain.Deleted:
			add(Amount{-1, -sizeOf(k.Text), 0}, append([]domain.Scope{""}, k.Scopes...))
		case domain.Rescoped:
			add(Amount{1, sizeOf(k.Text), 0}, slices.DeleteFunc(slices.Clone(f.Scopes),
				func(s domain.Scope) bool { return slices.Contains(k.Scopes, s) }))
		case domain.MessageAdded:
			add(Amount{Writes: 1}, []domain.Scope{""})
		}
	}
	return all
}

// written are the names of the facts that count as writes of a day, as in [batch.changes].
var written = []string{
	domain.Remembered{}.Name(), domain.Revised{}.Name(), domain.Restored{}.Name(), domain.MessageAdded{}.Name(),
}

func sizeOf(t domain.Text) int64 {
	return int64(len(t.Task) + len(t.Content) + len(t.Abstract) + len(t.Overview) + len(t.Meta))
}

// usage knows how much of the quotas is used. It reads that from the database every some seconds, off the path of
// writes, and adds what this process has written since.
type usage struct {
	log     *Log
	mu      sync.Mutex
	tenants map[string]*tenantUsage
}

type tenantUsage struct {
	held, added map[string]Amount // as read, and what this process wrote since
	day         time.Time
	through     int64 // the writes of the day until this position are in held
	next        time.Time
	first       sync.Mutex
}

// know reads the usage of a tenant: now if that is the first time, else beside the write.
func (u *usage) know(ctx context.Context, tenant string) error {
	u.mu.Lock()
	t := u.tenants[tenant]
	if t == nil {
		t = &tenantUsage{}
		u.tenants[tenant] = t
	}
	known, stale := t.held != nil, time.Now().After(t.next)
	if known && stale {
		t.next = time.Now().Add(time.Hour) // one reading at a time
	}
	u.mu.Unlock()
	switch {
	case known && stale:
		u.log.mu.Lock()
		defer u.log.mu.Unlock()
		if !u.log.closed { // Close waits for it
			u.log.committers.Go(func() {
				if err := u.read(u.log.ctx, tenant, t); err != nil {
					u.log.options.Logger.WarnContext(u.log.ctx, "the usage of quotas could not be read",
						"tenant", tenant, "error", err)
				}
			})
		}
	case !known:
		t.first.Lock()
		defer t.first.Unlock()
		u.mu.Lock()
		known = t.held != nil
		u.mu.Unlock()
		if !known {
			return u.read(ctx, tenant, t)
		}
	}
	return nil
}

func (u *usage) read(ctx context.Context, tenant string, t *tenantUsage) error {
	const pause, share = 5 * time.Second, 20 // reading takes a twentieth of the time at most
	ctx, began := database.ForTenant(ctx, tenant), time.Now()
	u.mu.Lock()
	before := maps.Clone(t.added)
	u.mu.Unlock()
	day := u.log.options.Clock().UTC().Truncate(24 * time.Hour)
	held, err := u.log.options.Held(ctx, tenant, u.log.options.Quotas)
	var window span
	if err == nil {
		window, err = u.log.Finder.window(ctx, domain.EventQuery{Tenant: tenant, From: day})
	}
	if err == nil && day.Equal(t.day) {
		window.from = t.through + 1
		for name, amount := range t.held {
			held[name] = held[name].plus(Amount{Writes: amount.Writes})
		}
	}
	if err == nil {
		err = database.ForEach(ctx, u.log.db, func(rows *sql.Rows) error {
			var key string
			var n int64
			err := rows.Scan(&key, &n)
			for _, name := range []string{domain.TenantStreams.Of(tenant), key} {
				held[name] = held[name].plus(Amount{Writes: n})
			}
			return err
		}, `
			SELECT authentication, count(*)
			FROM events
			WHERE tenant = ? AND position BETWEEN ? AND ? AND name IN (?)
			GROUP BY authentication`, tenant, window.from, window.to, bun.List(written))
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	t.next = time.Now().Add(max(pause, share*time.Since(began)))
	if err != nil {
		return fmt.Errorf("read the usage of quotas: %w", Unavailable(err))
	}
	for name, amount := range before {
		t.added[name] = t.added[name].minus(amount)
	}
	if !day.Equal(t.day) {
		t.added = map[string]Amount{}
	}
	t.held, t.day, t.through = held, day, window.to
	return nil
}

// admit refuses a change that would exceed a quota, or counts it. What adds nothing passes, and so does what the
// server itself writes.
func (u *usage) admit(by domain.Principal, changes map[domain.Scope]Amount, now time.Time) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	t := u.tenants[by.Tenant]
	more := map[string]Amount{}
	for scope, amount := range changes {
		if scope != "" {
			more["scope:"+string(scope)] = amount
			continue
		}
		more[domain.TenantStreams.Of(by.Tenant)] = amount
		if domain.KeyStreams.Has(by.Authentication) {
			more[by.Authentication] = amount
		}
	}
	for _, name := range slices.Sorted(maps.Keys(more)) {
		limit, limited := u.log.options.Quotas.of(name)
		if !limited || by.Authentication == domain.SystemPrincipal().Authentication {
			continue
		}
		used, add := t.held[name].plus(t.added[name]), more[name]
		again := now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
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
			u.log.metrics.quotas.WithLabelValues(kind, each.what).Inc()
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
	return nil
}
