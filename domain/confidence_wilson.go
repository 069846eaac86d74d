package domain

import "math"

// CautiousConfidence is the lower bound of Wilson's score interval for the share of helpful voices,
// one standard error below its centre, halved for every distinct reporter of staleness. Few voices say
// little: one helpful use gives 0.5, as by default, but five give 0.83 instead of 0.9, and one of each
// 0.21 instead of 0.25. From Wilson, "Probable Inference, the Law of Succession, and Statistical
// Inference" (1927).
func CautiousConfidence() ConfidencePolicy {
	return ConfidencePolicy{
		Name: "wilson/1",
		Confidence: func(helpful, harmful, reporters int) float64 {
			n := float64(helpful) + float64(harmful)
			if n <= 0 {
				return 0
			}
			// With z = 1. A product that is converted is rounded by itself, so that every processor
			// gives the same: a rebuild compares bit by bit.
			p := float64(helpful) / n
			spread := math.Sqrt(float64(p*(1-p))/n + 1/float64(4*n*n))
			c := (p + 1/(2*n) - spread) / (1 + 1/n)
			return math.Ldexp(min(max(c, 0), 1), -reporters)
		},
	}
}
