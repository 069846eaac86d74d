package main

import (
	"os"
	"runtime/debug"
)

// collectLess lets the heap grow to five times what is alive before garbage is collected, instead of
// to twice. A server keeps little alive and leaves much behind: collecting that took a quarter of the
// processor while it was written to. Whoever sets GOGC knows better.
func collectLess() {
	const percent = 400
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
