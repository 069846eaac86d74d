package http

import (
	"context"
	"net/http"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/briefing"
	"github.com/annals-kb/annals/domain"
)

func (s *Server) contextRoutes() {
	handle(s, huma.Operation{
		OperationID: "context", Method: http.MethodPost, Path: "/v1/context", Tags: []string{"Questions"},
		Summary: "What an agent should know at a moment of its work",
		Description: "It is what a search finds, arranged by kind: at start the user's profile, the surest first, and then what fits the task, if there is one; " +
			"at focus what fits a goal; for a query what fits that; at analysis what fits the task and the first failure. Contested items stand apart: " +
			"agents must not rely on them. It comes as items and as two texts for prompts, both empty where nothing is known.",
		RequestBody: bodies(s, true, map[string]any{jsonType: contextRequest{}}),
		Errors:      []int{http.StatusBadRequest, http.StatusForbidden, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType},
	}, s.brief)
}

// contextRequest is what an agent asks for.
type contextRequest struct {
	Moment     string        `json:"moment" enum:"start,focus,query,analysis" doc:"When in its work."`
	Task       string        `json:"task,omitempty" maxLength:"8000" doc:"At start, where it may be left out, and at analysis: what is to be done, or failed."`
	Goal       string        `json:"goal,omitempty" maxLength:"8000" doc:"At focus."`
	Query      string        `json:"query,omitempty" maxLength:"8000" doc:"For a query: the task, and what the user said last." example:"make the weekly sales dashboard"`
	ToolIssues []string      `json:"tool_issues,omitempty" maxItems:"64" doc:"At analysis: what failed, such as a tool's name and its error, the first failure first."`
	Context    *searcher     `json:"context,omitempty" doc:"For whom: only their scopes and public count, the nearest first. Left out: everything you belong to, or the whole tenant if you may read that, but of profiles your own."`
	Tags       tags          `json:"tags,omitempty" doc:"Every key must match, by any of its values."`
	MinScore   *float64      `json:"min_score,omitempty" minimum:"0" maximum:"1" doc:"0.5 means: about this. The embedder's default if left out."`
	MaxTokens  optional[int] `json:"max_tokens,omitzero" nullable:"false" minimum:"50" maximum:"32000" doc:"How long the injection is at most, by an estimate. 1800 if left out, 500 at analysis."`
}

// contextAnswer is what an agent should know.
type contextAnswer struct {
	Moment     string         `json:"moment" enum:"start,focus,query,analysis"`
	About      string         `json:"about" doc:"The task, goal or query that it is for."`
	Injection  string         `json:"injection" doc:"For the prompt of the first step: Markdown with a section for each kind; each item ends with its URI. Empty if nothing is known."`
	Hints      string         `json:"hints" doc:"For choosing a skill: what the user prefers, the best skill and case, pitfalls. Empty if nothing is known."`
	Tokens     int            `json:"tokens" doc:"Of the injection, estimated."`
	HintTokens int            `json:"hint_tokens"`
	HitCounts  map[string]int `json:"hit_counts" doc:"How many items of each kind were found: preferences, skills, cases, patterns, tools, background, antipatterns, contested."`
	Items      []contextItem  `json:"items" nullable:"false" doc:"By kind, the best first."`
	Degraded   string         `json:"degraded,omitempty" doc:"Why words stand alone; missing when meaning took part."`
}

// contextItem is one of the items that a briefing is made of.
type contextItem struct {
	Kind      string     `json:"kind" enum:"preferences,skills,cases,patterns,tools,background,antipatterns,contested"`
	Knowledge *knowledge `json:"knowledge" doc:"With its abstract as its content."`
	Score     float64    `json:"score" doc:"0 to 1: how much it is about what was asked; 0 if it was listed, not searched for."`
	Scope     string     `json:"scope" example:"project:456" doc:"The nearest that it shares with the one who asks."`
	Told      bool       `json:"told" doc:"There was room for it in the injection."`
}

type briefOutput struct {
	Body contextAnswer
}

var decodeNeed = decoderOf(reflect.TypeFor[contextRequest]())

func (s *Server) brief(ctx context.Context, c *call, _ *struct{}) (*briefOutput, error) {
	in, _, err := read[contextRequest](s, c, decodeNeed)
	if err != nil {
		return nil, err
	}
	asked, names := in.need(c)
	asked, err = asked.Complete()
	if err := merge(c.found, renamed(err, names)); err != nil {
		return nil, err
	}
	told, err := briefing.Author{Reader: s.cfg.Reader}.Brief(ctx, asked)
	if err != nil {
		return nil, err
	}
	s.retrieved(c, "search", len(told.Items), func(i int) domain.Retrieved {
		return domain.Retrieved{ID: told.Items[i].ID, Score: told.Items[i].Score}
	})
	return &briefOutput{Body: briefedOf(asked, told)}, nil
}

// need is what the domain knows of it, with the caller's names for the fields of the context.
func (in contextRequest) need(c *call) (domain.Need, map[string]string) {
	n := domain.Need{
		By: c.principal, Moment: domain.Moment(in.Moment), Failures: in.ToolIssues,
		Tags: domain.Tags(in.Tags), MinScore: in.MinScore, MaxTokens: in.MaxTokens.Value,
	}
	if in.MaxTokens.Given && in.MaxTokens.Value == 0 {
		n.MaxTokens = -1 // nought was asked for, not left out
	}
	about := map[string]string{"task": in.Task, "goal": in.Goal, "query": in.Query}
	for _, field := range []string{"task", "goal", "query"} {
		if slices.Contains(domain.Moments, n.Moment) && field != n.Moment.Asks() && about[field] != "" {
			c.found.Add(field, "belongs to another moment: this one is about a %s", n.Moment.Asks())
		}
	}
	n.About = about[n.Moment.Asks()]
	names := map[string]string{}
	if in.Context != nil {
		n.Context = in.Context.context(names)
	}
	return n, names
}

func briefedOf(asked domain.Need, told domain.Briefing) contextAnswer {
	out := contextAnswer{
		Moment: string(asked.Moment), About: asked.About, Injection: told.Injection, Hints: told.Hints,
		Tokens: told.Tokens, HintTokens: told.HintTokens, Degraded: told.Degraded,
		HitCounts: map[string]int{}, Items: make([]contextItem, len(told.Items)),
	}
	for i, item := range told.Items {
		out.HitCounts[string(item.Aspect)]++
		out.Items[i] = contextItem{
			Kind: string(item.Aspect), Knowledge: knowledgeOf(item.Knowledge), Score: item.Score,
			Scope: string(item.Scope), Told: item.Told,
		}
	}
	return out
}
