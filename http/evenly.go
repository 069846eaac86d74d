package http

import (
	"context"
	"errors"
	"time"

	"github.com/annals-kb/annals/domain"
)

// evenTime is what answers that there is nothing take, or a multiple of it.
const evenTime = 2 * time.Millisecond

// evenly lets the answer that there is nothing wait until such a time has passed since the request began: reading
// something and finding that the caller may not see it takes some hundredths of a millisecond longer than reading
// nothing, which enough requests would tell. Who sees everything is not kept waiting.
func evenly(ctx context.Context, began time.Time, by domain.Principal, err error) {
	if by.SeesAll() || !errors.Is(err, domain.ErrNotFound) {
		return
	}
	select {
	case <-time.After(evenTime - time.Since(began)%evenTime):
	case <-ctx.Done():
	}
}
