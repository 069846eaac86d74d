package http

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/annals-kb/annals/domain"
)

// search is a question.
type search struct {
	Query    string        `json:"query,omitempty" maxLength:"8000" example:"which language does the user prefer?"`
	Vector   []float32     `json:"vector,omitempty" doc:"Instead of letting the server embed the query; of the embedder's dimensions."`
	Context  *searcher     `json:"context,omitempty" doc:"For whom: only their scopes and public count, the nearest first. Left out: everything you belong to, or the whole tenant if you may read that."`
	Limit    optional[int] `json:"limit,omitzero" nullable:"false" minimum:"1" maximum:"100" doc:"10 if left out."`
	MinScore *float64      `json:"min_score,omitempty" minimum:"0" maximum:"1" doc:"0.5 means: about this. The embedder's default if left out."`
	Order    string        `json:"order,omitempty" minLength:"1" enum:"priority,score" doc:"priority, if left out: the best hits by tier, user > project > agent > team > org > public."`
	Level    *int          `json:"level,omitempty" minimum:"0" maximum:"2" doc:"Which text stands as the content of a hit: 0 the abstract, 1 the overview, 2 the content itself, as if left out. What is short has nothing shorter, and stays. All of an item is searched, whatever is asked for."`
	Explain  bool          `json:"explain,omitempty" doc:"Say how the answer came about."`
	Position bool          `json:"position,omitempty" doc:"Say up to which position of the log everything was looked at."`
	AsOf     asOf          `json:"as_of,omitempty"`

	Types       oneOrMore  `json:"types,omitempty" doc:"Several are alternatives, as with all of these."`
	ContextType oneOrMore  `json:"context_type,omitempty"`
	Category    oneOrMore  `json:"category,omitempty"`
	Tags        tags       `json:"tags,omitempty" doc:"Every key must match, by any of its values."`
	Owner       string     `json:"owner,omitempty" minLength:"1"`
	Scope       string     `json:"scope,omitempty" minLength:"1"`
	Visibility  string     `json:"visibility,omitempty" minLength:"1" enum:"private,shared,org,public"`
	URI         string     `json:"uri,omitempty" minLength:"1" doc:"What the URI begins with."`
	Polarity    string     `json:"polarity,omitempty" minLength:"1" enum:"positive,negative"`
	Stale       *bool      `json:"stale,omitempty" doc:"true: reported stale since it was last confirmed, or that confirmation has expired; false: neither."`
	TraceID     string     `json:"trace_id,omitempty" minLength:"1"`
	Status      oneOrMore  `json:"status,omitempty" doc:"active if left out."`
	CreatedFrom *time.Time `json:"created_from,omitempty"`
	CreatedTo   *time.Time `json:"created_to,omitempty"`
	UpdatedFrom *time.Time `json:"updated_from,omitempty"`
	UpdatedTo   *time.Time `json:"updated_to,omitempty"`
}

// searcher is for whom a search is made, in ids without the word before the colon.
type searcher struct {
	UserID     string   `json:"user_id,omitempty" minLength:"1" example:"123"`
	AgentID    string   `json:"agent_id,omitempty" minLength:"1"`
	ProjectID  string   `json:"project_id,omitempty" minLength:"1"`
	ProjectIDs []string `json:"project_ids,omitempty"`
	TeamID     string   `json:"team_id,omitempty" minLength:"1"`
	TeamIDs    []string `json:"team_ids,omitempty"`
	OrgID      string   `json:"org_id,omitempty" minLength:"1"`
}

// hit is an item in the answer.
type hit struct {
	Knowledge *knowledge `json:"knowledge"`
	Score     float64    `json:"score" doc:"0 to 1: how much it is about the query; 0.5 means: about this."`
	Scope     string     `json:"scope" example:"project:456" doc:"The nearest that it shares with the searcher."`
	Tier      string     `json:"tier" enum:"user,project,agent,team,org,public"`
	Weight    float64    `json:"weight" doc:"score × (½ + ½·confidence): the order within a tier."`
	Best      bool       `json:"best" doc:"Among the best hits, which come by tier: at least three quarters of the best score."`
	Reason    string     `json:"reason,omitempty" enum:"nearer scope" doc:"Why it stands before a hit of more weight."`
	Contested bool       `json:"contested,omitempty" doc:"It was found harmful or stale, and its confidence is below 0.2: do not rely on it. The votes are in eval, reports of staleness in stale, what took its place in superseded_by."`
	Parts     parts      `json:"parts"`
	Terms     []string   `json:"terms,omitempty" doc:"With explain: which of the query's terms it contains."`
}

// parts are what score and weight are made of, each 0 to 1.
type parts struct {
	Semantic   float64 `json:"semantic" doc:"Meaning."`
	Pending    bool    `json:"semantic_pending,omitempty" doc:"With explain: meaning is not computed yet, and words stand alone."`
	Lexical    float64 `json:"lexical" doc:"Words."`
	Confidence float64 `json:"confidence"`
}

// searchAnswer is what is known.
type searchAnswer struct {
	Items    []hit        `json:"items" nullable:"false"`
	Embedder string       `json:"embedder" doc:"The vector space that meaning was compared in."`
	Degraded string       `json:"degraded,omitempty" doc:"Why words stand alone; missing when meaning took part."`
	MinScore float64      `json:"min_score"`
	Explain  *explanation `json:"explain,omitempty" doc:"When asked for, or when there are no hits."`
	Position *int64       `json:"position,omitempty" doc:"When asked for: whatever was recorded up to here was looked at, by its words at least. What is remembered with it as unless_said_since is not said twice."`
}

// explanation says how an answer came about.
type explanation struct {
	Audience  []string    `json:"audience" nullable:"false" doc:"The scopes that counted; none means everything in the tenant."`
	Visible   int64       `json:"visible" doc:"Items in those scopes."`
	Passed    int64       `json:"passed" doc:"Of those, items that passed the filters."`
	BestBelow float64     `json:"best_below" doc:"The best score below min_score; 0 if there was none."`
	Terms     []string    `json:"terms" nullable:"false" doc:"The words of the query as they are compared."`
	Plans     []scopePlan `json:"plans" nullable:"false"`
	TookMS    float64     `json:"took_ms"`
}

// scopePlan says how the vectors of a scope were searched.
type scopePlan struct {
	Scope string `json:"scope"`
	Items int64  `json:"items"`
	Plan  string `json:"plan" doc:"exact, sketch, hnsw or none."`
}

type searchOutput struct {
	Body searchAnswer
}

type searchInput struct {
	MinPosition integer `query:"min_position" doc:"Wait until the answer is as new as this position of the log, the Annals-Position of a write; also as the header Annals-Min-Position. 503 if that takes too long."`
	MaxWait     integer `query:"max_wait" doc:"How many seconds to wait for min_position: 1 to 25; 5 if left out."`
}

var decodeSearch = decoderOf(reflect.TypeFor[search]())

func (s *Server) search(ctx context.Context, c *call, asked *searchInput) (*searchOutput, error) {
	in, _, err := read[search](s, c, decodeSearch)
	if err != nil {
		return nil, err
	}
	query, names := in.query(c.principal)
	if in.Limit.Given && in.Limit.Value == 0 {
		query.Limit = -1 // nought was asked for, not left out
	}
	at := in.AsOf.read(&c.found)
	query, err = query.Complete()
	if err := merge(c.found, renamed(err, names)); err != nil {
		return nil, err
	}
	if err := s.await(ctx, c, asked.MinPosition, asked.MaxWait, true); err != nil {
		return nil, err
	}
	if at, err = s.then(ctx, c, at); err != nil {
		return nil, err
	}
	query.AsOf, query.Then = at.Position, at.Time
	var looked *int64
	if in.Position {
		if looked, err = s.lookedAt(ctx, query); err != nil {
			return nil, err
		}
	}
	answer, err := s.cfg.Reader.Search(ctx, query)
	if err != nil {
		return nil, err
	}
	s.retrieved(c, "search", len(answer.Hits), func(i int) domain.Retrieved {
		return domain.Retrieved{ID: answer.Hits[i].ID, Score: answer.Hits[i].Score}
	})
	out := searchedOf(answer)
	out.Position = looked
	return &searchOutput{Body: out}, nil
}

// lookedAt is up to where a search that begins now looks at everything.
func (s *Server) lookedAt(ctx context.Context, query domain.Search) (*int64, error) {
	if query.AsOf != 0 {
		return &query.AsOf, nil
	}
	head, _, err := s.cfg.Historian.Head(ctx, query.By.Tenant)
	return &head, err
}

// query is the question as the domain knows it, with the caller's names for the fields of the
// context.
func (in search) query(by domain.Principal) (domain.Search, map[string]string) {
	query := domain.Search{
		By: by, Text: in.Query, Vector: in.Vector, Limit: in.Limit.Value,
		MinScore: in.MinScore, Order: domain.Order(in.Order), Explain: in.Explain,
		Filter: domain.Filter{
			Types: spoken[domain.Type](in.Types), ContextTypes: spoken[domain.ContextType](in.ContextType),
			Categories: spoken[domain.Category](in.Category), Tags: domain.Tags(in.Tags),
			Owner: domain.Entity(in.Owner), Scope: domain.Scope(in.Scope),
			Visibility: domain.Visibility(in.Visibility), URIPrefix: in.URI,
			Polarity: domain.Polarity(in.Polarity), Stale: in.Stale, TraceID: in.TraceID,
			Statuses:    spoken[domain.Status](in.Status),
			CreatedFrom: when(in.CreatedFrom), CreatedTo: when(in.CreatedTo),
			UpdatedFrom: when(in.UpdatedFrom), UpdatedTo: when(in.UpdatedTo),
		},
	}
	if in.Level != nil {
		query.Level = new(domain.Level(*in.Level))
	}
	names := map[string]string{}
	if in.Context != nil {
		query.Context = in.Context.context(names)
	}
	return query, names
}

// context is for whom, and notes the caller's names for its fields.
func (in searcher) context(names map[string]string) domain.Context {
	context := domain.Context{Given: true}
	in.each(func(field, kind, id string) {
		names[fmt.Sprintf("context[%d]", len(context.Entities))] = "context." + field
		context.Entities = append(context.Entities, domain.Entity(kind+":"+id))
	})
	return context
}

func (in searcher) each(entity func(field, kind, id string)) {
	one := func(field, kind, id string) {
		if id != "" {
			entity(field, kind, id)
		}
	}
	one("user_id", domain.User, in.UserID)
	one("agent_id", domain.Agent, in.AgentID)
	one("project_id", domain.Project, in.ProjectID)
	one("team_id", domain.Team, in.TeamID)
	one("org_id", domain.Org, in.OrgID)
	for i, id := range in.ProjectIDs {
		entity(fmt.Sprintf("project_ids[%d]", i), domain.Project, id)
	}
	for i, id := range in.TeamIDs {
		entity(fmt.Sprintf("team_ids[%d]", i), domain.Team, id)
	}
}

// placedBy says why a hit stands before a heavier one.
func placedBy(h domain.Found) string {
	if h.Nearer {
		return "nearer scope"
	}
	return ""
}

func searchedOf(a domain.Answer) searchAnswer {
	out := searchAnswer{
		Items: make([]hit, len(a.Hits)), Embedder: a.Embedder, Degraded: a.Degraded, MinScore: a.MinScore,
	}
	for i, h := range a.Hits {
		out.Items[i] = hit{
			Knowledge: knowledgeOf(h.Knowledge), Score: h.Score, Scope: string(h.Scope),
			Tier: h.Scope.Tier().String(), Weight: h.Weight, Best: h.Best, Reason: placedBy(h), Terms: h.Terms,
			Contested: h.Knowledge.Rating().Contested(),
			Parts:     parts{Semantic: h.Semantic, Pending: h.Pending && a.Explain != nil, Lexical: h.Lexical, Confidence: h.Confidence},
		}
	}
	if e := a.Explain; e != nil {
		out.Explain = &explanation{
			Audience: plain(e.Audience), Visible: e.Visible, Passed: e.Passed, BestBelow: e.BestBelow,
			Terms: append([]string{}, e.Terms...), Plans: make([]scopePlan, len(e.Plans)),
			TookMS: float64(e.Took) / float64(time.Millisecond),
		}
		for i, p := range e.Plans {
			out.Explain.Plans[i] = scopePlan{Scope: string(p.Scope), Items: p.Items, Plan: p.Plan}
		}
	}
	return out
}
