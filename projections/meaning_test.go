package projections_test

import (
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/embedding"
)

// nearest are the ids of what lies near a text, which words cannot find.
func (w *world) nearest(text string, context domain.Context) []string {
	w.t.Helper()
	return w.find(domain.Search{
		Vector: w.embed(embedding.Query, text)[0], Context: context, Order: domain.ByScore,
	})
}

var pay = domain.Context{Given: true, Entities: []domain.Entity{"team:pay"}}

// reopened is the world as a server sees it that starts now.
func (w *world) reopened(do func(again *world)) {
	w.t.Helper()
	base := must(projections.Open(w.t.Context(), w.db, projections.Settings{}))(w.t)
	again := *w
	again.base, again.read = base, map[string]int64{}
	do(&again)
}
