package projections_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/annals-kb/annals/domain"
)

func TestWhatWasReplacedDoesNotCrowdOutWhatHolds(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("current",
			"Since March, a payment that fails is retried by the gateway, and nobody has to do anything about it", "team:pay")
		var commands []domain.Command
		for i := range 400 {
			id := fmt.Sprint("old", i)
			commands = append(commands, w.knowing(id, domain.Remembered{
				Type: domain.Strategy, Scopes: []domain.Scope{"team:pay"},
				Text: domain.Text{Content: fmt.Sprint("retry the failed payment call ", i)},
			}), domain.Supersede{Target: domain.Target{By: w.by, ID: id}, Successor: "current"})
		}
		w.submitAll(commands...)
		w.understand()
		for _, context := range []domain.Context{{}, {Given: true, Entities: []domain.Entity{"team:pay"}}} {
			s := domain.Search{Text: "retry the failed payment call", Context: context}
			if got := w.find(s); !slices.Equal(got, []string{"current"}) {
				t.Errorf("in %v: found %v, want what holds", context.Entities, got)
			}
			s.Filter.Statuses = []domain.Status{domain.Active, domain.IsSuperseded}
			if got := w.find(s); len(got) != domain.DefaultLimit || slices.Contains(got, "current") {
				t.Errorf("in %v: found %v, want what was replaced, on request", context.Entities, got)
			}
		}
	})
}
