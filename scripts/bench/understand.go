package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
)

// Understand lets the projection of meaning follow the log until it has read what each tenant has, as it does in the
// background of a server.
func Understand(ctx context.Context, log *events.Log, meaning *projections.Meaning, bar *Progress, tenants ...string) (err error) {
	router, err := events.NewRouter(slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	events.AddPreparer(router, log, meaning.Name(), meaning.Prepare)
	ended := make(chan error, 1)
	go func() { ended <- router.Run(ctx) }()
	defer func() { err = errors.Join(err, router.Close(), <-ended) }()
	for _, tenant := range tenants {
		if err := follow(ctx, log, meaning.Name(), tenant, bar); err != nil {
			return err
		}
	}
	return nil
}

// follow looks, now and then, how far a projection has come, until there is nothing left to read.
func follow(ctx context.Context, log *events.Log, projection, tenant string, bar *Progress) error {
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	head, _, err := log.Head(ctx, tenant)
	if err != nil {
		return err
	}
	for before := int64(0); before < head; {
		position, _, _, err := log.Checkpoint(ctx, projection, tenant)
		if err = errors.Join(err, log.LastError(projection, tenant)); err != nil {
			return fmt.Errorf("follow %s: %w", tenant, err)
		}
		bar.Add(int(position - before))
		before = position
		select {
		case <-look.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
