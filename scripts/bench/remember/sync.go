package main

import (
	"os"
	"time"

	"github.com/annals-kb/annals/scripts/bench"
)

// syncTime is how long the disk takes to make 8 KiB durable: no transaction alone is faster than that. 0 if it cannot
// be measured here.
func syncTime() time.Duration {
	file, err := os.CreateTemp("", "annals-bench-")
	if err != nil {
		return 0
	}
	defer os.Remove(file.Name())
	defer file.Close()
	page := make([]byte, 8<<10)
	var times []time.Duration
	for range 200 {
		began := time.Now()
		if _, err := file.WriteAt(page, 0); err != nil {
			return 0
		}
		if err := file.Sync(); err != nil {
			return 0
		}
		times = append(times, time.Since(began))
	}
	return bench.SpreadOf(times).P50
}
