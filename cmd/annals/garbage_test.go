package main

import "testing"

func TestGarbageIsLetBeWhileItIsLittle(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		alive   uint64
		percent int
	}{
		{0, 400},
		{20 << 20, 400},
		{128 << 20, 400},
		{256 << 20, 200},
		{437 << 20, 117},
		{512 << 20, 100},
		{8 << 30, 100},
	} {
		if got := garbagePercent(test.alive); got != test.percent {
			t.Errorf("with %d MiB alive, %d %% of that may be garbage, want %d", test.alive>>20, got, test.percent)
		}
	}
}
