package projections

import (
	"fmt"
	"iter"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// folded is an item made from its whole stream, with how many events that were.
type folded struct {
	item   *domain.Knowledge
	events int
}

// foldStreams folds events that come stream by stream into items, holding one at a time.
func foldStreams(all iter.Seq2[domain.Event, error], policy domain.ConfidencePolicy) iter.Seq2[folded, error] {
	return func(yield func(folded, error) bool) {
		var current folded
		var stream string
		erasedText := false
		finish := func() error {
			if current.item != nil && erasedText && current.item.Status != domain.IsErased {
				return fmt.Errorf("%s: text is missing, and no event says that it was erased: %w", stream, events.ErrHole)
			}
			return nil
		}
		for event, err := range all {
			if err != nil {
				yield(folded{}, err)
				return
			}
			if event.Stream != stream {
				if err := finish(); err != nil {
					yield(folded{}, err)
					return
				}
				if current.item != nil && !yield(current, nil) {
					return
				}
				id, _ := knowledgeID(event.Stream)
				stream, erasedText = event.Stream, false
				current = folded{item: &domain.Knowledge{ID: id}}
			}
			erasedText = erasedText || event.TextErased
			current.events++
			if err := current.item.Evolve(event.Fact, event.Occasion(), policy); err != nil {
				yield(folded{}, fmt.Errorf("position %d of tenant %s: %w", event.Position, event.Tenant, err))
				return
			}
		}
		if err := finish(); err != nil {
			yield(folded{}, err)
			return
		}
		if current.item != nil {
			yield(current, nil)
		}
	}
}
