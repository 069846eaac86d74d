package bench

import (
	"math"
	"slices"
	"time"
)

// Spread is how long something took, over many times.
type Spread struct {
	P50 time.Duration
	P95 time.Duration
	P99 time.Duration
}

// SpreadOf sorts the times. The percentile is the nearest rank.
func SpreadOf(times []time.Duration) Spread {
	slices.Sort(times)
	rank := func(share float64) time.Duration {
		if len(times) == 0 {
			return 0
		}
		return times[max(0, int(math.Ceil(share*float64(len(times))))-1)]
	}
	return Spread{P50: rank(0.50), P95: rank(0.95), P99: rank(0.99)}
}

// Milliseconds is a duration as reports have it.
func Milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Millisecond)*1000) / 1000
}
