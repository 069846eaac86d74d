package projections

import (
	"context"
	"time"

	"github.com/annals-kb/annals/database"
)

// unseen is how long a first key that another process has given may go unnoticed, twice over: while one
// caller looks, the others go by what was seen before. What this process gives is noticed at once.
const unseen = 100 * time.Millisecond

// anyKey is whether anybody was ever given a key, as it was seen last. It is asked with every request of
// a server that asks nobody for a key.
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
