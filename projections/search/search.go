package search

import (
	"cmp"
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/vectors"
	"github.com/annals-kb/annals/projections/words"
	"github.com/annals-kb/annals/text"
)

// Searcher searches what is known. It is safe for concurrent use.
type Searcher struct {
	catalogue *catalogue.Catalogue
	Models    *vectors.Models
	sizes     *words.ScopeSizes
	Postings  int
}

func New(c *catalogue.Catalogue, models *vectors.Models) *Searcher {
	return &Searcher{catalogue: c, Models: models, sizes: words.NewScopeSizes(), Postings: words.MaxPostings}
}

// Request is what one search reads.
type Request struct {
	words.Index
	Model *vectors.Projection
}

func (r *Searcher) request(ctx context.Context) (Request, error) {
	if err := r.Models.Refresh(ctx); err != nil {
		return Request{}, err
	}
	v, err := r.catalogue.View(ctx)
	return Request{Index: words.Index{View: v, Sizes: r.sizes, Postings: r.Postings}, Model: r.Models.Active.Load()}, err
}

// Search finds what is known about something. It reads candidates by words and candidates by
// meaning, each from the scopes that the audience may see and with the filter inside, joins their
// scores, and lets [domain.Rank] decide. The search must have been completed by
// [domain.Search.Complete]. While the model is down, words answer alone, and the answer is marked as degraded.
func (r *Searcher) Search(ctx context.Context, s domain.Search) (domain.Answer, error) {
	started := time.Now()
	p, err := r.request(ctx)
	if err != nil {
		return domain.Answer{}, err
	}
	p.View = p.At(s.AsOfTime)
	f, answer, err := p.search(ctx, s, nil)
	if err == nil && (s.Explain || len(answer.Hits) == 0) {
		answer.Explain, err = f.explain(ctx, started)
	}
	return answer, err
}

// SearchAll answers several questions at once, in order, each as [Searcher.Search] would. However many have
// the same words, these are embedded once, and all in one request to the
// model. An answer without hits is explained only if that was asked for.
func (r *Searcher) SearchAll(ctx context.Context, all []domain.Search) ([]domain.Answer, error) {
	started := time.Now()
	p, err := r.request(ctx)
	if err != nil {
		return nil, err
	}
	vectors := p.Model.EmbedAll(ctx, all)
	answers := make([]domain.Answer, len(all))
	tasks := make([]func(context.Context) error, len(all))
	for i, s := range all {
		tasks[i] = func(ctx context.Context) (err error) {
			var f *Execution
			if f, answers[i], err = p.search(ctx, s, &vectors[i]); err == nil && s.Explain {
				answers[i].Explain, err = f.explain(ctx, started)
			}
			return err
		}
	}
	if err := p.InParallel(ctx, tasks...); err != nil {
		return nil, err
	}
	return answers, nil
}

// search answers a question whose vector is known, or is made while its words are looked for.
func (p Request) search(
	ctx context.Context, s domain.Search, vector *vectors.QueryEmbedding,
) (*Execution, domain.Answer, error) {
	f := &Execution{
		Request: p, Search: s, Audience: s.Audience(), minScore: p.Model.Embedder.Calibration().MinScore, Embedding: vector,
	}
	if s.MinScore != nil {
		f.minScore = *s.MinScore
	}
	for {
		hits, err := f.Hits(ctx)
		if err != nil {
			return f, domain.Answer{}, err
		}
		answer := domain.Answer{Embedder: p.Model.Embedder.Name(), Degraded: f.degraded, MinScore: f.minScore}
		left := len(f.unreadable)
		if answer.Hits, err = f.read(ctx, hits); err != nil || len(f.unreadable) == left {
			return f, answer, err
		} // else others take the places of those that cannot be read
	}
}

// Execution is one search on its way.
type Execution struct {
	Request
	Search             domain.Search
	Audience           domain.Audience
	minScore           float64
	Embedding          *vectors.QueryEmbedding
	words              *words.Matches
	question           vectors.Question
	shortlist          vectors.Shortlist
	degraded           string
	bestBelow          float64 // the best score under the threshold
	IgnoreConfidence   bool    // leave confidence aside
	StorageIndependent bool    // find the same, whether words lie in bags or in the index

	unreadable []string // items that were hits, and whose rows cannot be read
}

// Hits finds candidates and ranks them. Few items are superseded or archives, so that at first candidates are
// looked for without asking: a search without a filter reads indexes alone. Where it turns out that
// those have crowded out the others, it is asked for inside.
func (f *Execution) Hits(ctx context.Context) ([]domain.Hit, error) {
	for {
		hits, crowded, err := f.rank(ctx)
		if _, rest := rows.Narrow(f.Search.Filter, f.Audience); err != nil || !crowded || !rows.IsPlain(rest) {
			return hits, err
		}
		f.Search.Filter.Statuses = []domain.Status{domain.Active}
	}
}

// rank looks for the best by words and for what looks nearest by its sketches, side by side, compares both
// by meaning, and reads the items: first those that score well, and the others if that does not decide
// who is in the answer. Crowded means that so much did not pass that others may not have become candidates.
func (f *Execution) rank(ctx context.Context) (hits []domain.Hit, crowded bool, err error) {
	err = f.InParallel(ctx, func(ctx context.Context) (err error) {
		f.words, err = f.Match(ctx, f.Search, f.Audience, f.StorageIndependent)
		return err
	}, f.byMeaning)
	if err != nil {
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
		hits = domain.Rank(all.found, f.Audience, f.Search.Order, f.minScore, f.Search.Limit)
		if len(rest) > 0 && f.isFinal(hits, all.top, rest[0].score) {
			break
		}
	}
	return hits, f.isTruncated(all), nil
}

// read fetches the items of the hits.
func (f *Execution) read(ctx context.Context, hits []domain.Hit) ([]domain.Found, error) {
	if len(hits) == 0 {
		return nil, nil
	}
	ids := make([]string, len(hits))
	for i, hit := range hits {
		ids[i] = hit.ID
	}
	p := f.Request
	list, err := p.Read(ctx, p.DB.NewSelect().Model((*rows.Row)(nil)).ModelTableExpr("? AS k", p.Tables.Knowledge).
		Where("tenant = ?", f.Search.By.Tenant).Where("id IN (?)", bun.List(ids)))
	if err != nil {
		return nil, rows.Failed(ctx, "read hits", err)
	}
	items := make(map[string]*domain.Knowledge, len(list))
	for i := range list {
		if list[i].Broken {
			f.unreadable = append(f.unreadable, list[i].ID)
			continue
		}
		items[list[i].ID] = p.Item(&list[i])
	}
	found := make([]domain.Found, 0, len(hits))
	for _, hit := range hits {
		k := items[hit.ID]
		if k == nil {
			continue
		}
		// It may have been forgotten or shared with others since it was ranked.
		if _, shared := f.Audience.Best(k.Scopes); shared && rows.IsLive(k) {
			ApplyLevel(k, f.Search.Level)
			found = append(found, domain.Found{Hit: hit, Knowledge: k, Terms: f.words.Explained[k.Number]})
		}
	}
	return found, nil
}

// ApplyLevel puts the text of the level that a search asks for in the place of an item's content. What its author
// left out of an abstract and an overview follows from the content.
func ApplyLevel(k *domain.Knowledge, level *domain.Level) {
	if level == nil {
		return
	}
	switch written := &k.Text; *level {
	case domain.Abstract:
		if written.Abstract == "" && text.Tokens(written.Content) > text.AbstractTokens {
			written.Abstract = text.Abstract(written.Content, text.AbstractTokens)
		}
	case domain.Overview:
		written.Overview = cmp.Or(written.Overview, text.Overview(written.Content, text.OverviewTokens))
	}
	level.Trim(k)
}
