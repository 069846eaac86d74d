package domain

import (
	"cmp"
	"math"
	"slices"
)

// RebuildImpact is what a new version means to those who ask, beside the version that is read: whose
// confidence moves, and which answers differ. It names items, and never says what people wrote.
type RebuildImpact struct {
	Confidence ConfidenceImpact `json:"confidence"`
	Answers    AnswerImpact     `json:"answers"`
}

// ConfidenceImpact is how confidence moves, over the items that answers may contain.
type ConfidenceImpact struct {
	Items   int64            `json:"items"`
	Raised  int64            `json:"raised"`
	Lowered int64            `json:"lowered"`
	Moved   float64          `json:"moved"`  // by how much together, up or down
	Before  [10]int64        `json:"before"` // items by tenths of confidence
	After   [10]int64        `json:"after"`
	Most    []ConfidenceMove `json:"most"` // the ten that move farthest
}

// ConfidenceMove is an item whose confidence is another.
type ConfidenceMove struct {
	Tenant    string  `json:"tenant"`
	ID        string  `json:"id"`
	Before    float64 `json:"before"`
	After     float64 `json:"after"`
	Helpful   int     `json:"helpful"`
	Harmful   int     `json:"harmful"`
	Reporters int     `json:"reporters"`
}

// mostMoves is how many items, and how many answers, an impact names.
const mostMoves = 10

// Note adds an item, moved or not.
func (c *ConfidenceImpact) Note(m ConfidenceMove) {
	c.Items++
	c.Before[tenth(m.Before)]++
	c.After[tenth(m.After)]++
	switch {
	case m.After > m.Before:
		c.Raised++
	case m.After < m.Before:
		c.Lowered++
	default:
		return
	}
	c.Moved += m.distance()
	c.Most = keepMost(c.Most, m, func(a, b ConfidenceMove) int {
		return cmp.Or(cmp.Compare(b.distance(), a.distance()), cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.ID, b.ID))
	})
}

func (m ConfidenceMove) distance() float64 { return math.Abs(m.After - m.Before) }

func tenth(confidence float64) int { return min(max(int(confidence*10), 0), 9) }

// AnswerImpact is how the answers to searches differ that were made of the items' own tasks.
type AnswerImpact struct {
	Others    int          `json:"others"`    // answers that have other items among their first ten
	Reordered int          `json:"reordered"` // answers that have the same items in another order
	First     int          `json:"first"`     // answers that begin with another item
	Most      []AnswerMove `json:"most"`      // the ten that differ most
}

// AnswerMove is an answer that differs.
type AnswerMove struct {
	Tenant string   `json:"tenant"`
	ID     string   `json:"id"`   // the item whose task was searched for
	Same   float64  `json:"same"` // the share of items that both have
	Before []string `json:"before"`
	After  []string `json:"after"`
}

// Note adds an answer, different or not.
func (a *AnswerImpact) Note(m AnswerMove) {
	if slices.Equal(m.Before, m.After) {
		return
	}
	if m.Same < 1 {
		a.Others++
	} else {
		a.Reordered++
	}
	if len(m.Before) == 0 || len(m.After) == 0 || m.Before[0] != m.After[0] {
		a.First++
	}
	a.Most = keepMost(a.Most, m, func(a, b AnswerMove) int {
		return cmp.Or(cmp.Compare(a.Same, b.Same), cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.ID, b.ID))
	})
}

// keepMost inserts into a sorted list that keeps its first few.
func keepMost[T any](list []T, value T, compare func(a, b T) int) []T {
	at, _ := slices.BinarySearchFunc(list, value, compare)
	if at == mostMoves {
		return list
	}
	list = slices.Insert(list, at, value)
	return list[:min(len(list), mostMoves)]
}
