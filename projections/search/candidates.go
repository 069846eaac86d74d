package search

import (
	"cmp"
	"context"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/vectors"
	"github.com/annals-kb/annals/projections/words"
)

// candidate is an item that a search may find, scored before anything of it is read.
type candidate struct {
	number   int64
	compared bool    // false while it has no vector
	cosine   float64 // of its nearest piece
	lexical  float64
	semantic float64
	score    float64
}

// candidates is what a search chooses from.
type candidates struct {
	list   []candidate           // the best scores first
	words  []int64               // the items that words found
	pieces [][]vectors.NearPiece // the nearest pieces of each place
	read   map[int64]bool        // whether an item that was read passed the search's filter
	found  []domain.Candidate    // those that did
	top    float64               // the best score of these that the audience shares
}

// findCandidates scores what words found, and what lies nearest in each place by its vectors.
func (f *Execution) findCandidates(ctx context.Context) (*candidates, error) {
	all := &candidates{words: f.words.Best(words.WordsDepth), read: map[int64]bool{}}
	known := make(map[int64]int, len(all.words))
	for _, number := range all.words {
		known[number] = len(all.list)
		all.list = append(all.list, candidate{number: number})
	}
	if f.Embedding.Vector != nil {
		if err := f.nearby(ctx, all, known); err != nil {
			return nil, err
		}
	}
	for i := range all.list {
		f.score(&all.list[i])
	}
	slices.SortFunc(all.list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.number, a.number))
	})
	return all, nil
}

// nearby adds the items whose pieces lie nearest, and how near those lie that words found.
func (f *Execution) nearby(ctx context.Context, all *candidates, known map[int64]int) error {
	nearest := f.Model.Nearest
	others, err := nearest.PiecesOf(ctx, f.question, f.shortlist, all.words)
	if err != nil {
		return err
	}
	cosines, err := nearest.Cosines(ctx, f.question, f.shortlist, append(slices.Concat(f.shortlist.Pieces...), others...))
	if err != nil {
		return err
	}
	all.pieces = f.question.Nearest(f.shortlist.Pieces, cosines)
	for _, pieces := range append(all.pieces, others) {
		for _, c := range pieces {
			i, seen := known[c.Number]
			if !seen {
				i = len(all.list)
				known[c.Number] = i
				all.list = append(all.list, candidate{number: c.Number})
			}
			cosine, compared := cosines[c.Hash]
			if p := &all.list[i]; compared && (!p.compared || cosine > p.cosine) {
				p.compared, p.cosine = true, cosine
			}
		}
	}
	return nil
}

// score joins what words and meaning say of an item.
func (f *Execution) score(p *candidate) {
	p.lexical = f.words.ScoreOf(p.number)
	if !p.compared { // there is no vector of the question, or none of the item yet: words stand alone
		p.score = p.lexical
		return
	}
	calibration := f.Model.Embedder.Calibration()
	p.semantic = calibration.Score(p.cosine)
	p.score = p.semantic // a question without words
	if len(f.words.Terms) > 0 {
		p.score = calibration.Join(p.semantic, p.lexical)
	}
}
