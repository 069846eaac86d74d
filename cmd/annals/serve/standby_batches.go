package serve

import (
	"context"

	"github.com/annals-kb/annals/database"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/standby"
	"github.com/annals-kb/annals/projections/keys"
)

// toPrimary sends what reads record to the primary's server, while the database is a standby.
type toPrimary struct {
	*standby.Forwarder

	replica *replica
}

// Needed tells whether the database is a standby now.
func (t toPrimary) Needed() bool { return t.replica.state.Load().Standby }

// keyUses names batches of uses of keys.
const keyUses = "key-uses"

// writeUses records the uses of keys.
func (t toPrimary) writeUses(ctx context.Context) error {
	known := t.replica.core.keys
	if !t.Needed() {
		return known.Write(ctx)
	}
	if uses := known.Uses(); len(uses) > 0 {
		return t.Send(ctx, keyUses, uses, nil)
	}
	return nil
}

// taking is the part whose batches the primary's server takes.
type taking interface {
	TakeBatch(ctx context.Context, read func(batch any) error) (answer any, err error)
}

// batches takes what servers on standbys send.
func (r *replica) batches(key []byte) annalshttp.Mount {
	takes := map[string]standby.Take{keyUses: r.takeUses}
	if receipts := offered[taking](r.core); receipts != nil {
		takes["receipts"] = receipts.TakeBatch
	}
	paths := []string{standby.BatchPath}
	return annalshttp.Mount{
		Paths: paths, Public: paths, Handler: standby.Batches{Key: key, Takes: takes}.Answer, MaxBody: standby.MaxBatch,
	}
}

func (r *replica) takeUses(ctx context.Context, read func(batch any) error) (answer any, err error) {
	var uses []keys.Use
	if err := read(&uses); err != nil {
		return nil, err
	}
	return nil, r.core.keys.Note(database.ForEveryTenant(ctx), uses)
}
