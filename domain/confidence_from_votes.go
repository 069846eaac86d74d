package domain

import (
	"fmt"
	"math"
	"strings"
)

// ConfidencePolicy turns votes into confidence. It is a pure function with a name and a
// version: a projection records which one it was built with, and changing it is a rebuild.
type ConfidencePolicy struct {
	Name string // such as "half-discounted/1"
	// Confidence is 0…1. reporters counts the distinct entities that reported the item stale since its last
	// confirmation.
	Confidence func(helpful, harmful, reporters int) float64
}

// DefaultConfidence is (helpful − ½) / (helpful + harmful), clamped to 0…1 and halved for every
// distinct reporter of staleness. One helpful use gives 0.5, five give 0.9.
func DefaultConfidence() ConfidencePolicy {
	return ConfidencePolicy{
		Name: "half-discounted/1",
		Confidence: func(helpful, harmful, reporters int) float64 {
			total := helpful + harmful
			if total <= 0 {
				return 0
			}
			c := (float64(helpful) - 0.5) / float64(total)
			return math.Ldexp(min(max(c, 0), 1), -reporters)
		},
	}
}

// ConfidencePolicies are the policies that this release can compute, the default first. A policy is never removed,
// since an existing projection may use it.
func ConfidencePolicies() []ConfidencePolicy {
	return []ConfidencePolicy{DefaultConfidence(), CautiousConfidence()}
}

// CautiousConfidence is the lower bound of Wilson's score interval for the share of helpful votes, one standard error
// below its centre, halved for every distinct reporter of staleness. It trusts few votes less: five helpful votes
// give 0.83 instead of 0.9, one of each gives 0.21 instead of 0.25. From Wilson, "Probable Inference, the Law of
// Succession, and Statistical Inference" (1927).
func CautiousConfidence() ConfidencePolicy {
	return ConfidencePolicy{
		Name: "wilson/1",
		Confidence: func(helpful, harmful, reporters int) float64 {
			n := float64(helpful) + float64(harmful)
			if n <= 0 {
				return 0
			}
			// z = 1. The conversion of each product prevents fused multiply-add, so every processor computes the same
			// bits: a rebuild compares them.
			p := float64(helpful) / n
			spread := math.Sqrt(float64(p*(1-p))/n + 1/float64(4*n*n))
			c := (p + 1/(2*n) - spread) / (1 + 1/n)
			return math.Ldexp(min(max(c, 0), 1), -reporters)
		},
	}
}

// Rating tells readers how far they can rely on an item.
type Rating struct {
	Helpful      int // votes, the author's own included
	Harmful      int
	Confidence   float64
	Reporters    int  // of staleness
	Expired      bool // it was confirmed until a date that has passed
	Status       Status
	SupersededBy string
	DisputedBy   []string // see [Knowledge.DisputedBy]
}

// ContestedBelow is the confidence below which an item that was judged harmful or stale is contested.
const ContestedBelow = 0.2

// MostDisputes limits the items by which an item is disputed, as readers see them.
const MostDisputes = 10

// Rating summarises how an item was judged.
func (k *Knowledge) Rating() Rating {
	return Rating{
		Helpful: k.Helpful, Harmful: k.Harmful, Confidence: k.Confidence, Reporters: k.Stale.Reporters, Expired: k.Expired,
		Status: k.Status, SupersededBy: k.SupersededBy, DisputedBy: k.DisputedBy,
	}
}

// Contested tells whether agents must not rely on the item: it was found harmful or reported stale, and its confidence
// is below [ContestedBelow], or an open proposal says that it contradicts another item that the reader may see.
func (s Rating) Contested() bool { return s.refuted() || len(s.DisputedBy) > 0 }

func (s Rating) refuted() bool {
	return s.Confidence < ContestedBelow && (s.Harmful > 0 || s.Reporters > 0)
}

// Others counts the helpful votes without the author's own.
func (s Rating) Others() int { return max(s.Helpful-1, 0) }

// Marks are the warnings about an item in words: votes against it, what disputes it, reports of staleness, an expired
// confirmation, and its successor.
func (s Rating) Marks() []string {
	var marks []string
	if s.refuted() || s.Harmful > 0 {
		marks = append(marks, fmt.Sprintf("%d helpful, %d harmful", s.Others(), s.Harmful))
	}
	if len(s.DisputedBy) > 0 {
		marks = append(marks, "disputed by "+strings.Join(s.DisputedBy, ", "))
	}
	if s.Contested() {
		marks[0] = "contested: " + marks[0]
	}
	if s.Reporters > 0 {
		marks = append(marks, fmt.Sprintf("reported stale by %d", s.Reporters))
	}
	if s.Expired {
		marks = append(marks, "confirmation expired")
	}
	switch {
	case s.SupersededBy != "":
		marks = append(marks, "superseded by "+s.SupersededBy)
	case s.Status != Active && s.Status != "":
		marks = append(marks, string(s.Status))
	}
	return marks
}
