package events

import "testing"

func TestAPageLooksAtSoManyPositionsAndNoMore(t *testing.T) {
	t.Parallel()
	whole := span{from: 3, to: 50_000}
	for name, test := range map[string]struct {
		whole, descending bool
		want              span
		more              bool
	}{
		"oldest first": {false, false, span{3, 20_002}, true},
		"newest first": {false, true, span{30_001, 50_000}, true},
		"by an index":  {true, false, whole, false},
	} {
		got, more := whole.page(test.whole, test.descending)
		if got != test.want || more != test.more {
			t.Errorf("%s: got %v, more %v, want %v, %v", name, got, more, test.want, test.more)
		}
	}
	if got, more := (span{1, 20_000}).page(false, false); got != (span{1, 20_000}) || more {
		t.Errorf("a log that fits: got %v, more %v", got, more)
	}
}
