package compare_test

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/domain/text/compare"
)

// TestTimeGrowsWithTheLength allows 24 times the processor time for eight times the text. What grows with the square
// of the length takes 64 times as long.
func TestTimeGrowsWithTheLength(t *testing.T) {
	for _, unit := range []string{
		"1,", "1:", "1.5 ", "7", "a", "A ", "x-", "!", ".", "'", "#", "# a\n", "\n", "一", "半二", "人", "前", "不",
		"before ", "aGVsbG8", "\u200b",
	} {
		for form, of := range map[string]func(length int) string{
			"alone":       func(n int) string { return strings.Repeat(unit, n/len(unit)) + "x" },
			"above lines": func(n int) string { return strings.Repeat(unit, n/2/len(unit)) + strings.Repeat("\n", n/2) + "x" },
		} {
			for name, c := range map[string]struct {
				length, times int
				do            func(s string)
			}{
				"compare": {3900, 8, func(s string) {
					compare.Items(compare.Item{Content: s}, compare.Item{Content: "other " + s})
				}},
				"summarise": {text64K, 1, func(s string) {
					text.Abstract(s, text.AbstractTokens)
					text.Overview(s, text.OverviewTokens)
					text.Pieces(s, text.AbstractTokens)
				}},
				"cut": {text64K, 1, func(s string) { text.TermCounts(s); text.Query(s); text.Sentences(s) }},
			} {
				short, long := took(c.times, c.do, of(c.length/8)), took(c.times, c.do, of(c.length))
				for attempt := 0; long > 24*short+40*time.Millisecond && attempt < 3; attempt++ {
					short, long = took(c.times, c.do, of(c.length/8)), took(c.times, c.do, of(c.length))
				}
				if long > 24*short+40*time.Millisecond {
					t.Errorf("%s %q %s: %s, and %s for eight times the text", name, unit, form, short, long)
				}
			}
		}
	}
}

const text64K = 64 << 10

// took is the processor time of some calls, which other processes do not lengthen.
func took(times int, do func(string), s string) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begun := processorTime()
	for range times {
		do(s)
	}
	return processorTime() - begun
}

func processorTime() time.Duration {
	const ofThread = 1 // RUSAGE_THREAD
	var used syscall.Rusage
	if err := syscall.Getrusage(ofThread, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
