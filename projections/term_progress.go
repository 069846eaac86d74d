package projections

import "sync"

// shareRows is the share of an item's verification that its rows take; the rest is its terms.
const shareRows = 0.75

// wordsTold tells how far the reading of terms has come, as so many items.
type wordsTold struct {
	compared func(items float64)
	items    float64 // that all terms are worth
	terms    int64   // how many there should be

	mu   sync.Mutex
	told float64
}

// toldTerms is after how many terms it is told.
const toldTerms = 1 << 14

// of adds terms to sums, and tells it now and then.
func (t *wordsTold) of(s *sums) func(term) {
	return func(one term) {
		if s.add(one); s.terms%toldTerms == 0 {
			t.tell(t.items * toldTerms / float64(max(t.terms, 1)))
		}
	}
}

// rest tells what was not told yet.
func (t *wordsTold) rest() { t.tell(t.items) }

func (t *wordsTold) tell(items float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	items = min(items, t.items-t.told)
	t.told += items
	t.compared(items)
}
