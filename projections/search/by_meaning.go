package search

import (
	"context"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/vectors"
)

// meaning is what the vectors of one model say in a search.
type meaning struct {
	*vectors.Projection
	embedding *vectors.QueryEmbedding // nil until the question is embedded
	question  vectors.Question
	shortlist vectors.Shortlist
	pieces    [][]vectors.NearPiece // the nearest pieces of each scope
	others    []vectors.NearPiece   // the pieces of items that were found otherwise
	cosines   map[vectors.Hash]float64
}

// Embed embeds questions by one of the models of a search. The vectors that questions have are those of the last one.
func Embed(ctx context.Context, models []*vectors.Projection, i int, all []domain.Search) []vectors.QueryEmbedding {
	if i < len(models)-1 {
		all = slices.Clone(all)
		for j := range all {
			all[j].Vector = nil
		}
	}
	return models[i].EmbedAll(ctx, all)
}

// byMeaning embeds the question, unless it has a vector already, and finds the nearest sketches of a model.
func (f *Execution) byMeaning(model int) func(ctx context.Context) error {
	m := f.meanings[model]
	return func(ctx context.Context) (err error) {
		if m.embedding == nil {
			m.embedding = &Embed(ctx, f.models, model, []domain.Search{f.Search})[0]
		}
		if m.embedding.Err != nil || m.embedding.Vector == nil {
			return m.embedding.Err
		}
		m.question = vectors.NewQuestion(f.View, f.Search, f.Audience, m.embedding.Vector)
		m.question.Exact = f.exact
		m.shortlist, err = m.Closest(ctx, m.question)
		return err
	}
}

// nearby compares the nearest pieces, and those of items that were found otherwise, with the question.
func (m *meaning) nearby(ctx context.Context, others []int64) (err error) {
	if m.embedding.Vector == nil {
		return nil
	}
	m.others = m.shortlist.PiecesOf(others)
	pieces := slices.Concat(append(m.shortlist.Pieces, m.others)...)
	m.cosines, err = m.Cosines(ctx, m.question, m.shortlist, pieces)
	m.pieces = m.question.Nearest(m.shortlist.Pieces, m.cosines)
	return err
}
