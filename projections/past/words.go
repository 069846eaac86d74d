package past

import (
	"context"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

// compareWords scores items that contain any of the question's terms by BM25, over the statistics of what the
// audience had.
func (r *asOfSearch) compareWords(ctx context.Context, tx bun.IDB) error {
	r.items, r.seen = nil, 0
	r.words = words.NewMatches(r.terms)
	r.words.NameByID(r.search.Text)
	var all words.Size
	var listed, length int64
	by, filter := r.past.catalogue.Tokenizers[0], r.search.Filter
	conditions := words.TermsOfFilter(by, filter)
	keep := func(i asOfCandidate) {
		if len(conditions) == 0 || conditions.Pass(i.bag) {
			i.bag = nil // the next row reuses its bytes
			r.items = append(r.items, i)
		}
	}
	var rest domain.Filter
	r.counted, rest = rows.Narrow(r.search.Filter, r.audience)
	plain := rows.IsPlain(rest) && len(rest.PrivateOf) == 0
	err := r.each(ctx, r.withWords(r.live(tx), true).OrderExpr("k.number"), func(i asOfCandidate) {
		times := int64(len(r.shared(i.scopes)))
		listed, length, all.Items = listed+times, length+times*int64(i.words), all.Items+int(min(times, 1))
		if i.status == domain.Active {
			r.seen++
		}
		if times == 0 {
			return
		}
		r.words.AddPacked(i.number, i.words, i.bag)
		if plain && i.status == domain.Active && !(r.search.Filter.NoArchives && domain.IsArchive(i.id)) {
			keep(i)
		}
	})
	if err == nil && !plain {
		err = r.each(ctx, r.withWords(r.passing(tx), len(conditions) > 0), keep)
	}
	if err == nil && !words.AreToldByTerms(by, filter) {
		err = r.keepHolding(ctx, tx, by)
	}
	if err != nil {
		return err
	}
	r.passed = int64(len(r.items))
	all.Average = float64(length) / float64(max(1, listed))
	r.words.Score(all)
	return nil
}

// keepHolding leaves the items whose texts pass the filter.
func (r *asOfSearch) keepHolding(ctx context.Context, tx bun.IDB, by text.Tokenizer) error {
	const atOnce = 500
	holding := map[int64]bool{}
	for some := range slices.Chunk(r.items, atOnce) {
		numbers := make([]int64, len(some))
		for i := range some {
			numbers[i] = some[i].number
		}
		items, err := r.read(ctx, tx, numbers)
		if err != nil {
			return err
		}
		for _, k := range items {
			holding[k.Number] = words.Holds(by, r.search.Filter, k)
		}
	}
	r.items = slices.DeleteFunc(r.items, func(i asOfCandidate) bool { return !holding[i.number] })
	return nil
}

// shared are the item's scopes that count: those of the audience, or one empty scope for everything.
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

// withWords selects the columns of candidates.
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
