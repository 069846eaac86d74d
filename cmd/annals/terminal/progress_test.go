package terminal

import (
	"testing"
	"time"
)

func TestAnImportSaysHowFastItIsAndHowLongItTakes(t *testing.T) {
	t.Parallel()
	p := &Progress{size: 4000, bytes: 1000, items: 5000}
	if got, want := p.pace(10*time.Second), "5,000 records, 500/s, 30 s left"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	p.size = 0 // standard input
	if got, want := p.pace(10*time.Second), "5,000 records, 500/s"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
