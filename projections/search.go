package projections

import (
	"context"
	"fmt"
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
	hits, err := f.hits(ctx)
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
	asked      *asked
	words      *matches
	question   question
	near       shortlist
	degraded   string
	below      float64 // the best score under the threshold
	evenly     bool    // leave confidence aside
}

// hits finds candidates and ranks them. Few items are superseded, so that at first candidates are
// looked for without asking: a search without a filter reads indexes alone. Where it turns out that
// what was replaced has crowded out what holds, it is asked for inside.
func (f *finding) hits(ctx context.Context) ([]domain.Hit, error) {
	for {
		candidates, crowded, err := f.candidates(ctx)
		if err != nil || !crowded || !isPlain(f.search.Filter) {
			return domain.Rank(candidates, f.audience, f.search.Order, f.minScore, f.search.Limit), err
		}
		f.search.Filter.Statuses = []domain.Status{domain.Active}
	}
}

// candidates looks for the best by words and for what looks nearest by its sketches, side by side, and
// compares both by meaning. What does not pass is left out; crowded means that it was so much that others
// may not have become candidates.
func (f *finding) candidates(ctx context.Context) (candidates []domain.Candidate, crowded bool, err error) {
	if err := f.projection.together(ctx, f.byWords, f.byMeaning); err != nil {
		return nil, false, err
	}
	wanted := f.words.best(wordsDepth)
	found, err := f.compare(ctx, wanted)
	if err != nil {
		return nil, false, err
	}
	passed := make(map[int64]bool, len(found.items))
	for _, n := range found.items {
		passed[n.number] = true
		c := f.candidate(n)
		candidates = append(candidates, c)
		if _, shared := f.audience.Best(c.Scopes); shared && c.Score < f.minScore {
			f.below = max(f.below, c.Score)
		}
	}
	dropped := 0
	for _, number := range wanted {
		if !passed[number] {
			dropped++
		}
	}
	return candidates, found.crowded || dropped >= wordsDepth/2 && dropped > len(wanted)/3, nil
}

func (f *finding) byWords(ctx context.Context) (err error) {
	f.words, err = f.projection.match(ctx, f.search, f.audience)
	return err
}

func (f *finding) byMeaning(ctx context.Context) (err error) {
	m := f.projection.meaning
	if f.asked == nil {
		a := m.embed(ctx, f.search)
		f.asked, f.degraded = &a, a.degraded
	}
	if f.asked.err != nil || f.asked.vector == nil {
		return f.asked.err
	}
	f.question = newQuestion(f.projection, f.search, f.audience, f.asked.vector)
	f.near, err = m.nearest.closest(ctx, f.question)
	return err
}

// compare reads what words found and what sketches did, and compares the vectors unless words stand alone.
func (f *finding) compare(ctx context.Context, numbers []int64) (nearby, error) {
	if f.asked.vector != nil {
		return f.projection.meaning.nearest.compare(ctx, f.question, f.near, numbers)
	}
	rows, err := f.projection.slims(ctx, f.search, numbers)
	items := make([]near, len(rows))
	for i := range rows {
		items[i].slim = rows[i]
	}
	return nearby{items: items}, err
}

func (f *finding) candidate(n near) domain.Candidate {
	c := domain.Candidate{
		ID: n.id, Scopes: n.scopes, Confidence: n.confidence, Position: n.position, Lexical: f.words.scoreOf(n.number),
	}
	if f.evenly {
		c.Confidence = 1
	}
	if !n.compared { // there is no vector of the question, or none of the item yet: words stand alone
		c.Score = c.Lexical
		return c
	}
	calibration := f.projection.meaning.embedder.Calibration()
	c.Semantic = calibration.Score(n.cosine)
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
			if f.search.Level != nil {
				f.search.Level.Trim(k)
			}
			found = append(found, domain.Found{Hit: hit, Knowledge: k, Terms: f.words.explained[k.Number]})
		}
	}
	return found, nil
}
