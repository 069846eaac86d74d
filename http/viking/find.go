package viking

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
)

// finder answers searches.
type finder struct {
	tree     tree
	reader   SearchReader
	sessions Sessions
	answers  answers
}

func (s finder) routes(on route) {
	on("POST /api/v1/search/find", s.findContexts)
	on("POST /api/v1/search/search", s.searchInSession)
}

// oneOrMore is a string, or several.
type oneOrMore []string

func (o *oneOrMore) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*o = nil
		if one != "" {
			*o = oneOrMore{one}
		}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(o))
}

// findRequest is a search. An unknown session_id has no effect.
type findRequest struct {
	Query       string          `json:"query"`
	Targets     oneOrMore       `json:"target_uri"`
	Limit       *int            `json:"limit"`
	NodeLimit   *int            `json:"node_limit"`
	Threshold   *float64        `json:"score_threshold"`
	Filter      json.RawMessage `json:"filter"` // see condition
	ContextType oneOrMore       `json:"context_type"`
	Since       string          `json:"since"` // see [query.timeParam]
	Until       string          `json:"until"`
	TimeField   string          `json:"time_field"`
	Tags        oneOrMore       `json:"tags"` // each must match
	Levels      levels          `json:"level"`
	Mode        string          `json:"mode"` // list
	Everyone    bool            `json:"everyone"`
}

// limit is the number of wanted hits, from 0 to [domain.MaxLimit].
func (in findRequest) limit() int {
	limit := domain.DefaultLimit
	if in.Limit != nil {
		limit = *in.Limit
	}
	if in.NodeLimit != nil {
		limit = *in.NodeLimit
	}
	return min(max(limit, 0), domain.MaxLimit)
}

// findResult is the hits by context type.
type findResult struct {
	Memories  []match `json:"memories"`
	Resources []match `json:"resources"`
	Skills    []match `json:"skills"`
	Total     int     `json:"total"`
	Warning   string  `json:"warning,omitempty"`    // how the question was shortened
	Plan      *plan   `json:"query_plan,omitempty"` // of a search that includes a session
}

// match is a hit. Its score is computed from its band and its weight, see [shownScore].
type match struct {
	ContextType string    `json:"context_type"`
	URI         string    `json:"uri"`
	Level       int       `json:"level"`
	Score       float64   `json:"score"`
	Category    string    `json:"category"`
	Reason      string    `json:"match_reason"`
	Relations   []toward  `json:"relations"`
	Abstract    string    `json:"abstract"`
	Overview    *string   `json:"overview"`
	Confidence  float64   `json:"confidence"`
	Helpful     int       `json:"helpful"` // votes, the author's own included
	Harmful     int       `json:"harmful"`
	Stale       int       `json:"stale,omitempty"` // distinct reporters
	Contested   bool      `json:"contested,omitempty"`
	Copies      int       `json:"copies,omitempty"`      // other items that say the same
	OccurredAt  time.Time `json:"occurred_at,omitzero"`  // when it became true
	DisputedBy  []string  `json:"disputed_by,omitempty"` // ids
	Expired     bool      `json:"confirmation_expired,omitempty"`
	Superseded  string    `json:"superseded_by,omitempty"`
	Name        string    `json:"name,omitempty"` // of skills
	Description string    `json:"description,omitempty"`
}

// toward is a related item.
type toward struct {
	URI      string `json:"uri"`
	Abstract string `json:"abstract"`
	Reason   string `json:"reason,omitempty"`
}

// findContexts runs a search, the same as every other surface.
func (s finder) findContexts(ctx context.Context, q *query) (any, error) {
	var in findRequest
	if err := q.bind(&in); err != nil {
		return nil, err
	}
	return s.answer(ctx, q, in)
}

func (s finder) answer(ctx context.Context, q *query, in findRequest) (findResult, error) {
	found, targets, answer, err := s.scored(ctx, q, in)
	if err != nil {
		return findResult{}, err
	}
	return s.grouped(ctx, q, in, found, targets, answer)
}

// scored is a hit with the score that clients see.
type scored struct {
	domain.Found
	shown float64
}

// byShown orders hits, best first.
func byShown(a, b scored) int { return cmp.Compare(b.shown, a.shown) }

// scored are the hits of a search, the addresses that it covers, and the whole answer.
func (s finder) scored(ctx context.Context, q *query, in findRequest) ([]scored, []address, domain.Answer, error) {
	search, targets, err := s.toSearch(q, in)
	if err != nil || in.limit() == 0 || len(in.Targets) > 0 && len(targets) == 0 {
		return nil, targets, domain.Answer{}, err
	}
	answer, err := s.reader.Search(ctx, search)
	found := make([]scored, len(answer.Hits))
	for i, hit := range answer.Hits {
		found[i] = scored{hit, shownScore(hit.Hit)}
	}
	slices.SortStableFunc(found, byShown) // those of a question's parts come in turn
	return found, targets, answer, err
}

// grouped are those of the hits, best first, that score enough, by context type.
func (s finder) grouped(
	ctx context.Context, q *query, in findRequest, found []scored, targets []address, answer domain.Answer,
) (findResult, error) {
	least := *cmp.Or(in.Threshold, new(float64))
	found = slices.DeleteFunc(found, func(hit scored) bool { return hit.shown < least })
	found = found[:min(len(found), in.limit())]
	items := make([]*domain.Knowledge, len(found))
	for i, hit := range found {
		items[i] = hit.Knowledge
	}
	if err := s.tree.reader.Dispute(ctx, q.caller.Principal, items...); err != nil {
		return findResult{}, err
	}
	others, err := s.tree.related(ctx, q, items...)
	result := groupByType(found, in.Query, targets, others)
	result.Warning = answer.Warning
	s.answers.give(q, func(given *domain.Given) {
		given.Asked, given.Embedder = in.Query, answer.Embedder
		for _, hit := range found {
			given.Items = append(given.Items, domain.GivenHit(hit.Found, domain.Abstract))
		}
	})
	return result, err
}

// toSearch is the domain's search, and the addresses that it covers; none for everywhere.
func (s finder) toSearch(q *query, in findRequest) (domain.Search, []address, error) {
	search := domain.Search{
		By: q.caller.Principal, Text: in.Query, Limit: in.limit(), MinScore: in.Threshold, Order: domain.ByScore,
		Everyone: in.Everyone,
	}
	var targets []address
	for _, target := range in.Targets {
		a, err := q.caller.address("target_uri", target)
		if err != nil {
			return search, nil, err
		}
		if !a.beyond {
			targets = append(targets, a)
			search.Filter.Under = append(search.Filter.Under, a.searchPlaces()...)
		}
	}
	for _, context := range in.ContextType {
		search.Filter.ContextTypes = append(search.Filter.ContextTypes, domain.ContextType(context))
	}
	search.Filter.Also, search.Filter.Levels = tagsOf(q, in.Tags), in.Levels
	if in.Mode != "" && in.Mode != "list" {
		return search, nil, domain.Refuse(errMode, "mode must be list").
			WithFix("ask POST /v1/context for what fits into a prompt")
	}
	switch in.TimeField {
	case "", "updated_at", "created_at":
	default:
		q.found.Add("time_field", "must be updated_at or created_at")
	}
	from, to := &search.Filter.UpdatedFrom, &search.Filter.UpdatedTo
	if in.TimeField == "created_at" {
		from, to = &search.Filter.CreatedFrom, &search.Filter.CreatedTo
	}
	now := time.Now()
	*from, *to = q.timeParam("since", in.Since, now, 0), q.timeParam("until", in.Until, now, 24*time.Hour)
	if !from.IsZero() && !to.IsZero() && !from.Before(*to) {
		q.found.Add("since", "must be before until")
	}
	if err := q.found.Err(); err != nil {
		return search, nil, err
	}
	if in.Filter != nil {
		filter, err := conditionOf(in.Filter)
		if err == nil {
			err = filter.apply(&search.Filter, q.caller)
		}
		if err != nil {
			return search, nil, err
		}
	}
	search, err := search.Complete()
	search.MinScore = nil // the threshold is for the score that clients see
	return search, targets, fieldsOf(err, func(field string) string {
		if field == "min_score" {
			return "score_threshold"
		}
		return field
	})
}

// groupByType groups the hits of a query by context type and keeps their order. Others are related items.
func groupByType(hits []scored, query string, targets []address, others map[string]*domain.Knowledge) findResult {
	result := findResult{Memories: []match{}, Resources: []match{}, Skills: []match{}, Total: len(hits)}
	for _, hit := range hits {
		m := matchOf(hit.Found, query, targets, others)
		m.Score = hit.shown
		switch hit.Knowledge.ContextType {
		case domain.Skill:
			d := describedBy(hit.Knowledge)
			m.Name, m.Description = d.Name, d.Description
			result.Skills = append(result.Skills, m)
		case domain.Resource:
			result.Resources = append(result.Resources, m)
		default:
			result.Memories = append(result.Memories, m)
		}
	}
	return result
}

func matchOf(hit domain.Found, query string, targets []address, others map[string]*domain.Knowledge) match {
	k := hit.Knowledge
	uri := domain.URI(k.Text.URI)
	m := match{
		ContextType: string(k.ContextType), URI: formatPlace(uri, placeOf(k), targets), Level: int(uri.Level()),
		Category: string(cmp.Or(k.Category, uri.Category())), Relations: []toward{},
		Abstract:   text.Excerpt(k.Text.Content, abstractOf(k), query),
		Confidence: k.Confidence, Helpful: k.Helpful, Harmful: k.Harmful, Stale: k.Stale.Reporters,
		Contested: k.Rating().Contested(), DisputedBy: k.DisputedBy, Expired: k.Expired, Superseded: k.SupersededBy,
		Copies: hit.Copies,
	}
	m.OccurredAt = k.OccurredAt
	marks := k.Rating().Marks()
	if hit.Confirmed {
		marks = append(marks, "confirmed by its verifier")
	}
	m.Reason = strings.Join(append(marks, text.Asides(m.Abstract, k.OccurredAt, k.CreatedAt, 0)...), "; ")
	for _, r := range k.Relations {
		if other := others[r.To]; other != nil {
			place := directoryOf(other)
			m.Relations = append(
				m.Relations, toward{URI: formatPlace(place, place, targets), Abstract: abstractOf(other), Reason: r.Reason},
			)
		}
	}
	if k.Text.Overview != "" {
		m.Overview = &k.Text.Overview
	}
	return m
}

// formatPlace formats a URI in the form of the target that contains it.
func formatPlace(uri, place domain.URI, targets []address) string {
	for _, target := range targets {
		if slices.ContainsFunc(target.searchPlaces(), uri.Within) {
			return target.format(place)
		}
	}
	return string(place)
}

// shownScore is the score that clients see. It tells the band: a sure hit has at least 0.5, another one less. Many
// clients drop what is below 0.35, and put the rest into a context.
func shownScore(hit domain.Hit) float64 {
	switch hit.Band {
	case domain.Sure:
		return (1 + hit.Weight) / 2
	case domain.Perhaps:
		return hit.Weight / 2
	default:
		return hit.Weight
	}
}
