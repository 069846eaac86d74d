package past

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pgvector/pgvector-go"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/embedding"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/search"
	"github.com/annals-kb/annals/projections/vectors"
	"github.com/annals-kb/annals/projections/words"
)

// Search finds what was known at s.AsOf among the items that the principal may see today. It compares every item that
// the audience had then, by words and exactly by vectors, so its cost grows with their number. Scores and order are
// those of [search.Searcher.Search], which answers if s.AsOf is the head of the log and the projection is behind.
// [domain.Search.Complete] must have completed the search. The error matches [domain.ErrUnavailable] if the
// projection has not reached s.AsOf.
func (p *Projection) Search(ctx context.Context, s domain.Search) (domain.Answer, error) {
	s = s.Asked()
	answer, isPresent, err := p.searchWhole(ctx, s)
	if err != nil || isPresent {
		return answer, err
	}
	return answer, search.AddParts(s, &answer, func(part domain.Search) (domain.Answer, error) {
		answer, _, err := p.searchWhole(ctx, part)
		return answer, err
	})
}

// searchWhole answers a question but not its parts, unless the present answers: then isPresent is true.
func (p *Projection) searchWhole(
	ctx context.Context, s domain.Search,
) (answer domain.Answer, isPresent bool, err error) {
	started := time.Now()
	if err := errors.Join(p.catalogue.Refresh(ctx), p.models.Refresh(ctx)); err != nil {
		return domain.Answer{}, false, err
	}
	if p, err = p.reaching(ctx, s.By.Tenant, s.AsOf); err != nil {
		return domain.Answer{}, false, err
	}
	then := p.asOf(s.By, s.AsOf, s.AsOfTime, s.Context.Entities)
	then.answers = true
	r := &asOfSearch{
		asOfQuery: then, models: p.models.Read(), search: s, audience: s.Audience(),
		terms: p.catalogue.Tokenizers[0].Query(s.Text), minScore: embedding.MinScore,
	}
	for i := range r.models {
		r.embedded = append(r.embedded, search.Embed(ctx, r.models, i, []domain.Search{s})[0])
		if err := r.embedded[i].Err; err != nil {
			return domain.Answer{}, false, err
		}
	}
	if s.MinScore != nil {
		r.minScore = *s.MinScore
	}
	var hits []domain.Found
	var present domain.Answer
	answered, err := p.reached(ctx, s.By.Tenant, s.AsOf, func(ctx context.Context, tx bun.IDB) (err error) {
		hits, err = r.hits(ctx, tx)
		return err
	}, func() (bool, error) {
		now := s
		now.AsOf = 0
		return p.askPresent(ctx, s.By.Tenant, s.AsOf, func() (err error) {
			present, err = p.searcher.Search(ctx, now)
			return err
		})
	})
	switch {
	case err != nil:
		return domain.Answer{}, false, rows.Failed(ctx, "search the past", err)
	case answered:
		return present, true, nil
	}
	last := len(r.models) - 1
	answer = domain.Answer{
		Hits: hits, Embedder: r.models[last].Embedder.Name(), Degraded: r.embedded[last].Degraded, Warning: r.search.Warning,
		MinScore: r.minScore,
	}
	if s.Explain || len(hits) == 0 {
		answer.Explain = r.explain(time.Since(started))
	}
	return answer, false, nil
}

// asOfSearch is one search of the past in progress.
type asOfSearch struct {
	*asOfQuery
	models   []*vectors.Projection // the built-in one, and the configured one if there is one
	search   domain.Search
	audience domain.Audience
	counted  domain.Audience // whose items the statistics of words count
	terms    []text.QueryTerm
	minScore float64
	embedded []vectors.QueryEmbedding // by the models

	words *words.Matches
	items []asOfCandidate // the audience's items that pass the filter

	seen, passed int64
	below        float64
}

// asOfCandidate are what a search of the past reads of an item.
type asOfCandidate struct {
	number int64
	id     string
	scopes []domain.Scope
	status domain.Status
	since  int64
	words  int
	bag    words.PackedTerms
}

func (r *asOfSearch) hits(ctx context.Context, tx bun.IDB) ([]domain.Found, error) {
	err := r.compareWords(ctx, tx)
	if err == nil && len(r.search.Filter.Phrases) > 0 && len(r.items) == 0 {
		r.search.WithoutPhrases()
		err = r.compareWords(ctx, tx)
	}
	if err != nil {
		return nil, err
	}
	cosines := map[int64]search.Cosines{}
	for model := range r.models {
		if err := r.compare(ctx, tx, model, cosines); err != nil {
			return nil, err
		}
	}
	pool := search.NewPool(r.search, r.words, r.models)
	pool.Load = func(ctx context.Context, numbers []int64) error { return r.load(ctx, tx, pool, cosines, numbers) }
	pool.Members = func(ctx context.Context, sequences []string) ([][]int64, error) {
		return r.members(ctx, tx, sequences)
	}
	best, err := r.best(ctx, tx, pool, cosines)
	if err != nil {
		return nil, err
	}
	if err := pool.Load(ctx, best); err != nil {
		return nil, err
	}
	if err := pool.Judge(ctx); err != nil {
		return nil, err
	}
	known := make(map[string]*domain.Knowledge, len(pool.Entries))
	for _, e := range pool.Entries {
		known[e.Candidate.ID] = e.Item
	}
	var hits []domain.Hit
	hits, r.below = pool.Rank(r.search, r.audience, r.minScore)
	found := make([]domain.Found, len(hits))
	for i, hit := range hits {
		k := known[hit.ID]
		search.ApplyLevel(k, r.search.Level)
		found[i] = domain.Found{Hit: hit, Knowledge: k}
		if r.search.Explain {
			found[i].Terms = r.words.TermsOf(k.Number)
		}
	}
	return found, nil
}

// load reads items as they were, and adds them to the pool.
func (r *asOfSearch) load(
	ctx context.Context, tx bun.IDB, pool *search.Pool, cosines map[int64]search.Cosines, numbers []int64,
) error {
	items, err := r.read(ctx, tx, numbers)
	if err != nil {
		return err
	}
	for _, k := range items {
		pool.Add(&search.Entry{
			Number: k.Number, Item: k, Cosines: cosines[k.Number], Candidate: domain.Candidate{
				ID: k.ID, Scopes: k.Scopes, Confidence: k.Confidence, Position: k.Position,
			},
		})
	}
	return nil
}

// read reads items as they were.
func (r *asOfSearch) read(ctx context.Context, tx bun.IDB, numbers []int64) ([]*domain.Knowledge, error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	rows, err := r.past.rows(ctx, tx, r.tenant, numbers, r.position)
	if err != nil {
		return nil, err
	}
	facts, err := events.SnapshotOf(tx).Facts(ctx, r.tenant, positionsOf(rows))
	return r.withTexts(rows, facts), err
}

// best are the numbers of the items whose texts are read.
func (r *asOfSearch) best(
	ctx context.Context, tx bun.IDB, pool *search.Pool, cosines map[int64]search.Cosines,
) ([]int64, error) {
	scores := make(map[int64]float64, len(r.items))
	for _, item := range r.items {
		scores[item.number] = pool.Estimate(item.number, cosines[item.number])
	}
	numbers := slices.Collect(maps.Keys(scores))
	slices.SortFunc(numbers, func(a, b int64) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(b, a))
	})
	size := search.Size(r.search)
	rows, err := r.past.rows(ctx, tx, r.tenant, numbers[:min(len(numbers), search.Considered*size)], r.position)
	some := make([]domain.Candidate, len(rows))
	for i := range rows {
		k := rows[i].knowledge(r.past.catalogue.Policy())
		some[i] = domain.Candidate{
			Position: k.Number, Scopes: k.Scopes, Confidence: k.Confidence, Score: scores[k.Number],
		}
	}
	return search.Judged(some, r.search, r.audience, size), err
}

// members finds the items of sequences among those that the search could find.
func (r *asOfSearch) members(ctx context.Context, tx bun.IDB, sequences []string) ([][]int64, error) {
	m := words.NewMatches(words.TermsOf(sequences))
	some := r.passing(tx)
	if _, rest := rows.Narrow(r.search.Filter, r.audience); rows.IsPlain(rest) && len(rest.PrivateOf) == 0 {
		some = r.live(tx)
	}
	err := r.each(ctx, r.withWords(some, true), func(i asOfCandidate) {
		m.AddPacked(i.number, i.words, i.bag)
	})
	return m.Members(), err
}

// had selects the audience's items at the position.
func (r *asOfSearch) had(tx bun.IDB) *bun.SelectQuery {
	query := tx.NewSelect().TableExpr("? AS k", r.past.Tables.Items)
	if r.audience.Everything {
		return query
	}
	scopes := r.at(tx.NewSelect().TableExpr("? AS a", r.past.Tables.Scopes).ColumnExpr("a.number").
		Where("a.tenant = ?", r.tenant).Where("a.scope IN (?)", bun.List(r.audience.Scopes)), "a")
	return query.Where("k.number IN (?)", scopes)
}

// live selects those of them that answers might contain.
func (r *asOfSearch) live(tx bun.IDB) *bun.SelectQuery {
	return r.where(r.had(tx), domain.Filter{Statuses: liveStatuses})
}

// passing selects those of them that pass the search's filter.
func (r *asOfSearch) passing(tx bun.IDB) *bun.SelectQuery {
	return r.where(r.had(tx), r.search.Filter).Where("k.status IN (?)", bun.List(liveStatuses))
}

// liveStatuses are the statuses of items that answers may contain.
var liveStatuses = []domain.Status{domain.Active, domain.IsSuperseded}

func (r *asOfSearch) each(ctx context.Context, query *bun.SelectQuery, each func(asOfCandidate)) (err error) {
	rows, err := query.Rows(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var scopes, bag sql.RawBytes
	known := map[string][]domain.Scope{}
	for rows.Next() {
		var i asOfCandidate
		if err := rows.Scan(&i.number, &i.id, &scopes, &i.status, &i.since, &i.words, &bag); err != nil {
			return err
		}
		list, parsed := known[string(scopes)]
		if !parsed {
			if err := json.Unmarshal(scopes, &list); err != nil {
				return fmt.Errorf("read scopes: %w", err)
			}
			known[string(scopes)] = list
		}
		i.scopes, i.bag = list, words.PackedTerms(bag)
		each(i)
	}
	return rows.Err()
}

// compare compares a model's vectors of all items that pass; of an item's pieces the nearest counts.
func (r *asOfSearch) compare(ctx context.Context, tx bun.IDB, model int, found map[int64]search.Cosines) (err error) {
	asked := r.embedded[model].Vector
	if asked == nil || len(r.items) == 0 {
		return nil
	}
	postgres := r.past.catalogue.DB.Engine == database.Postgres
	query := r.passing(tx).ColumnExpr("k.number").
		Join("JOIN ? AS w ON w.tenant = k.tenant AND w.number = k.number", r.past.Tables.Words).
		Join("JOIN ? AS p ON p.tenant = w.tenant AND p.number = w.number AND p.since = w.since", r.past.Tables.Pieces).
		Join("JOIN ? AS v ON v.tenant = p.tenant AND v.text_hash = p.text_hash", r.models[model].Tables.Vectors)
	if postgres {
		query = query.ColumnExpr("1 - (v.vector <=> ?)", pgvector.NewVector(asked))
	} else {
		query = query.ColumnExpr("v.vector")
	}
	rows, err := r.at(query, "w").Rows(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var number int64
		var cosine float64
		var blob sql.RawBytes
		if postgres {
			err = rows.Scan(&number, &cosine)
		} else if err = rows.Scan(&number, &blob); err == nil {
			var vector []float32
			if vector, err = embedding.Decode(blob, len(asked)); err == nil {
				cosine = embedding.Cosine(vector, asked)
			}
		}
		if err != nil {
			return err
		}
		all := found[number]
		all[model].Nearer(cosine)
		found[number] = all
	}
	return rows.Err()
}

func (r *asOfSearch) explain(took time.Duration) *domain.Explanation {
	e := &domain.Explanation{
		Audience: r.audience.Scopes, Visible: r.seen, Passed: r.passed, BestBelow: r.below, Took: took,
	}
	for _, term := range r.terms {
		e.Terms = append(e.Terms, term.Term)
	}
	if slices.ContainsFunc(r.embedded, func(e vectors.QueryEmbedding) bool { return e.Vector != nil }) {
		e.Plans = []domain.ScopePlan{{Items: r.passed, Plan: vectors.PlanExact}}
	}
	return e
}
