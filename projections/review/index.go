package review

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text/compare"
	"github.com/annals-kb/annals/projections/search"
)

const (
	mostEntries  = 32 << 20 // of all tenants, 8 bytes each; an item has up to 19 in each of its scopes
	mostLookedAt = 128      // the newest items with one hash
	mostCompared = 5        // candidates by words, and as many by task
)

// indexes find items by their signatures, for each tenant. They follow from the items, so every process makes its own,
// and none is stored. They are safe for concurrent use.
type indexes struct {
	mu  sync.Mutex
	all map[string]*index
}

// index has an entry for each hash of an item in each scope. An entry is a hash and the item's number.
type index struct {
	through int64      // the position up to which it knows the log
	runs    [][]uint64 // sorted entries, each run at least twice as long as the next
	used    time.Time
}

// numberBits is the size of an item's number in an entry.
const numberBits = 34

func entry(scope domain.Scope, kind domain.ContextType, hash uint64) uint64 {
	const mix = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio: spreads hashes over the bits that are kept
	return (compare.Hash(string(scope), string(kind)) ^ hash) * mix >> numberBits << numberBits
}

func numberOf(entry uint64) int64 { return int64(entry & (1<<numberBits - 1)) }

// of is the index of a tenant, and the position up to which it knows the log.
func (x *indexes) of(tenant string) (own *index, through int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.all[tenant] == nil {
		if x.all == nil {
			x.all = map[string]*index{}
		}
		x.all[tenant] = &index{}
	}
	own = x.all[tenant]
	own.used = time.Now()
	return own, own.through
}

// reach notes that an index knows the log up to a position.
func (x *indexes) reach(own *index, position int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	own.through = max(own.through, position)
}

// add adds items to an index. If there are too many entries, it forgets the indexes of the tenants that were used
// least recently, and then the oldest quarter of this one.
func (x *indexes) add(own *index, items []search.Signed) {
	var entries []uint64
	for _, s := range items {
		for _, scope := range s.Item.Scopes {
			for _, hash := range append(s.Hashes, s.Task) {
				if hash != 0 {
					entries = append(entries, entry(scope, s.Item.ContextType, hash)|uint64(s.Item.Number))
				}
			}
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	own.add(entries)
	for x.size() > mostEntries && len(x.all) > 1 {
		delete(x.all, slices.MinFunc(slices.Collect(maps.Keys(x.all)), func(a, b string) int {
			return x.all[a].used.Compare(x.all[b].used)
		}))
	}
	if x.size() > mostEntries {
		own.forgetOldest()
	}
}

func (x *indexes) size() (n int) {
	for _, one := range x.all {
		for _, run := range one.runs {
			n += len(run)
		}
	}
	return n
}

func (x *index) add(entries []uint64) {
	slices.Sort(entries)
	x.runs = append(x.runs, entries)
	for n := len(x.runs); n > 1 && len(x.runs[n-2]) < 2*len(x.runs[n-1]); n-- {
		merged := slices.Concat(x.runs[n-2], x.runs[n-1])
		slices.Sort(merged)
		x.runs = append(x.runs[:n-2], slices.Compact(merged))
	}
}

// forgetOldest forgets the entries of the oldest items, about a quarter.
func (x *index) forgetOldest() {
	var sample []int64
	for i := 0; i < len(x.runs[0]); i += 1 + len(x.runs[0])/1000 {
		sample = append(sample, numberOf(x.runs[0][i]))
	}
	slices.Sort(sample)
	for i, run := range x.runs {
		x.runs[i] = slices.Clone(slices.DeleteFunc(run, func(e uint64) bool { return numberOf(e) < sample[len(sample)/4] }))
	}
}

// newest lists the newest items with a hash in a scope.
func (x *index) newest(key uint64, most int) (numbers []int64) {
	for _, run := range slices.Backward(x.runs) {
		end, _ := slices.BinarySearch(run, key|(1<<numberBits-1))
		for ; end > 0 && run[end-1] >= key && len(numbers) < most; end-- {
			numbers = append(numbers, numberOf(run[end-1]))
		}
	}
	return numbers
}

// candidates are items that may say the same as an item or contradict it, the likeliest first, and others that may
// answer its task.
func (x *indexes) candidates(own *index, s search.Signed) (byWords, byTask []int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	best := map[int64]int{}
	for _, scope := range s.Item.Scopes {
		shared := map[int64]int{}
		for _, hash := range s.Hashes {
			for _, number := range own.newest(entry(scope, s.Item.ContextType, hash), mostLookedAt) {
				shared[number]++
			}
		}
		for number, n := range shared {
			if n >= s.Least {
				best[number] = max(best[number], n)
			}
		}
		if s.Task != 0 {
			byTask = append(byTask, own.newest(entry(scope, s.Item.ContextType, s.Task), 2*mostCompared)...)
		}
	}
	delete(best, s.Item.Number)
	byWords = slices.SortedFunc(maps.Keys(best), func(a, b int64) int {
		return cmp.Or(best[b]-best[a], cmp.Compare(b, a))
	})
	byWords = byWords[:min(len(byWords), mostCompared)]
	slices.Sort(byTask)
	byTask = slices.DeleteFunc(slices.Compact(byTask), func(number int64) bool {
		return number == s.Item.Number || slices.Contains(byWords, number)
	})
	return byWords, byTask[max(0, len(byTask)-mostCompared):]
}
