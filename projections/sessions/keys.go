package sessions

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/rows"
)

// Keys answers whose key it is. What keys allow is what their streams have come to; when they were used last
// is written now and then. It is safe for concurrent use.
type Keys struct {
	db  *database.DB
	log *events.Log

	mu   sync.Mutex
	used map[keyName]time.Time // since it was written last
	any  anyKey
}

type keyName struct{ tenant, prefix string }

// NewKeys makes the keys of a log.
func NewKeys(db *database.DB, log *events.Log) *Keys {
	return &Keys{db: db, log: log, used: map[keyName]time.Time{}}
}

// isKey lets both engines see that the index of keys has the stream.
const isKey = "stream >= 'key:' AND stream < 'key;'"

// Key finds a key by its prefix, in any tenant: one look-up in an index, so that what was revoked anywhere
// is revoked here. The error matches [domain.ErrNotFound] if there is none.
func (k *Keys) Key(ctx context.Context, prefix string) (tenant string, key domain.Key, err error) {
	tenant, found, err := k.log.StateAnywhere(ctx, domain.KeyStream(prefix), isKey)
	if err != nil {
		return "", key, err
	}
	key, known := found.State.(domain.Key)
	if !known || !found.Exists() {
		return "", key, domain.Refuse(domain.ErrNotFound, "no such key")
	}
	return tenant, key, nil
}

// Given lists the keys of a tenant, those that open nothing any more too, whoever's tenant the context is
// confined to.
func (k *Keys) Given(ctx context.Context, tenant string) ([]domain.IssuedKey, error) {
	ctx = database.ForTenant(ctx, tenant)
	var uses []struct {
		Prefix string        `bun:"prefix"`
		UsedAt database.Time `bun:"used_at"`
	}
	if err := k.db.NewRaw("SELECT prefix, used_at FROM key_uses WHERE tenant = ?", tenant).Scan(ctx, &uses); err != nil {
		return nil, failedKeys(ctx, err)
	}
	usedAt := map[string]time.Time{}
	for _, u := range uses {
		usedAt[u.Prefix] = u.UsedAt.Time
	}
	k.mu.Lock()
	for name, at := range k.used {
		if name.tenant == tenant {
			usedAt[name.prefix] = at
		}
	}
	k.mu.Unlock()
	const page = 500
	list := []domain.IssuedKey{}
	for after := ""; ; {
		some, err := k.log.States(ctx, tenant, domain.KeyStream(""), after, page)
		if err != nil {
			return nil, err
		}
		for _, s := range some {
			after = s.Name
			prefix := domain.KeyPrefix(s.Name)
			if key, isKey := s.State.(domain.Key); isKey {
				list = append(list, domain.IssuedKey{Key: key, Prefix: prefix, UsedAt: usedAt[prefix]})
			}
		}
		if len(some) < page {
			return list, nil
		}
	}
}

// Everywhere lists the keys of all tenants, by tenant, without when they were used last.
func (k *Keys) Everywhere(ctx context.Context) (map[string][]domain.IssuedKey, error) {
	given := map[string][]domain.IssuedKey{}
	err := k.log.EachState(ctx, isKey, func(tenant string, s domain.Stream) {
		if key, is := s.State.(domain.Key); is {
			given[tenant] = append(given[tenant], domain.IssuedKey{Key: key, Prefix: domain.KeyPrefix(s.Name)})
		}
	})
	return given, err
}

// Used notes that a key was used. It is written by the next [Keys.Write].
func (k *Keys) Used(tenant, prefix string, at time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.used[keyName{tenant, prefix}] = database.At(at).Time
}

// Write writes when keys were used.
func (k *Keys) Write(ctx context.Context) error {
	k.mu.Lock()
	used := k.used
	k.used = map[keyName]time.Time{}
	k.mu.Unlock()
	if len(used) == 0 {
		return nil
	}
	return k.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		for name, at := range used {
			_, err := tx.NewRaw(`
				INSERT INTO key_uses AS u (tenant, prefix, used_at) VALUES (?, ?, ?)
				ON CONFLICT (tenant, prefix) DO UPDATE SET used_at = excluded.used_at
				WHERE u.used_at < excluded.used_at`, name.tenant, name.prefix, database.Time{Time: at}).Exec(ctx)
			if err != nil {
				return fmt.Errorf("note when keys were used: %w", err)
			}
		}
		return nil
	})
}

func failedKeys(ctx context.Context, err error) error {
	return fmt.Errorf("read keys: %w", rows.WithRemedy(database.Classify(ctx, err)))
}

// Tenants lists the tenants there are, by name: [domain.DefaultTenant] first, which needs no event.
func (k *Keys) Tenants(ctx context.Context) ([]domain.NamedTenant, error) {
	ctx = database.ForTenant(ctx, domain.SystemTenant)
	const page = 500
	list := []domain.NamedTenant{{Name: domain.DefaultTenant}}
	for after := ""; ; {
		some, err := k.log.States(ctx, domain.SystemTenant, domain.TenantStream(""), after, page)
		if err != nil {
			return nil, err
		}
		for _, s := range some {
			after = s.Name
			if t, isTenant := s.State.(domain.Tenant); isTenant {
				list = append(list, domain.NamedTenant{Tenant: t, Name: strings.TrimPrefix(s.Name, domain.TenantStream(""))})
			}
		}
		if len(some) < page {
			return list, nil
		}
	}
}

// HasTenant tells whether there is a tenant of this name, or was one: an erased one's name stays taken, and root
// reads its log.
func (k *Keys) HasTenant(ctx context.Context, name string) (bool, error) {
	if name == domain.DefaultTenant {
		return true, nil
	}
	found, err := k.tenant(ctx, name)
	return found.Exists(), err
}

// Lives tells whether there is a tenant of this name that was not erased.
func (k *Keys) Lives(ctx context.Context, name string) (bool, error) {
	found, err := k.tenant(ctx, name)
	state, _ := found.State.(domain.Tenant)
	return (found.Exists() || name == domain.DefaultTenant) && state.ErasedAt.IsZero(), err
}

func (k *Keys) tenant(ctx context.Context, name string) (domain.Stream, error) {
	return k.log.State(database.ForTenant(ctx, domain.SystemTenant), domain.SystemTenant, domain.TenantStream(name))
}

// unseen is how long a first key that another process has given may go unnoticed, twice over: while one
// caller looks, the others go by what was seen before. What this process gives is noticed at once.
const unseen = 100 * time.Millisecond

// anyKey is whether anybody was ever given a key, as it was seen last. It is asked with every request of
// a server in no-auth mode.
type anyKey struct {
	given   bool // and then for ever
	seen    bool // that none was
	looked  time.Time
	changes int64 // of keys by this process, as the log counted them before
}

// Any tells whether anybody was ever given a key.
func (k *Keys) Any(ctx context.Context) (given bool, err error) {
	changes, now := k.log.KeyChanges(), time.Now()
	k.mu.Lock()
	last := k.any
	known := last.given || last.seen && last.changes == changes && now.Sub(last.looked) < unseen
	if !known && last.changes == changes {
		k.any.looked = now
	}
	k.mu.Unlock()
	if known {
		return last.given, nil
	}
	err = k.db.NewRaw("SELECT EXISTS (SELECT 1 FROM streams WHERE "+isKey+")").Scan(database.ForEveryTenant(ctx), &given)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.any.looked = time.Time{}
		return false, failedKeys(ctx, err)
	}
	k.any = anyKey{given: given || k.any.given, seen: true, looked: now, changes: changes}
	return given, nil
}
