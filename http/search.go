package http

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/body"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

type searchInput struct {
	visible.Waiting
}

func (s *Server) search(
	ctx context.Context, c *serve.Call, input *searchInput,
) (*serve.Output[api.SearchAnswer], error) {
	in, err := serve.ReadBody[api.Search](c)
	if err != nil {
		return nil, err
	}
	query, names := serve.SearchOf(in, c.Principal)
	if in.Limit != nil && *in.Limit == 0 {
		query.Limit = -1 // the caller asked for 0, which is not the default
	}
	at := body.AsOf(in.AsOf).Parse(&c.Found, "as_of")
	query, err = query.Complete()
	if err := serve.Merge(c.Found, serve.Renamed(err, names)); err != nil {
		return nil, err
	}
	if err := s.items.Await(ctx, c, input.Waiting, true); err != nil {
		return nil, err
	}
	if at, err = s.log.Resolve(ctx, c, at); err != nil {
		return nil, err
	}
	query.AsOf, query.AsOfTime = at.Position, at.Time
	var looked *int64
	if in.Position {
		if looked, err = s.lookedAt(ctx, query); err != nil {
			return nil, err
		}
	}
	limit := query.Limit
	if in.Facets {
		query.Limit = domain.MaxLimit
	}
	answer, err := s.cfg.Reader.Search(ctx, query)
	if err != nil {
		return nil, err
	}
	all := answer.Hits
	answer.Hits = all[:min(len(all), limit)]
	items := serve.Map(answer.Hits, func(h domain.Found) *domain.Knowledge { return h.Knowledge })
	if err := s.items.Show(ctx, c, query.AsOf, items...); err != nil {
		return nil, err
	}
	out := searchedOf(answer)
	out.Receipt = s.items.GiveUse(c, func(given *domain.Given) {
		given.Asked, given.AsOf, given.Embedder = serve.Asked(in), query.AsOf, answer.Embedder
		given.Items = domain.GivenHits(answer.Hits, query.Level)
	})
	if out.Position = looked; in.Facets {
		out.Facets = hitFacets(all)
	}
	return &serve.Output[api.SearchAnswer]{Body: out}, nil
}

// hitFacets counts hits.
func hitFacets(hits []domain.Found) *api.HitFacets {
	types, categories, scopes := map[string]int{}, map[string]int{}, map[string]int{}
	owners, tags := map[string]int{}, map[string]int{}
	for _, hit := range hits {
		k := hit.Knowledge
		types[string(k.Type)]++
		categories[string(k.Category)]++
		scopes[string(hit.Scope)]++
		owners[string(k.Owner)]++
		for _, tag := range k.Text.Tags.Pairs(":") {
			tags[tag]++
		}
	}
	of := func(counts map[string]int) api.Facet { return facetOf(domain.FacetOf(counts)) }
	return &api.HitFacets{
		Hits: len(hits), Types: of(types), Categories: of(categories), Scopes: of(scopes), Owners: of(owners), Tags: of(tags),
	}
}

// lookedAt is the position up to which a search that begins now sees everything.
func (s *Server) lookedAt(ctx context.Context, query domain.Search) (*int64, error) {
	if query.AsOf != 0 {
		return &query.AsOf, nil
	}
	head, _, err := s.cfg.Historian.Head(ctx, query.By.Tenant)
	return &head, err
}

func searchedOf(a domain.Answer) api.SearchAnswer {
	out := api.SearchAnswer{
		Items: make([]api.Hit, len(a.Hits)), Embedder: a.Embedder, Degraded: a.Degraded, MinScore: a.MinScore,
		Warning: a.Warning, Weak: a.Weak(),
	}
	for i, h := range a.Hits {
		out.Items[i] = api.Hit{
			Knowledge: serve.KnowledgeOf(h.Knowledge), Score: h.Score, Scope: string(h.Scope),
			Tier: h.Scope.Tier().String(), Band: string(h.Band), Beside: h.Beside, Weight: h.Weight,
			Best: h.Best, Terms: h.Terms,
			Contested: h.Knowledge.Rating().Contested(), Copies: h.Copies,
			Parts: api.Parts{
				Semantic: h.Semantic, Model: h.Model, Pending: h.Pending && a.Explain != nil, Lexical: h.Lexical,
				Confidence: h.Confidence, Overdue: h.Overdue, Confirmed: h.Confirmed,
			},
		}
		if a.Explain != nil {
			out.Items[i].Parts.Reasons = h.Reasons
		}
		if h.Nearer { // tells why it ranks above a hit of greater weight
			out.Items[i].Reason = "nearer scope"
		}
	}
	if e := a.Explain; e != nil {
		out.Explain = &api.Explanation{
			Audience: serve.Strings(e.Audience), Visible: e.Visible, Passed: e.Passed, BestBelow: e.BestBelow,
			Terms: append([]string{}, e.Terms...), Plans: make([]api.ScopePlan, len(e.Plans)),
			TookMS: float64(e.Took) / float64(time.Millisecond),
		}
		for i, p := range e.Plans {
			out.Explain.Plans[i] = api.ScopePlan{Scope: string(p.Scope), Items: p.Items, Plan: p.Plan}
		}
	}
	return out
}

func (s *Server) searchRoute() {
	serve.Handle(s.api, huma.Operation{
		OperationID: "search", Method: http.MethodPost, Path: "/v1/search", Tags: []string{"Questions"},
		Summary: "Search by meaning and by words, nearest scope first",
		Description: "Only what you may see is found. Without a context, all of your scopes are searched, and " +
			"always what is public.",
		RequestBody: serve.JSONBody[api.Search](s.api, true),
		Errors:      []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType},
	}, s.search)
}
