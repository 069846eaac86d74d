package receipts

import (
	"math/rand/v2"

	"github.com/annals-kb/annals/domain"
)

// The bounds of the queue, in receipts.
const (
	mostWaiting  = 20_000 // further ones are dropped
	enoughToWake = 200    // these are written at once
)

// Give records an answer, and returns the id of its receipt: empty if it has none. It never waits. A receipt that is
// dropped leaves a gap in the sequence.
func (r *Receipts) Give(given domain.Given) (receipt string) {
	sample := r.options.retention(given.Tenant).Sample
	if sample < 0 || sample > 1 && given.Kind != domain.GivenDenial && rand.IntN(sample) > 0 {
		return ""
	}
	next := receiptOf(given, r.options.Ranking)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.run == 0 {
		r.dropped.Inc()
		return ""
	}
	r.sequences[next.Tenant]++
	if r.waiting >= mostWaiting {
		r.dropped.Inc()
		return ""
	}
	next.Run, next.Sequence = r.run, r.sequences[next.Tenant]
	if next.At.Before(r.newest) {
		next.At = r.newest
	}
	r.newest, r.given, r.waiting = next.At, append(r.given, next), r.waiting+1
	if len(r.given) >= enoughToWake {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
	return next.ID()
}
