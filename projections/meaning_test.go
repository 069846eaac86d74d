package projections_test

import (
	"github.com/annals-kb/annals/projections"
)

// reopened is the world as a server sees it that starts now.
func (w *world) reopened(do func(again *world)) {
	w.t.Helper()
	base := must(projections.Open(w.t.Context(), w.db, projections.Settings{}))(w.t)
	again := *w
	again.base, again.read = base, map[string]int64{}
	do(&again)
}
