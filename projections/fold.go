package projections

import (
	"fmt"
	"iter"

	"github.com/annals-kb/annals/domain"
)

// folded is an item made from its whole stream, with how many events that were, and the ids of those
// that lost their text, as its events say: what a redaction left stands elsewhere.
type folded struct {
	item   *domain.Knowledge
	events int
	erased []string
}

// foldStreams folds events that come stream by stream into items, holding one at a time. Where a text
// is missing it goes on: the event that says why may come after those that are folded.
func foldStreams(all iter.Seq2[domain.Event, error], policy domain.ConfidencePolicy) iter.Seq2[folded, error] {
	return func(yield func(folded, error) bool) {
		var current folded
		var stream string
		for event, err := range all {
			if err != nil {
				yield(folded{}, err)
				return
			}
			if event.Stream != stream {
				if current.item != nil && !yield(current, nil) {
					return
				}
				id, _ := domain.ItemOf(event.Stream)
				stream = event.Stream
				current = folded{item: &domain.Knowledge{ID: id}}
			}
			current.events++
			current.erased = append(current.erased, domain.Destroys(event.Fact)...)
			if err := current.item.Evolve(event.Fact, event.Metadata(), policy); err != nil {
				yield(folded{}, fmt.Errorf("position %d of tenant %s, %s: %w", event.Position, event.Tenant, event.Stream, err))
				return
			}
		}
		if current.item != nil {
			yield(current, nil)
		}
	}
}
