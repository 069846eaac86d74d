package projections

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
)

// patience is how long a search waits for the model to embed the question before words alone
// answer.
const patience = 3 * time.Second

// Search finds what is known about something. It reads candidates by words and candidates by
// meaning, each from the scopes that the audience may see and with the filter inside, joins their
// scores, and lets [domain.Rank] decide. The search must have been completed by
// [domain.Search.Complete]. While the model is down, words answer alone and the answer says so.
func (p *Knowledge) Search(ctx context.Context, s domain.Search) (domain.Answer, error) {
	started := time.Now()
	if err := p.refresh(ctx); err != nil {
		return domain.Answer{}, err
	}
	p = p.pinned()
	f := &finding{projection: p, search: s, audience: s.Audience(), minScore: p.meaning.embedder.Calibration().MinScore}
	if s.MinScore != nil {
		f.minScore = *s.MinScore
	}
	vector := p.meaning.ask(ctx, s)
	var err error
	if f.sizes, err = p.profiles.of(ctx, p, s.By.Tenant, f.audience); err != nil {
		return domain.Answer{}, err
	}
	hits, err := f.hits(ctx, sync.OnceValue(func() asked { return <-vector }))
	if err != nil {
		return domain.Answer{}, err
	}
	answer := domain.Answer{Embedder: p.meaning.embedder.Name(), Degraded: f.degraded, MinScore: f.minScore}
	if answer.Hits, err = f.read(ctx, hits); err != nil {
		return domain.Answer{}, err
	}
	if s.Explain || len(hits) == 0 {
		if answer.Explain, err = f.explain(ctx, started); err != nil {
			return domain.Answer{}, err
		}
	}
	return answer, nil
}

// asked is a question's vector, or why there is none.
type asked struct {
	vector   []float32
	degraded string
	err      error
}

// ask embeds the question while the index of words is being read.
func (m *Meaning) ask(ctx context.Context, s domain.Search) <-chan asked {
	answer := make(chan asked, 1)
	go func() { answer <- m.embed(ctx, s) }()
	return answer
}

func (m *Meaning) embed(ctx context.Context, s domain.Search) asked {
	if len(s.Vector) > 0 {
		if len(s.Vector) != m.tables.dims {
			return asked{err: wrongDimensions(len(s.Vector), m.tables.dims)}
		}
		vector := append([]float32(nil), s.Vector...)
		if err := embedding.Normalize(vector); err != nil {
			return asked{err: wrongVector()}
		}
		return asked{vector: vector}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	vectors, err := m.embedder.Embed(ctx, []string{s.Text}, embedding.Query)
	if err != nil {
		m.knowledge.log.WarnContext(ctx, "search without meaning", "embedder", m.embedder.Name(), "error", err)
		return asked{degraded: fmt.Sprintf("words alone: the model of %s does not answer", m.embedder.Name())}
	}
	return asked{vector: vectors[0]}
}

func wrongDimensions(got, want int) error {
	var p domain.Problems
	p.Add("vector", "must have %d numbers, has %d", want, got)
	return p.Err()
}

func wrongVector() error {
	var p domain.Problems
	p.Add("vector", "must not be all zero")
	return p.Err()
}

// finding is one search on its way.
type finding struct {
	projection *Knowledge
	search     domain.Search
	audience   domain.Audience
	minScore   float64
	sizes      map[domain.Scope]profile
	words      *matches
	best       []int64           // numbers of the best of each tier by words
	cosines    map[int64]float64 // nil while words stand alone
	plans      []domain.ScopePlan
	degraded   string
	below      float64 // the best score under the threshold
	evenly     bool    // leave confidence aside
}

// hits finds candidates and ranks them. Few items are superseded, so that at first candidates are
// looked for without asking: a search without a filter reads indexes alone. Where it turns out that
// what was replaced has crowded out what holds, it is asked for inside.
func (f *finding) hits(ctx context.Context, vector func() asked) (hits []domain.Hit, err error) {
	for {
		if f.words, err = f.projection.match(ctx, f.search, f.audience, f.sizes); err != nil {
			return nil, err
		}
		f.best = f.words.best(wordsDepth)
		if err := f.byMeaning(ctx, vector()); err != nil {
			return nil, err
		}
		candidates, crowded, err := f.candidates(ctx)
		if err != nil || !crowded {
			return domain.Rank(candidates, f.audience, f.search.Order, f.minScore, f.search.Limit), err
		}
		f.search.Filter.Statuses = []domain.Status{domain.Active}
	}
}

func (f *finding) byMeaning(ctx context.Context, q asked) (err error) {
	if q.err != nil || q.vector == nil {
		f.degraded = q.degraded
		return q.err
	}
	f.cosines, f.plans, err = f.projection.meaning.nearest.search(ctx, question{
		from: f.projection, search: f.search, audience: f.audience, sizes: f.sizes,
		vector: q.vector, known: f.best,
	})
	return err
}

// slim is what ranking needs to know of an item.
type slim struct {
	ID         string
	Number     int64
	Scopes     []domain.Scope
	Confidence float64
	Position   int64
}

// scanSlim reads them without reflection: a search reads hundreds.
func scanSlim(rows *sql.Rows) (all []slim, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var found slim
		var scopes string
		if err := rows.Scan(&found.ID, &found.Number, &scopes, &found.Confidence, &found.Position); err != nil {
			return nil, err
		}
		for scope := range strings.SplitSeq(strings.Trim(scopes, `[]"`), `","`) { // no scope contains a quote
			found.Scopes = append(found.Scopes, domain.Scope(scope))
		}
		all = append(all, found)
	}
	return all, rows.Err()
}

// candidates reads what the candidates are by now and drops those that do not pass; crowded means
// that they were so many that others may not have become candidates.
func (f *finding) candidates(ctx context.Context) (candidates []domain.Candidate, crowded bool, err error) {
	numbers := f.numbers()
	if len(numbers) == 0 {
		return nil, false, nil
	}
	p := f.projection
	// What was forgotten may still have vectors for a moment, and can be asked for by status.
	in := place{engine: p.db.Engine, tenant: f.search.By.Tenant, table: p.tables().knowledge, alias: "k", condition: isLive}
	query := lookUp(p.reads.NewSelect().Model((*row)(nil)), in, singly(numbers), "number").
		ColumnExpr("k.id, k.number, k.scopes, k.confidence, k.position")
	found, err := p.where(query, f.search.By.Tenant, f.search.Filter).Rows(ctx)
	if err != nil {
		return nil, false, p.failed(ctx, "read candidates", err)
	}
	rows, err := scanSlim(found)
	if err != nil {
		return nil, false, p.failed(ctx, "read candidates", err)
	}
	if dropped := len(numbers) - len(rows); dropped >= wordsDepth/2 && dropped > len(numbers)/3 && isPlain(f.search.Filter) {
		return nil, true, nil
	}
	candidates = make([]domain.Candidate, len(rows))
	for i, r := range rows {
		candidates[i] = f.candidate(r)
		if _, shared := f.audience.Best(r.Scopes); shared && candidates[i].Score < f.minScore {
			f.below = max(f.below, candidates[i].Score)
		}
	}
	return candidates, false, nil
}

// numbers are the candidates: the best by words and the best by meaning.
func (f *finding) numbers() []int64 {
	numbers := slices.Clone(f.best)
	known := make(map[int64]bool, len(numbers))
	for _, number := range numbers {
		known[number] = true
	}
	for number := range f.cosines {
		if !known[number] {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

func (f *finding) candidate(r slim) domain.Candidate {
	c := domain.Candidate{
		ID: r.ID, Scopes: r.Scopes, Confidence: r.Confidence, Position: r.Position,
		Lexical: f.words.scores[r.Number],
	}
	if f.evenly {
		c.Confidence = 1
	}
	if f.cosines == nil {
		c.Score = c.Lexical
		return c
	}
	calibration := f.projection.meaning.embedder.Calibration()
	if cosine, known := f.cosines[r.Number]; known {
		c.Semantic = calibration.Score(cosine)
	}
	c.Score = c.Semantic // a question without words
	if len(f.words.terms) > 0 {
		c.Score = calibration.Join(c.Semantic, c.Lexical)
	}
	return c
}

// read fetches the items of the hits.
func (f *finding) read(ctx context.Context, hits []domain.Hit) ([]domain.Found, error) {
	if len(hits) == 0 {
		return nil, nil
	}
	ids := make([]string, len(hits))
	for i, hit := range hits {
		ids[i] = hit.ID
	}
	p := f.projection
	var rows []row
	err := p.db.NewSelect().Model(&rows).ModelTableExpr("? AS k", p.tables().knowledge).
		Where("tenant = ?", f.search.By.Tenant).Where("id IN (?)", bun.List(ids)).Scan(ctx)
	if err != nil {
		return nil, p.failed(ctx, "read hits", err)
	}
	items := make(map[string]*domain.Knowledge, len(rows))
	for i := range rows {
		items[rows[i].ID] = rows[i].knowledge()
	}
	found := make([]domain.Found, 0, len(hits))
	for _, hit := range hits {
		k := items[hit.ID]
		if k == nil {
			continue
		}
		// It may have been forgotten or shared with others since it was ranked.
		if _, shared := f.audience.Best(k.Scopes); shared && isAlive(k) {
			found = append(found, domain.Found{Hit: hit, Knowledge: k, Terms: f.words.found[k.Number]})
		}
	}
	return found, nil
}

// explain counts what a search could have found, and says how it looked.
func (f *finding) explain(ctx context.Context, started time.Time) (*domain.Explanation, error) {
	p := f.projection
	e := &domain.Explanation{Audience: f.audience.Scopes, BestBelow: f.below, Plans: f.plans}
	for _, term := range f.words.terms {
		e.Terms = append(e.Terms, term.Term)
	}
	visible := func() *bun.SelectQuery {
		query := p.db.NewSelect().TableExpr("? AS k", p.tables().knowledge).ColumnExpr("count(*)")
		if f.audience.Everything {
			return query
		}
		return query.Where("k.number IN (SELECT a.number FROM ? AS a WHERE a.tenant = ? AND a.scope IN (?))",
			p.tables().scopes, f.search.By.Tenant, bun.List(f.audience.Scopes))
	}
	err := p.where(visible(), f.search.By.Tenant, domain.Filter{}).Scan(ctx, &e.Visible)
	if err != nil {
		return nil, p.failed(ctx, "count what is visible", err)
	}
	e.Passed = e.Visible
	if !isPlain(f.search.Filter) {
		if err := p.where(visible(), f.search.By.Tenant, f.search.Filter).Scan(ctx, &e.Passed); err != nil {
			return nil, p.failed(ctx, "count what passes", err)
		}
	}
	e.Took = time.Since(started)
	return e, nil
}
