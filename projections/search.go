package projections

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
)

// Search finds what is known about something. It reads candidates by words and candidates by
// meaning, each from the scopes that the audience may see and with the filter inside, joins their
// scores, and lets [domain.Rank] decide. The search must have been completed by
// [domain.Search.Complete]. While the model is down, words answer alone and the answer says so.
func (p *Knowledge) Search(ctx context.Context, s domain.Search) (domain.Answer, error) {
	started := time.Now()
	if err := p.refresh(ctx); err != nil {
		return domain.Answer{}, err
	}
	f, answer, err := p.pinned().search(ctx, s, nil)
	if err == nil && (s.Explain || len(answer.Hits) == 0) {
		answer.Explain, err = f.explain(ctx, started)
	}
	return answer, err
}

// SearchAll answers several questions at once, in order, each as [Knowledge.Search] would. However many have
// the same words, these are embedded once, and all in one request to the
// model. An answer without hits says why only if it was asked to explain itself.
func (p *Knowledge) SearchAll(ctx context.Context, all []domain.Search) ([]domain.Answer, error) {
	started := time.Now()
	if err := p.refresh(ctx); err != nil {
		return nil, err
	}
	p = p.pinned()
	vectors := p.meaning.embedAll(ctx, all)
	answers := make([]domain.Answer, len(all))
	tasks := make([]func(context.Context) error, len(all))
	for i, s := range all {
		tasks[i] = func(ctx context.Context) (err error) {
			var f *execution
			if f, answers[i], err = p.search(ctx, s, &vectors[i]); err == nil && s.Explain {
				answers[i].Explain, err = f.explain(ctx, started)
			}
			return err
		}
	}
	if err := p.inParallel(ctx, tasks...); err != nil {
		return nil, err
	}
	return answers, nil
}

// search answers a question whose vector is known, or is made while its words are looked for.
func (p *Knowledge) search(ctx context.Context, s domain.Search, vector *queryEmbedding) (*execution, domain.Answer, error) {
	f := &execution{
		projection: p, search: s, audience: s.Audience(), minScore: p.meaning.embedder.Calibration().MinScore, embedding: vector,
	}
	if s.MinScore != nil {
		f.minScore = *s.MinScore
	}
	for {
		hits, err := f.hits(ctx)
		if err != nil {
			return f, domain.Answer{}, err
		}
		answer := domain.Answer{Embedder: p.meaning.embedder.Name(), Degraded: f.degraded, MinScore: f.minScore}
		left := len(f.unreadable)
		if answer.Hits, err = f.read(ctx, hits); err != nil || len(f.unreadable) == left {
			return f, answer, err
		} // else others take the places of those that cannot be read
	}
}

// execution is one search on its way.
type execution struct {
	projection         *Knowledge
	search             domain.Search
	audience           domain.Audience
	minScore           float64
	embedding          *queryEmbedding
	words              *matches
	question           question
	shortlist          shortlist
	degraded           string
	bestBelow          float64 // the best score under the threshold
	ignoreConfidence   bool    // leave confidence aside
	storageIndependent bool    // find the same, whether words lie in bags or in the index

	unreadable []string // items that were hits, and whose rows cannot be read
}

// hits finds candidates and ranks them. Few items are superseded or archives, so that at first candidates are
// looked for without asking: a search without a filter reads indexes alone. Where it turns out that
// those have crowded out the others, it is asked for inside.
func (f *execution) hits(ctx context.Context) ([]domain.Hit, error) {
	for {
		hits, crowded, err := f.rank(ctx)
		if _, rest := narrowed(f.search.Filter, f.audience); err != nil || !crowded || !isPlain(rest) {
			return hits, err
		}
		f.search.Filter.Statuses = []domain.Status{domain.Active}
	}
}

// rank looks for the best by words and for what looks nearest by its sketches, side by side, compares both
// by meaning, and reads the items: first those that score well, and the others if that does not decide
// who is in the answer. Crowded means that so much did not pass that others may not have become candidates.
func (f *execution) rank(ctx context.Context) (hits []domain.Hit, crowded bool, err error) {
	if err := f.projection.inParallel(ctx, f.byWords, f.byMeaning); err != nil {
		return nil, false, err
	}
	all, err := f.findCandidates(ctx)
	if err != nil {
		return nil, false, err
	}
	rest := all.list
	for n := f.topSize(rest); len(rest) > 0; n = len(rest) {
		if err := f.loadTop(ctx, all, rest[:n]); err != nil {
			return nil, false, err
		}
		rest = rest[n:]
		hits = domain.Rank(all.found, f.audience, f.search.Order, f.minScore, f.search.Limit)
		if len(rest) > 0 && f.isFinal(hits, all.top, rest[0].score) {
			break
		}
	}
	return hits, f.isTruncated(all), nil
}

func (f *execution) byWords(ctx context.Context) (err error) {
	f.words, err = f.projection.match(ctx, f.search, f.audience, f.storageIndependent)
	return err
}

func (f *execution) byMeaning(ctx context.Context) (err error) {
	m := f.projection.meaning
	if f.embedding == nil {
		a := m.embed(ctx, f.search)
		f.embedding = &a
	}
	f.degraded = f.embedding.degraded
	if f.embedding.err != nil || f.embedding.vector == nil {
		return f.embedding.err
	}
	f.question = newQuestion(f.projection, f.search, f.audience, f.embedding.vector)
	f.shortlist, err = m.nearest.closest(ctx, f.question)
	return err
}

// read fetches the items of the hits.
func (f *execution) read(ctx context.Context, hits []domain.Hit) ([]domain.Found, error) {
	if len(hits) == 0 {
		return nil, nil
	}
	ids := make([]string, len(hits))
	for i, hit := range hits {
		ids[i] = hit.ID
	}
	p := f.projection
	rows, err := p.readRows(ctx, p.db.NewSelect().Model((*row)(nil)).ModelTableExpr("? AS k", p.tables().knowledge).
		Where("tenant = ?", f.search.By.Tenant).Where("id IN (?)", bun.List(ids)))
	if err != nil {
		return nil, p.failed(ctx, "read hits", err)
	}
	items := make(map[string]*domain.Knowledge, len(rows))
	for i := range rows {
		if rows[i].broken {
			f.unreadable = append(f.unreadable, rows[i].ID)
			continue
		}
		items[rows[i].ID] = p.item(&rows[i])
	}
	found := make([]domain.Found, 0, len(hits))
	for _, hit := range hits {
		k := items[hit.ID]
		if k == nil {
			continue
		}
		// It may have been forgotten or shared with others since it was ranked.
		if _, shared := f.audience.Best(k.Scopes); shared && isAlive(k) {
			applyLevel(k, f.search.Level)
			found = append(found, domain.Found{Hit: hit, Knowledge: k, Terms: f.words.explained[k.Number]})
		}
	}
	return found, nil
}
