package viking

import (
	"cmp"
	"slices"
	"strings"
)

// orders are how entries may be sorted, under the names that clients have for that. A tree stays in the order of
// its paths.
var orders = map[string]func(a, b node) int{
	"name": func(a, b node) int { return strings.Compare(a.uri.Name(), b.uri.Name()) },
	"size": func(a, b node) int { return cmp.Compare(a.size(), b.size()) },
	"time": func(a, b node) int { return a.changed().Compare(b.changed()) },
}

var ordersAlso = map[string]string{"modTime": "time", "mod_time": "time", "mtime": "time", "modified": "time", "updated_at": "time"}

// sorted reads how the entries are to be sorted.
func (l *listing) sorted(q *query) {
	l.sortBy = q.text("sort_by")
	l.sortBy = cmp.Or(ordersAlso[l.sortBy], l.sortBy)
	if _, known := orders[l.sortBy]; !known && l.sortBy != "" {
		q.found.Add("sort_by", "must be name, size or time")
	}
	switch strings.ToLower(q.text("sort_order")) {
	case "", "asc":
	case "desc":
		l.desc = true
	default:
		q.found.Add("sort_order", "must be asc or desc")
	}
}

// sort arranges what was asked for: the entries of one directory, so many as there is room for.
func (l *listing) sort(nodes []node) {
	if l.sortBy == "" && !l.desc || l.deep {
		return
	}
	order := orders[cmp.Or(l.sortBy, "name")]
	slices.SortStableFunc(nodes, func(a, b node) int {
		if l.desc {
			return order(b, a)
		}
		return order(a, b)
	})
}
