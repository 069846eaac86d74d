package domain

import (
	"cmp"
	"slices"
	"time"
)

// Counts counts the items that pass a filter, for a principal that may see them. Its other counts are of items that
// have one of the filter's statuses; Statuses counts live items of every status.
type Counts struct {
	Items    int
	Complete bool // false if more items pass: the counts are of the newest

	Types, Statuses, Categories, Owners, Scopes, Tags Facet

	Confidence [10]int // by tenths; the last has 1, too

	Stale     int // reported stale, or with an expired confirmation: see Filter.Stale
	Expired   int // with an expired confirmation
	Contested int // see Filter.Contested
	Confirmed int // confirmed, and not stale
	Helpful   int // found helpful since Since
	Since     time.Time
	Unused    *int // without a helpful vote or a recorded search or read; nil if unknown

	ByScope []ScopeCounts // of the scopes with the most items
}

// ScopeCounts are the counts of the items of a scope.
type ScopeCounts struct {
	Scope                                      string
	Items, Stale, Contested, Confirmed, Unused int
	Confidence                                 float64 // the mean
}

// Facet counts items by a value, the most frequent first.
type Facet struct {
	Counts []Count
	More   bool // there are other values
}

// Count is how many items have a value.
type Count struct {
	Value string
	Items int
}

// mostValues limits the values of a facet.
const mostValues = 20

// FacetOf is the facet of these counts. It leaves out the empty value.
func FacetOf(counts map[string]int) (f Facet) {
	for value, n := range counts {
		if value != "" {
			f.Counts = append(f.Counts, Count{Value: value, Items: n})
		}
	}
	slices.SortFunc(f.Counts, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.Value, b.Value))
	})
	if len(f.Counts) > mostValues {
		f.Counts, f.More = f.Counts[:mostValues], true
	}
	return f
}
