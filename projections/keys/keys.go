// Package keys answers which keys and tenants there are, from their streams. Its only table says when keys were used
// last.
package keys

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/people"
	"github.com/annals-kb/annals/projections/rows"
)

// Keys finds keys and tenants. The state of a key's stream says what the key allows. Write stores when keys were used
// last. It is safe for concurrent use.
type Keys struct {
	db  *database.DB
	log *events.Log

	mu   sync.Mutex
	used map[keyName]time.Time // since the last Write
	any  anyKey
}

type keyName struct{ tenant, prefix string }

// NewKeys returns the keys of a log.
func NewKeys(db *database.DB, log *events.Log) *Keys {
	return &Keys{db: db, log: log, used: map[keyName]time.Time{}}
}

// isKey is a condition by which both engines choose the index of keys.
var isKey = events.OfKind("stream", domain.KeyStreams)

// Key finds a key by its prefix, in any tenant, with one look-up in an index. A revocation by any process is
// therefore effective at once. The error matches [domain.ErrNotFound] if there is no such key.
func (k *Keys) Key(ctx context.Context, prefix string) (tenant string, key domain.Key, err error) {
	tenant, found, err := k.log.Reader.StateAnywhere(ctx, domain.KeyStreams.Of(prefix), isKey)
	if err != nil {
		return "", key, err
	}
	key, known := found.State.(domain.Key)
	if !known || !found.Exists() {
		return "", key, domain.Refuse(domain.ErrNotFound, "no such key")
	}
	return tenant, key, nil
}

// Issued lists the keys of a tenant, revoked and expired ones included, whatever tenant the context is confined to.
// Keys older than their subject's newest deactivation are revoked.
func (k *Keys) Issued(ctx context.Context, tenant string) ([]domain.IssuedKey, error) {
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
		some, err := k.log.Reader.States(ctx, tenant, domain.KeyStreams.Of(""), after, page)
		if err != nil {
			return nil, err
		}
		var subjects []domain.Entity
		for _, s := range some {
			after = s.Name
			prefix := domain.KeyStreams.ID(s.Name)
			if key, isKey := s.State.(domain.Key); isKey {
				list = append(list, domain.IssuedKey{Key: key, Prefix: prefix, UsedAt: usedAt[prefix]})
				subjects = append(subjects, key.Subject)
			}
		}
		entries, err := people.EntriesOf(ctx, k.log.Reader, tenant, subjects)
		for i := range list[len(list)-len(subjects):] {
			key := &list[len(list)-len(subjects)+i]
			entry := entries[key.Subject]
			key.Key = key.Under(entry)
			for _, m := range entry.Groups {
				key.Groups = append(key.Groups, m.Group)
			}
		}
		if err != nil || len(some) < page {
			return list, err
		}
	}
}

// Everywhere lists the keys of all tenants, by tenant, without the times of their last use, and the users of their
// directories.
func (k *Keys) Everywhere(
	ctx context.Context,
) (issued map[string][]domain.IssuedKey, users map[string][]domain.MemberEntry, err error) {
	issued, users = map[string][]domain.IssuedKey{}, map[string][]domain.MemberEntry{}
	err = k.log.Reader.EachState(ctx, isKey, func(tenant string, s domain.Stream) {
		if key, is := s.State.(domain.Key); is {
			issued[tenant] = append(issued[tenant], domain.IssuedKey{Key: key, Prefix: domain.KeyStreams.ID(s.Name)})
		}
	})
	if err == nil {
		isUser := events.OfKind("stream", domain.MemberStreams(domain.User))
		err = k.log.Reader.EachState(ctx, isUser, func(tenant string, s domain.Stream) {
			if entry, is := s.State.(domain.MemberEntry); is {
				users[tenant] = append(users[tenant], entry)
				for i, key := range issued[tenant] {
					if key.Subject == entry.Member {
						issued[tenant][i].Key = key.Under(entry)
					}
				}
			}
		})
	}
	return issued, users, err
}

// Used notes that a key was used. The next [Keys.Write] stores it.
func (k *Keys) Used(tenant, prefix string, at time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.used[keyName{tenant, prefix}] = database.At(at).Time
}

// Use is when a key was used last.
type Use struct {
	Tenant string        `json:"tenant"`
	Prefix string        `json:"prefix"`
	At     database.Time `json:"at"`
}

// Write stores when keys were used.
func (k *Keys) Write(ctx context.Context) error { return k.Note(ctx, k.Uses()) }

// Uses are the keys that were used since the last call, in the order in which all servers store them.
func (k *Keys) Uses() []Use {
	k.mu.Lock()
	used := k.used
	k.used = map[keyName]time.Time{}
	k.mu.Unlock()
	uses := make([]Use, 0, len(used))
	for name, at := range used {
		uses = append(uses, Use{name.tenant, name.prefix, database.At(at)})
	}
	slices.SortFunc(uses, func(a, b Use) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Prefix, b.Prefix))
	})
	return uses
}

// Note stores the uses of keys, in the same order as other servers, so that none waits for another in a circle.
func (k *Keys) Note(ctx context.Context, uses []Use) error {
	if len(uses) == 0 {
		return nil
	}
	return k.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		for _, use := range uses {
			_, err := tx.NewRaw(`
				INSERT INTO key_uses AS u (tenant, prefix, used_at) VALUES (?, ?, ?)
				ON CONFLICT (tenant, prefix) DO UPDATE SET used_at = excluded.used_at
				WHERE u.used_at < excluded.used_at`, use.Tenant, use.Prefix, use.At).Exec(ctx)
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

// Tenants lists the tenants by name, [domain.DefaultTenant] first, which exists without any event.
func (k *Keys) Tenants(ctx context.Context) ([]domain.NamedTenant, error) {
	ctx = database.ForTenant(ctx, domain.SystemTenant)
	const page = 500
	list := []domain.NamedTenant{{Name: domain.DefaultTenant}}
	for after := ""; ; {
		some, err := k.log.Reader.States(ctx, domain.SystemTenant, domain.TenantStreams.Of(""), after, page)
		if err != nil {
			return nil, err
		}
		for _, s := range some {
			after = s.Name
			if t, isTenant := s.State.(domain.Tenant); isTenant {
				list = append(list, domain.NamedTenant{Tenant: t, Name: domain.TenantStreams.ID(s.Name)})
			}
		}
		if len(some) < page {
			return list, nil
		}
	}
}

// HasTenant tells whether a tenant of this name exists or existed. The name of an erased tenant stays taken, because
// root reads its log.
func (k *Keys) HasTenant(ctx context.Context, name string) (bool, error) {
	if name == domain.DefaultTenant {
		return true, nil
	}
	found, err := k.tenant(ctx, name)
	return found.Exists(), err
}

// Lives tells whether a tenant of this name exists and was not erased.
func (k *Keys) Lives(ctx context.Context, name string) (bool, error) {
	found, err := k.tenant(ctx, name)
	state, _ := found.State.(domain.Tenant)
	return (found.Exists() || name == domain.DefaultTenant) && state.ErasedAt.IsZero(), err
}

func (k *Keys) tenant(ctx context.Context, name string) (domain.Stream, error) {
	ctx = database.ForTenant(ctx, domain.SystemTenant)
	return k.log.Reader.State(ctx, domain.SystemTenant, domain.TenantStreams.Of(name))
}

// unseen is half the time that a first key from another process may go unnoticed: while one caller looks, the others
// use the previous answer. A key that this process issues is noticed at once.
const unseen = 100 * time.Millisecond

// anyKey remembers whether a key was ever issued. A server in no-auth mode asks with every request.
type anyKey struct {
	issued  bool // which stays true
	seen    bool // a look found none
	looked  time.Time
	changes int64 // the log's count of key changes by this process, before that look
}

// Any tells whether a key was ever issued.
func (k *Keys) Any(ctx context.Context) (issued bool, err error) {
	changes, now := k.log.Changes(domain.KeyStreams), time.Now()
	k.mu.Lock()
	last := k.any
	known := last.issued || last.seen && last.changes == changes && now.Sub(last.looked) < unseen
	if !known && last.changes == changes {
		k.any.looked = now
	}
	k.mu.Unlock()
	if known {
		return last.issued, nil
	}
	err = k.db.NewRaw("SELECT EXISTS (SELECT 1 FROM streams WHERE "+isKey+")").Scan(database.ForEveryTenant(ctx), &issued)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.any.looked = time.Time{}
		return false, failedKeys(ctx, err)
	}
	k.any = anyKey{issued: issued || k.any.issued, seen: true, looked: now, changes: changes}
	return issued, nil
}
