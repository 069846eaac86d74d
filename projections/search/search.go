package search

import (
	"cmp"
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/embedding"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/vectors"
	"github.com/annals-kb/annals/projections/words"
)

// Searcher searches what is known. It is safe for concurrent use.
type Searcher struct {
	catalogue *catalogue.Catalogue
	Models    *vectors.Models
	Verified  Verifications // nil for none
	Span      Span          // nil if nobody traces
}

// Span begins a span of a trace under that of the context, and returns what ends it.
type Span func(ctx context.Context, name string) (context.Context, func())

// around gives a step a span.
func (s Span) around(name string, step func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, end := s(ctx, name)
		defer end()
		return step(ctx)
	}
}

// Verifications knows by which policies items are verified, and who confirmed them last.
type Verifications interface {
	Policies(ctx context.Context, tenant string) (domain.Verification, error)
	ConfirmedBy(ctx context.Context, tenant string, ids []string) (map[string]domain.Verified, error)
}

func New(c *catalogue.Catalogue, models *vectors.Models) *Searcher {
	return &Searcher{catalogue: c, Models: models}
}

// Request is what one search reads.
type Request struct {
	words.Index
	models     []*vectors.Projection // the built-in one, and the configured one if there is one
	incomplete func(tenant string) string
	verified   Verifications
	few        bool // judge no more candidates than twice the limit
	span       Span
}

func (r *Searcher) request(ctx context.Context) (Request, error) {
	if err := r.Models.Refresh(ctx); err != nil {
		return Request{}, err
	}
	v, err := r.catalogue.View(ctx)
	return Request{
		Index: words.Index{View: v}, models: r.Models.Read(),
		incomplete: r.Models.Incomplete,
		verified:   r.Verified,
		span:       r.Span,
	}, err
}

// Search finds items about something. It reads candidates by words and by the vectors of each model from the scopes
// that the audience may see, combines their scores, and lets [domain.Rank] order them. [domain.Search.Complete] must
// have completed the search. If the configured model is down, the rest answers, and the answer is marked as degraded.
func (r *Searcher) Search(ctx context.Context, s domain.Search) (domain.Answer, error) {
	started := time.Now()
	p, err := r.request(ctx)
	if err != nil {
		return domain.Answer{}, err
	}
	if !s.AsOfTime.IsZero() {
		p.View = p.At(s.AsOfTime)
	}
	s = s.Asked()
	f, answer, err := p.search(ctx, s, nil)
	if err == nil && (s.Explain || len(answer.Hits) == 0) {
		answer.Explain, err = f.explain(ctx, started)
	}
	return answer, err
}

// SearchAll answers several questions, in order, each as [Searcher.Search] would. It embeds all of them in one
// request to the model, and repeated ones once. It explains an answer without hits only if the search asks for that.
func (r *Searcher) SearchAll(ctx context.Context, all []domain.Search) ([]domain.Answer, error) {
	started := time.Now()
	p, err := r.request(ctx)
	if err != nil {
		return nil, err
	}
	byModel := make([][]vectors.QueryEmbedding, len(p.models))
	for i := range p.models {
		byModel[i] = Embed(ctx, p.models, i, all)
	}
	answers := make([]domain.Answer, len(all))
	tasks := make([]func(context.Context) error, len(all))
	for i, s := range all {
		tasks[i] = func(ctx context.Context) (err error) {
			var f *Execution
			embedded := make([]*vectors.QueryEmbedding, len(byModel))
			for m := range byModel {
				embedded[m] = &byModel[m][i]
			}
			if f, answers[i], err = p.search(ctx, s, embedded); err == nil && s.Explain {
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

// search answers a question, and adds what its parts find.
func (p Request) search(
	ctx context.Context, s domain.Search, embedded []*vectors.QueryEmbedding,
) (f *Execution, answer domain.Answer, err error) {
	f, answer, err = p.searchWhole(ctx, s, embedded)
	if err == nil {
		err = AddParts(s, &answer, func(part domain.Search) (domain.Answer, error) {
			_, answer, err := p.searchWhole(ctx, part, nil)
			return answer, err
		})
	}
	return f, answer, err
}

// AddParts asks each part of a question, and adds what it finds to the answer of the whole question. A question with
// quotes or exclusions is not taken apart.
func AddParts(s domain.Search, answer *domain.Answer, ask func(domain.Search) (domain.Answer, error)) error {
	if s.Copies || len(s.Vector) > 0 || len(s.Filter.Phrases)+len(s.Filter.Without) > 0 {
		return nil
	}
	var found [][]domain.Found
	for _, part := range text.Parts(s.Text) {
		s.Text, s.MinScore, s.Explain = part, nil, false
		answer, err := ask(s)
		if err != nil {
			return err
		}
		found = append(found, answer.Hits)
	}
	if len(found) > 0 {
		answer.Hits = domain.AddParts(answer.Hits, found, s.Limit)
	}
	return nil
}

// searchWhole answers a question. It embeds the question, unless it is given its vectors, while words are searched.
func (p Request) searchWhole(
	ctx context.Context, s domain.Search, embedded []*vectors.QueryEmbedding,
) (*Execution, domain.Answer, error) {
	f := &Execution{Request: p, Search: s, Audience: s.Audience(), minScore: embedding.MinScore}
	for i, m := range p.models {
		f.meanings = append(f.meanings, &meaning{Projection: m})
		if embedded != nil {
			f.meanings[i].embedding = embedded[i]
		}
	}
	var scoped func()
	if p.span != nil {
		_, scoped = p.span(ctx, "scope")
	}
	if s.MinScore != nil {
		f.minScore = *s.MinScore
	}
	if s.AsOfTime.IsZero() && p.verified != nil {
		policies, err := p.verified.Policies(ctx, s.By.Tenant)
		if err != nil {
			return f, domain.Answer{}, err
		}
		f.policies = &policies
	}
	if scoped != nil {
		scoped()
	}
	for {
		hits, err := f.Hits(ctx)
		if err != nil {
			return f, domain.Answer{}, err
		}
		answer := domain.Answer{
			Embedder: p.models[len(p.models)-1].Embedder.Name(), MinScore: f.minScore, Warning: f.Search.Warning,
			Degraded: cmp.Or(f.degraded, p.incomplete(s.By.Tenant)),
		}
		left := len(f.unreadable)
		if answer.Hits, err = f.read(ctx, hits); err != nil || len(f.unreadable) == left {
			return f, answer, err
		} // otherwise other candidates replace those that cannot be read
	}
}

// Execution is one search in progress.
type Execution struct {
	Request
	Search    domain.Search
	Audience  domain.Audience
	minScore  float64
	words     *words.Matches
	meanings  []*meaning // by the models
	degraded  string
	bestBelow float64 // the best score below the threshold
	exact     bool    // consider only items by meaning that pass all of the filter

	policies *domain.Verification // by which items are overdue; nil if that does not count

	unreadable []string // hits whose rows cannot be read
}

// Hits finds candidates and ranks them. Superseded items and archives are few, and sets cannot tell all of some
// filters, so the nearest sketches are first read without these conditions. If items that do not pass crowd out others,
// it searches again with all conditions.
func (f *Execution) Hits(ctx context.Context) ([]domain.Hit, error) {
	hits, crowded, err := f.rank(ctx)
	if err == nil && len(f.Search.Filter.Phrases) > 0 && len(f.words.Best(1)) == 0 {
		f.Search.WithoutPhrases()
		hits, crowded, err = f.rank(ctx)
	}
	if err == nil && crowded && !f.exact {
		f.exact = true
		hits, _, err = f.rank(ctx)
	}
	return hits, err
}

// rank searches by words and by the sketches of each model in parallel, compares all by meaning, and judges the best
// by their texts. crowded means that so many failed the filter that others may be missing.
func (f *Execution) rank(ctx context.Context) (hits []domain.Hit, crowded bool, err error) {
	steps := []func(context.Context) error{func(ctx context.Context) (err error) {
		f.words, err = f.Match(ctx, f.Search, f.Audience)
		return err
	}}
	for i := range f.meanings {
		steps = append(steps, f.byMeaning(i))
	}
	if f.span != nil {
		for i, step := range steps {
			steps[i] = f.span.around([...]string{"words", "meaning", "model"}[i], step)
		}
	}
	if err := f.InParallel(ctx, steps...); err != nil {
		return nil, false, err
	}
	f.degraded = f.meanings[len(f.meanings)-1].embedding.Degraded
	if f.span != nil {
		var end func()
		ctx, end = f.span(ctx, "rank")
		defer end()
	}
	pool := NewPool(f.Search, f.words, f.models)
	all, err := f.findCandidates(ctx, pool)
	if err != nil {
		return nil, false, err
	}
	pool.Load = func(ctx context.Context, numbers []int64) error { return f.load(ctx, all, pool, numbers) }
	pool.Members = func(ctx context.Context, sequences []string) ([][]int64, error) {
		return f.Members(ctx, f.Search, f.Audience, sequences)
	}
	size := Size(f.Search)
	if f.few {
		size = 2 * f.Search.Limit
	}
	best, err := f.best(ctx, all, size)
	if err != nil {
		return nil, false, err
	}
	if err := pool.Load(ctx, best); err != nil {
		return nil, false, err
	}
	if err := pool.Judge(ctx); err != nil {
		return nil, false, err
	}
	hits, f.bestBelow = pool.Rank(f.Search, f.Audience, f.minScore)
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
	list, err := p.Read(ctx, p.Items().
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
		// It may have been forgotten, or its scopes changed, since it was ranked.
		if _, shared := f.Audience.Best(k.Scopes); shared && rows.IsLive(k) {
			ApplyLevel(k, f.Search.Level)
			hit := domain.Found{Hit: hit, Knowledge: k}
			if f.Search.Explain {
				hit.Terms = f.words.TermsOf(k.Number)
			}
			found = append(found, hit)
		}
	}
	return found, nil
}

// ApplyLevel replaces an item's content by the text of the level that a search asks for. An abstract or overview that
// its author left out is computed from the content.
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
