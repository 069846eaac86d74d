package http

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/briefing"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

func (s *Server) contextRoutes() {
	serve.HandleBody(s.api, true, huma.Operation{
		OperationID: "context", Method: http.MethodPost, Path: "/v1/context", Tags: []string{"Questions"},
		Summary: "What an agent should know at a stage of its work",
		Description: "It is what a search finds, arranged by kind: at start the user's profile, the surest first, and then " +
			"what fits the task, if there is one; at focus what fits a goal; for a query what fits that; at analysis what " +
			"fits the task and the first failure. Contested items stand apart, with what disputes them: agents must not " +
			"rely on them. It comes as items and as two texts for prompts, both empty where nothing is known.",
		Errors: []int{
			http.StatusBadRequest, http.StatusForbidden, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
		},
	}, s.brief)
}

func (s *Server) brief(
	ctx context.Context, c *serve.Call, _ *struct{}, body api.ContextRequest,
) (*serve.Output[api.ContextAnswer], error) {
	need, names := serve.NeedOf(c, body)
	need, err := need.Complete()
	if err := serve.Merge(c.Found, serve.Renamed(err, names)); err != nil {
		return nil, err
	}
	verify := func(ctx context.Context, items ...*domain.Knowledge) error {
		return s.items.Verify(ctx, c, items...)
	}
	told, err := briefing.Author{
		SearchAll: s.cfg.Searcher.SearchAll, List: s.cfg.Reader.List, Live: s.cfg.Browser.Live, Verify: verify,
	}.Brief(ctx, need)
	if err != nil {
		return nil, err
	}
	out := briefedOf(need, told)
	out.Receipt = s.items.GiveUse(c, func(given *domain.Given) {
		given.Asked = serve.Asked(body)
		given.Embedder = told.Embedder
		given.Items = domain.GivenBriefing(told)
	})
	return &serve.Output[api.ContextAnswer]{Body: out}, nil
}

func briefedOf(need domain.Need, told domain.Briefing) api.ContextAnswer {
	out := api.ContextAnswer{
		Stage: string(need.Stage), About: need.About, Injection: told.Injection, Hints: told.Hints,
		Tokens: told.Tokens, HintTokens: told.HintTokens, Degraded: told.Degraded,
		Warning:   need.Warning,
		HitCounts: map[string]int{}, Items: make([]api.ContextItem, len(told.Items)),
	}
	for i, item := range told.Items {
		out.HitCounts[string(item.Aspect)]++
		out.Items[i] = api.ContextItem{
			Kind: string(item.Aspect), Knowledge: serve.KnowledgeOf(item.Knowledge), Score: item.Score,
			Scope: string(item.Scope), Told: item.Included, Mark: item.Mark(),
		}
	}
	return out
}
