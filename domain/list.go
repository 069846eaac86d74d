package domain

import "time"

// List asks for items in order of remembering, newest first.
type List struct {
	By        Principal
	Filter    Filter
	Sort      Sort      // empty: newest first
	Ascending bool      // of the sort; false: the highest first
	Before    int64     // only items with a smaller number; 0 begins with the newest
	Key       int64     // with Sort: only items after the one with this key and the number Before
	Limit     int       // 1…100; 0 for 20
	AsOf      int64     // a position of the log, for a list as of then; 0 for the present
	AsOfTime  time.Time // the time of that position; zero for the present
}

// ListPage is one page of a list.
type ListPage struct {
	Items []*Knowledge
	Next  int64 // Before of the next page; 0 on the last page
	Key   int64 // of the next page
}

// Sort is what a list is sorted by. Items with the same key come in the order of their numbers.
type Sort string

// The sorts. A list that is sorted has the newest items only, if there are very many.
const (
	ByUpdate     Sort = "updated"
	ByConfidence Sort = "confidence"
	ByHarm       Sort = "harmful" // harmful votes
	ByStaleness  Sort = "stale"   // reports of staleness, and then whether the confirmation has expired
)

// Sorts are all of them.
var Sorts = []Sort{ByUpdate, ByConfidence, ByHarm, ByStaleness}
