package domain

import "math"

// ConfidencePolicy turns voices into confidence. It is a pure function with a name and a
// version: a projection records which one it was built with, and changing it is a rebuild.
type ConfidencePolicy struct {
	Name string // such as "half-discounted/1"
	// Confidence of an item with this many helpful and harmful voices, and this many
	// distinct people who reported it stale since it was last confirmed; 0…1.
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

// ConfidencePolicies are those that projections can be built with, the default first. One that a
// projection somewhere was built with stays for ever.
func ConfidencePolicies() []ConfidencePolicy {
	return []ConfidencePolicy{DefaultConfidence(), CautiousConfidence()}
}
