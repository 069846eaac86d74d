package projections_test

import (
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/embedding"
)

func (w *world) embed(kind embedding.Kind, texts ...string) [][]float32 {
	w.t.Helper()
	vectors := must(embedding.Builtin{}.Embed(w.t.Context(), texts, kind))(w.t)
	return vectors
}

// IsLive tells whether answers may contain an item at all.
func IsLive(k *domain.Knowledge) bool {
	return k.Status == domain.Active || k.Status == domain.IsSuperseded
}
