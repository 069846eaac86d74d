package past

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pgvector/pgvector-go"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
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
	started := time.Now()
	if err := errors.Join(p.catalogue.Refresh(ctx), p.models.Refresh(ctx)); err != nil {
		return domain.Answer{}, err
	}
	then := p.asOf(s.By, s.AsOf, s.AsOfTime, s.Context.Entities)
	meaning := p.models.Active.Load()
	r := &asOfSearch{
		asOfQuery: then, meaning: meaning, search: s, audience: s.Audience(),
		terms: p.catalogue.Tokenizers[0].Query(s.Text), minScore: meaning.Embedder.Calibration().MinScore,
		embedding: meaning.EmbedAll(ctx, []domain.Search{s})[0],
	}
	if r.embedding.Err != nil {
		return domain.Answer{}, r.embedding.Err
	}
	if s.MinScore != nil {
		r.minScore = *s.MinScore
	}
	var hits []domain.Hit
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
		return domain.Answer{}, rows.Failed(ctx, "search the past", err)
	case answered:
		return present, nil
	}
	answer := domain.Answer{
		Embedder: meaning.Embedder.Name(), Degraded: r.embedding.Degraded, Warning: s.Warning, MinScore: r.minScore,
	}
	if answer.Hits, err = r.read(ctx, hits); err != nil {
		return domain.Answer{}, err
	}
	if s.Explain || len(hits) == 0 {
		answer.Explain = r.explain(time.Since(started))
	}
	return answer, nil
}

// asOfSearch is one search of the past in progress.
type asOfSearch struct {
	*asOfQuery
	meaning   *vectors.Projection
	search    domain.Search
	audience  domain.Audience
	counted   domain.Audience // whose items the statistics of words count
	terms     []text.QueryTerm
	minScore  float64
	embedding vectors.QueryEmbedding

	words *words.Matches
	items []asOfCandidate // the audience's items that pass the filter
	rows  []itemRow       // of the hits

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

func (r *asOfSearch) hits(ctx context.Context, tx bun.IDB) ([]domain.Hit, error) {
	if err := r.compareWords(ctx, tx); err != nil {
		return nil, err
	}
	cosines, err := r.cosines(ctx, tx)
	if err != nil {
		return nil, err
	}
	candidates := r.candidates(cosines)
	if err := r.weigh(ctx, tx, candidates); err != nil {
		return nil, err
	}
	hits := domain.Rank(candidates, r.audience, r.search.Order, r.minScore, domain.MaxLimit) // some may be copies
	places := make(map[string]int64, len(r.items))
	for _, item := range r.items {
		places[item.id] = item.number
	}
	numbers := make([]int64, len(hits))
	for i, hit := range hits {
		numbers[i] = places[hit.ID]
	}
	if len(numbers) > 0 {
		r.rows, err = r.past.rows(ctx, tx, r.tenant, numbers, r.position)
	}
	return hits, err
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

// cosines compares the vectors of all items that pass; of an item's pieces the nearest counts.
func (r *asOfSearch) cosines(ctx context.Context, tx bun.IDB) (found map[int64]float64, err error) {
	found = map[int64]float64{}
	if r.embedding.Vector == nil || len(r.items) == 0 {
		return found, nil
	}
	postgres := r.past.catalogue.DB.Engine == database.Postgres
	query := r.passing(tx).ColumnExpr("k.number").
		Join("JOIN ? AS w ON w.tenant = k.tenant AND w.number = k.number", r.past.Tables.Words).
		Join("JOIN ? AS p ON p.tenant = w.tenant AND p.number = w.number AND p.since = w.since", r.past.Tables.Pieces).
		Join("JOIN ? AS v ON v.tenant = p.tenant AND v.text_hash = p.text_hash", r.meaning.Tables.Vectors)
	if postgres {
		query = query.ColumnExpr("1 - (v.vector <=> ?)", pgvector.NewVector(r.embedding.Vector))
	} else {
		query = query.ColumnExpr("v.vector")
	}
	rows, err := r.at(query, "w").Rows(ctx)
	if err != nil {
		return nil, err
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
			if vector, err = embedding.Decode(blob, len(r.embedding.Vector)); err == nil {
				cosine = embedding.Cosine(vector, r.embedding.Vector)
			}
		}
		if err != nil {
			return nil, err
		}
		if best, compared := found[number]; !compared || cosine > best {
			found[number] = cosine
		}
	}
	return found, rows.Err()
}

// candidates are scored as a search of the present scores them. weigh adds confidence.
func (r *asOfSearch) candidates(cosines map[int64]float64) []domain.Candidate {
	var candidates []domain.Candidate
	kept := r.items[:0]
	for _, item := range r.items {
		c := r.candidate(item, cosines)
		if c.Score < r.minScore {
			r.below = max(r.below, c.Score)
			continue
		}
		candidates, kept = append(candidates, c), append(kept, item)
	}
	r.items = kept
	return candidates
}

func (r *asOfSearch) candidate(item asOfCandidate, cosines map[int64]float64) domain.Candidate {
	c := domain.Candidate{ID: item.id, Scopes: item.scopes, Position: item.since, Lexical: r.words.ScoreOf(item.number)}
	if r.search.Text != "" && !text.HasContent(r.terms) {
		return c
	}
	cosine, compared := cosines[item.number]
	if !compared { // words decide alone
		c.Score = c.Lexical
		return c
	}
	calibration := r.meaning.Embedder.Calibration()
	c.Semantic = calibration.Score(cosine)
	c.Score = c.Semantic
	if len(r.terms) > 0 {
		c.Score = calibration.Join(c.Semantic, c.Lexical)
	}
	return c
}

// weigh gives candidates, which have the order of the items, the confidence that they had.
func (r *asOfSearch) weigh(ctx context.Context, tx bun.IDB, candidates []domain.Candidate) error {
	const most = 5000
	policy := r.now.Version.Policy
	at := make(map[int64]int, len(r.items))
	numbers := make([]int64, len(r.items))
	for i, item := range r.items {
		at[item.number], numbers[i] = i, item.number
	}
	for batch := range slices.Chunk(numbers, most) {
		var rows []struct {
			Number, Since, HelpfulLacks, HarmfulLacks int64
			Helpful, Harmful, Reporters               int
		}
		newest := tx.NewSelect().TableExpr("? AS b", r.past.Tables.Counts).ColumnExpr("b.number, max(b.since) AS since").
			Where("b.tenant = ?", r.tenant).Where("b.number IN (?)", bun.List(batch)).Where("b.since <= ?", r.position).
			GroupExpr("b.number")
		err := tx.NewSelect().TableExpr("(?) AS newest", newest).
			Join("JOIN ? AS c ON c.tenant = ? AND c.number = newest.number AND c.since = newest.since",
				r.past.Tables.Counts, r.tenant).
			ColumnExpr("c.number, c.since, c.helpful, c.harmful, c.helpful_lacks, c.harmful_lacks").
			ColumnExpr("CASE WHEN c.confirm_until <= ? THEN c.reporters + c.suspended ELSE c.reporters END AS reporters",
				database.At(r.time)).Scan(ctx, &rows)
		if err != nil {
			return err
		}
		for _, row := range rows {
			c := &candidates[at[row.Number]]
			c.Confidence = policy.Rate(&domain.Knowledge{
				Helpful: row.Helpful, Harmful: row.Harmful,
				Voices: domain.Voices{Helpful: row.HelpfulLacks, Harmful: row.HarmfulLacks},
			}, row.Reporters)
			c.Position = max(c.Position, row.Since)
		}
	}
	return nil
}

// read returns the hits with their items as they were.
func (r *asOfSearch) read(ctx context.Context, hits []domain.Hit) ([]domain.Found, error) {
	if len(hits) == 0 {
		return nil, nil
	}
	items, err := r.readTexts(ctx, r.rows)
	if err != nil {
		return nil, err
	}
	known, candidates := make(map[string]*domain.Knowledge, len(items)), make([]domain.Candidate, 0, len(hits))
	for _, k := range items {
		known[k.ID] = k
	}
	for _, hit := range hits {
		k := known[hit.ID]
		if k == nil {
			continue
		}
		if !r.search.Copies {
			hit.Said = string(k.Polarity) + " " + k.Text.Task + " " + k.Text.Content
		}
		candidates = append(candidates, hit.Candidate)
		search.ApplyLevel(k, r.search.Level)
	}
	found := make([]domain.Found, 0, len(hits))
	for _, hit := range domain.Rank(candidates, r.audience, r.search.Order, r.minScore, r.search.Limit) {
		k := known[hit.ID]
		found = append(found, domain.Found{Hit: hit, Knowledge: k, Terms: r.words.Explained[k.Number]})
	}
	return found, nil
}

func (r *asOfSearch) explain(took time.Duration) *domain.Explanation {
	e := &domain.Explanation{
		Audience: r.audience.Scopes, Visible: r.seen, Passed: r.passed, BestBelow: r.below, Took: took,
	}
	for _, term := range r.terms {
		e.Terms = append(e.Terms, term.Term)
	}
	if r.embedding.Vector != nil {
		e.Plans = []domain.ScopePlan{{Items: r.passed, Plan: vectors.PlanExact}}
	}
	return e
}
