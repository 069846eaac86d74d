package review

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/annals-kb/annals/domain/text/compare"
	"github.com/annals-kb/annals/projections/search"
)

const (
	mostEntries  = 32 << 20 // of 8 bytes; an item has up to 18 in each of its scopes
	mostLookedAt = 128      // the newest items with one hash
	mostCompared = 5        // candidates
	byTask       = 10       // hashes that a task counts as, unless more than mostCompared others have it
)

// index finds items by their signatures. It has an entry for each hash of an item in each scope: the hash and the
// item's number. Entries follow from the items, so every process makes its own, and none is stored. An index is safe
// for concurrent use.
type index struct {
	mu      sync.Mutex
	through map[string]int64 // the position up to which it knows the log of each tenant

	// Sorted entries, each run at least twice as long as the next. The old ones go when there are too many young ones.
	old, young [][]uint64
}

// numberBits is the size of an item's number in an entry.
const numberBits = 34

func numberOf(entry uint64) int64 { return int64(entry & (1<<numberBits - 1)) }

// keys are the hashes of an item in a scope, as entries have them. That of its task is the last one.
func keys(tenant, scope string, s search.Signed) (all []uint64) {
	within := compare.Hash(tenant, scope, string(s.Item.ContextType))
	for _, hash := range append(s.Hashes, s.Task) {
		if hash != 0 {
			all = append(all, compare.Joined(within, hash)>>numberBits<<numberBits)
		}
	}
	return all
}

// knows is the position up to which the index knows the log of a tenant.
func (x *index) knows(tenant string) int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.through[tenant]
}

// add adds items that the log of a tenant has up to a position.
func (x *index) add(tenant string, position int64, items map[string]search.Signed) {
	var entries []uint64
	for _, s := range items {
		for _, scope := range s.Item.Scopes {
			for _, key := range keys(tenant, string(scope), s) {
				entries = append(entries, key|uint64(s.Item.Number))
			}
		}
	}
	slices.Sort(entries)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.through == nil {
		x.through = map[string]int64{}
	}
	x.through[tenant] = max(x.through[tenant], position)
	x.young = append(x.young, entries)
	for n := len(x.young); n > 1 && len(x.young[n-2]) < 2*len(x.young[n-1]); n-- {
		merged := slices.Concat(x.young[n-2], x.young[n-1])
		slices.Sort(merged)
		x.young = append(x.young[:n-2], slices.Compact(merged))
	}
	if len(x.young[0]) > mostEntries/2 {
		x.old, x.young = x.young, nil
	}
}

// newest lists the newest items with a hash in a scope.
func (x *index) newest(key uint64, most int) (numbers []int64) {
	for _, run := range slices.Backward(slices.Concat(x.old, x.young)) {
		end, _ := slices.BinarySearch(run, key|(1<<numberBits-1))
		for ; end > 0 && run[end-1] >= key && len(numbers) < most; end-- {
			numbers = append(numbers, numberOf(run[end-1]))
		}
	}
	return numbers
}

// candidates are items that may say the same as an item, contradict it or answer its task, the likeliest first.
func (x *index) candidates(tenant string, s search.Signed) []int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	best := map[int64]int{}
	for _, scope := range s.Item.Scopes {
		shared := map[int64]int{}
		for i, key := range keys(tenant, string(scope), s) {
			numbers, weight := x.newest(key, mostLookedAt), 1
			if i == len(s.Hashes) && len(numbers) <= mostCompared+1 {
				weight = byTask
			}
			for _, number := range numbers {
				if shared[number] += weight; shared[number] >= s.Least && number != s.Item.Number {
					best[number] = max(best[number], shared[number])
				}
			}
		}
	}
	numbers := slices.SortedFunc(maps.Keys(best), func(a, b int64) int {
		return cmp.Or(best[b]-best[a], cmp.Compare(b, a))
	})
	return numbers[:min(len(numbers), mostCompared)]
}
