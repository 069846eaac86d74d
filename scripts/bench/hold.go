package bench

import (
	"context"
	"sync"

	"github.com/annals-kb/annals/projections"
)

// Hold keeps in memory what a server's background keeps for searches, until the returned function is called.
func Hold(ctx context.Context, meaning *projections.Meaning) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var holding sync.WaitGroup
	holding.Go(func() { meaning.HoldSketches(ctx) })
	return func() {
		cancel()
		holding.Wait()
	}
}
