package past

import (
	"context"
	"math"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
	"github.com/annals-kb/annals/text"
)

// compareWords scores what contains any of the question's terms by BM25, over the statistics of what the
// audience had.
func (r *asOfSearch) compareWords(ctx context.Context, tx bun.IDB) error {
	r.words = &termOccurrences{with: make([][]occurred, len(r.terms))}
	hashes := make([]uint64, len(r.terms))
	for i, term := range r.terms {
		hashes[i] = words.HashOf(term.Term)
	}
	var all words.ScopeSize
	measure := func(i asOfCandidate) {
		times := int64(len(r.shared(i.scopes)))
		all.Items, all.Words = all.Items+times, all.Words+times*int64(i.words)
		if i.status == domain.Active {
			r.seen++
		}
	}
	compare := func(i asOfCandidate) {
		for term, hash := range hashes {
			if count := i.bag.Count(hash); count > 0 {
				r.words.with[term] = append(r.words.with[term], occurred{i.number, count, i.words})
				r.words.found, r.words.listed = r.words.found+1, r.words.listed+len(r.shared(i.scopes))
			}
		}
	}
	var rest domain.Filter
	r.counted, rest = rows.Narrow(r.search.Filter, r.audience)
	plain := rows.IsPlain(rest)
	err := r.each(ctx, r.withWords(r.live(tx), plain), func(i asOfCandidate) {
		measure(i)
		if plain && len(r.shared(i.scopes)) > 0 {
			compare(i)
			if i.bag = nil; i.status == domain.Active && !(r.search.Filter.NoArchives && domain.IsArchive(i.id)) { // its bytes are those of the next row by then
				r.items = append(r.items, i)
			}
		}
	})
	if err == nil && !plain {
		err = r.each(ctx, r.withWords(r.passing(tx), true), func(i asOfCandidate) {
			compare(i)
			i.bag = nil
			r.items = append(r.items, i)
		})
	}
	r.passed = int64(len(r.items))
	r.words.score(r.terms, all)
	return err
}

// shared are the scopes that count of an item's: those of the audience, or one for everything.
func (r *asOfSearch) shared(scopes []domain.Scope) []domain.Scope {
	if r.counted.Everything {
		return []domain.Scope{""}
	}
	var both []domain.Scope
	for _, scope := range scopes {
		if slices.Contains(r.counted.Scopes, scope) {
			both = append(both, scope)
		}
	}
	return both
}

// withWords selects what candidates are read from.
func (r *asOfSearch) withWords(query *bun.SelectQuery, bags bool) *bun.SelectQuery {
	query = query.ColumnExpr("k.number, k.id, k.scopes, k.status, k.since, w.words").
		Join("JOIN ? AS w ON w.tenant = k.tenant AND w.number = k.number", r.past.Tables.Words)
	if bags {
		query = query.ColumnExpr("w.bag")
	} else {
		query = query.ColumnExpr("NULL")
	}
	return r.at(query, "w")
}

// termOccurrences is where a question's terms occurred, of all that an audience had.
type termOccurrences struct {
	with          [][]occurred // of each term
	found, listed int          // occurrences, and in how many scopes of the audience they were
	scores        map[int64]float64
}

// occurred says that an item had a term.
type occurred struct {
	number       int64
	count, words int
}

// score is BM25 as a search of the present has it; all is what the audience had.
func (w *termOccurrences) score(terms []text.QueryTerm, all words.ScopeSize) {
	w.scores = map[int64]float64{}
	if w.found == 0 {
		return
	}
	average := math.Max(1, float64(all.Words)/math.Max(1, float64(all.Items)))
	items := int(words.Distinct(all.Items, w.listed, w.found))
	attainable := 0.0
	for i, term := range terms {
		worth := text.IDF(items, len(w.with[i]))
		attainable += worth
		for _, o := range w.with[i] {
			if term.Beside && w.scores[o.number] == 0 {
				continue
			}
			w.scores[o.number] += worth * text.Saturation(o.count, o.words, average)
		}
	}
	for number, score := range w.scores {
		w.scores[number] = text.WordScore(score, attainable)
	}
}

// wordsOf are the question's terms that an item had, when asked to explain.
func (r *asOfSearch) wordsOf(number int64) []string {
	if !r.search.Explain {
		return nil
	}
	var terms []string
	for i, term := range r.terms {
		for _, o := range r.words.with[i] {
			if o.number == number {
				terms = append(terms, term.Term)
			}
		}
	}
	return terms
}
