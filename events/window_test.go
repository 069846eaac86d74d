package events

import (
	"testing"

	"github.com/annals-kb/annals/domain"
)

func TestAPageLooksAtSoManyPositionsAndNoMore(t *testing.T) {
	t.Parallel()
	whole := span{from: 3, to: 50_000}
	for name, test := range map[string]struct {
		query domain.EventQuery
		want  span
		more  bool
	}{
		"oldest first": {domain.EventQuery{}, span{3, 20_002}, true},
		"newest first": {domain.EventQuery{Descending: true}, span{30_001, 50_000}, true},
		"one stream":   {domain.EventQuery{Stream: "knowledge:k"}, whole, false},
	} {
		got, more := whole.page(test.query)
		if got != test.want || more != test.more {
			t.Errorf("%s: got %v, more %v, want %v, %v", name, got, more, test.want, test.more)
		}
	}
	if got, more := (span{1, 20_000}).page(domain.EventQuery{}); got != (span{1, 20_000}) || more {
		t.Errorf("a log that fits: got %v, more %v", got, more)
	}
}
