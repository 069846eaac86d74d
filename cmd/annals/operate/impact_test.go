package operate

import "testing"

// Two answers are shown from where they begin to differ: lines that say the same tell nobody anything.
func TestAnswersAreShownFromWhereTheyDiffer(t *testing.T) {
	t.Parallel()
	before, after := []string{"a", "b", "c", "d", "e", "f", "g", "h"}, []string{"a", "b", "d", "c", "e"}
	for _, c := range []struct {
		ids, other []string
		want       string
	}{
		{before, after, "3. c, d, e, f …"},
		{after, before, "3. d, c, e"},
		{after[:2], before, "3. none"},
		{nil, before, "1. none"},
	} {
		if got := hitsFrom(c.ids, c.other); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// What is nearly all is not all.
func TestSharesAreNotRoundedUp(t *testing.T) {
	t.Parallel()
	for overlap, want := range map[float64]string{0.996: "99 %", 0.58: "58 %", 1: "100 %"} {
		if got, want := sameHits(overlap, 50), "searches by the items' own tasks: "+want+" of the first ten hits are the same, of 50"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
