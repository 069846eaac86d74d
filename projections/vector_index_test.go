package projections_test

import (
	"fmt"

	"github.com/annals-kb/annals/domain"
)

// fillFrom remembers as many items of somebody else's, by their numbers.
func (w *world) fillFrom(first, n int) {
	w.t.Helper()
	var commands []domain.Command
	for i := first; i < first+n; i++ {
		commands = append(commands, w.knowing(fmt.Sprint("more-", i), domain.Remembered{
			Class: domain.Class{Type: domain.Strategy}, Owner: "org:acme", Scopes: []domain.Scope{"org:acme"},
			Text: domain.Text{Content: fmt.Sprint("item ", i)},
		}))
	}
	w.submitAll(commands...)
}
