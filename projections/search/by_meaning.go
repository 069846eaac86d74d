package search

import (
	"context"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/vectors"
)

// byMeaning embeds the question, unless it has a vector already, and finds the nearest sketches.
func (f *Execution) byMeaning(ctx context.Context) (err error) {
	m := f.Model
	if f.Embedding == nil {
		f.Embedding = &m.EmbedAll(ctx, []domain.Search{f.Search})[0]
	}
	f.degraded = f.Embedding.Degraded
	if f.Embedding.Err != nil || f.Embedding.Vector == nil {
		return f.Embedding.Err
	}
	f.question = vectors.NewQuestion(f.View, f.Search, f.Audience, f.Embedding.Vector)
	f.question.Exact = f.exact
	f.shortlist, err = m.Closest(ctx, f.question)
	return err
}

// nearby adds the items with the nearest pieces, and the similarity of items that were found by words.
func (f *Execution) nearby(ctx context.Context, all *candidates) error {
	others := f.shortlist.PiecesOf(all.words)
	pieces := append(slices.Concat(f.shortlist.Pieces...), others...)
	cosines, err := f.Model.Cosines(ctx, f.question, f.shortlist, pieces)
	if err != nil {
		return err
	}
	all.pieces = f.question.Nearest(f.shortlist.Pieces, cosines)
	for _, pieces := range append(all.pieces, others) {
		for _, c := range pieces {
			p := all.add(c.Number)
			cosine, compared := cosines[c.Hash]
			if compared && (!p.compared || cosine > p.cosine) {
				p.compared, p.cosine = true, cosine
			}
		}
	}
	return nil
}
