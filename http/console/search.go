package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// found is the page of a search.
type found struct {
	form           // of the filters
	Asked     bool // there is a question
	Answer    api.SearchAnswer
	Hits      []hit       // of the answer, as they are shown
	Unwritten bool        // nobody has written what the question asks for
	Whom      *api.Expert // who wrote most about what was not found; nil if nobody did
	Expected  *expected   // the item that the reader expected among the hits
	Entities  []field     // for whom the search is made
	Versus    *versus     // the search at two moments; nil for one
	Facets    []facet
}

// hit is a hit as the page shows it.
type hit struct {
	api.Hit
	Text     []api.FieldChange // the passage that answers, with marks at the words of the question
	For, All int               // of so many who said something about it, so many say that it holds
	Disputes []dispute         // of the first hit alone
}

// dispute is an item that says something else.
type dispute struct {
	api.Knowledge
	Text []api.FieldChange // the passage that differs
}

// searchers are the parameters that say for whom a search is made.
func searchers() []field {
	return []field{
		{Name: "user", Label: "User"},
		{Name: "project", Label: "Project"},
		{Name: "agent", Label: "Agent"},
		{Name: "team", Label: "Team"},
		{Name: "org", Label: "Organisation"},
	}
}

// expected is why an item is or is not among the hits.
type expected struct {
	ID   string
	Rank int // from 1; 0 if it is not among the hits
	Hit  *api.Hit
	Why  string
	Best float64 // of the last hit
}

// search answers the question of the address. If the API refuses it, the form stays.
func search(p *page) (any, error) {
	data := &found{form: *newForm(p, filters()), Entities: searchers()}
	data.names = map[string]string{"types": "type", "tags": "tag"}
	if err := data.search(p); err != nil {
		data.Asked, data.Versus = false, nil
		return nil, data.failed(p, err, "search", data)
	}
	return data, nil
}

// toSearch leads to the search, with the question.
func toSearch(p *page) (any, error) {
	http.Redirect(p.w, p.r, p.To("search", "q", p.param("q")), http.StatusSeeOther)
	return nil, errAnswered
}

// search asks what the address asks.
func (f *found) search(p *page) error {
	request, err := searchRequest(p)
	if request.Query == "" || err != nil {
		return err
	}
	f.Asked = true
	if f.Versus, err = versusOf(p); err != nil {
		return err
	}
	if f.Versus != nil {
		return f.Versus.compareSearch(p, request)
	}
	request.Explain, request.Facets = p.param("why") != "", true
	if err := f.ask(p, request); err != nil {
		return err
	}
	if of := f.Answer.Facets; of != nil && of.Hits > 0 {
		f.Facets = []facet{
			facetOf(p, "Type", "type", of.Types), facetOf(p, "Category", "category", of.Categories),
			facetOf(p, "Scope", "scope", of.Scopes), facetOf(p, "Owner", "owner", of.Owners), facetOf(p, "Tag", "tag", of.Tags),
		}
		f.Facets = ownWords(f.Facets, 2)
	}
	if id := p.param("expect"); id != "" {
		f.Expected, err = expect(p, request, id, f.Answer)
		return err
	}
	return nil
}

// ask asks the API, sifts the hits by the filters that it has not, and finds what the page shows of them.
func (f *found) ask(p *page, request api.Search) error {
	filtered := slices.ContainsFunc(listOnly(), func(f field) bool { return p.param(f.Name) != "" })
	if filtered {
		request.Facets, request.Limit = false, new(100)
	}
	if err := p.post(request, &f.Answer, "v1", "search"); err != nil {
		return err
	}
	if filtered {
		f.Answer.Items = slices.DeleteFunc(f.Answer.Items, func(hit api.Hit) bool { return !passes(p, hit) })
	}
	if e := f.Answer.Explain; e != nil && e.Visible > 0 && e.Passed == 0 {
		filtered = true
	}
	f.Unwritten = f.Answer.Weak || len(f.Answer.Items) == 0 && !filtered
	return f.show(p, request.Query)
}

// listOnly are the filters of a list that the API's search has not: the page sifts the best hits by them.
func listOnly() []field { return listFilters(false)[len(filters()):] }

// passes tells whether a hit passes the filters that only a list has.
func passes(p *page, hit api.Hit) bool {
	is := func(name string, has bool) bool {
		return p.param(name) == "" || p.param(name) == strconv.FormatBool(has)
	}
	within := func(name string, sign float64) bool {
		limit, err := strconv.ParseFloat(p.param(name), 64)
		return err != nil || sign*hit.Parts.Confidence >= sign*limit
	}
	return is("contested", hit.Contested) && is("expired", hit.Knowledge.ConfirmationExpired) &&
		within("min_confidence", 1) && within("max_confidence", -1) &&
		strings.HasPrefix(hit.Knowledge.ID, p.param("id_prefix"))
}

// show finds what the page says besides the hits: their passages, who disputes the first, or whom to ask.
func (f *found) show(p *page, question string) error {
	for _, one := range f.Answer.Items {
		shown := hit{Hit: one, Text: answering(one.Knowledge.Content, question)}
		if eval := one.Knowledge.Eval; eval != nil {
			shown.For = others(eval.Helpful)
			shown.All = shown.For
			if eval.Harmful != nil {
				shown.All += *eval.Harmful
			}
		}
		if stale := one.Knowledge.Stale; stale != nil {
			shown.All += stale.Reporters
		}
		f.Hits = append(f.Hits, shown)
	}
	if f.Unwritten {
		var experts api.Expertise
		if err := p.get(&experts, url.Values{"q": {question}}, "v1", "expertise"); err == nil && len(experts.Items) > 0 {
			f.Whom = &experts.Items[0]
		}
		return nil
	}
	if len(f.Hits) == 0 || len(f.Hits[0].Knowledge.DisputedBy) == 0 {
		return nil
	}
	first := &f.Hits[0]
	others, _, err := pageOf[api.Knowledge](p, url.Values{"id": first.Knowledge.DisputedBy}, "v1", "knowledge")
	for _, other := range others {
		first.Disputes = append(first.Disputes, dispute{other, differing(first.Knowledge.Content, other.Content)})
	}
	return err
}

// Typing tells whether the reader may still be typing: the page asks by itself, and only a part of it is replaced.
func (p *page) Typing() bool { return p.r.Header.Get("Hx-Request") != "" }

// searchRequest reads the search of the page's address.
func searchRequest(p *page) (api.Search, error) {
	filter, err := filterOf(p)
	request := api.Search{Query: p.param("q"), Order: p.param("order"), AsOf: api.AsOf(p.Moment.AsOf), Filter: filter}
	if err != nil {
		return request, err
	}
	request.Everyone = p.param("everyone") != ""
	if p.param("all") != "" {
		zero := 0.0
		request.MinScore = &zero
	}
	request.Context = searcherOf(p)
	return request, nil
}

// wrongField is what the API would say about a field that it does not have.
func wrongField(name, message string) error {
	return &client.Error{Problem: api.Problem{
		Status: http.StatusUnprocessableEntity, Title: "Some fields are not right",
		Errors: []api.BadField{{Field: name, Message: message}},
	}}
}

// searcherOf is for whom the page's address asks; nil for the caller.
func searcherOf(p *page) *api.Searcher {
	whom := api.Searcher{
		UserID: p.param("user"), ProjectID: p.param("project"), AgentID: p.param("agent"), TeamID: p.param("team"),
		OrgID: p.param("org"),
	}
	if whom.UserID+whom.ProjectID+whom.AgentID+whom.TeamID+whom.OrgID == "" {
		return nil
	}
	return &whom
}

// expect finds why an item is not among the hits: it asks for the item alone, without a least score and, if it is
// still missing, without filters.
func expect(p *page, request api.Search, id string, answer api.SearchAnswer) (*expected, error) {
	e := &expected{ID: id}
	for i, hit := range answer.Items {
		e.Best = hit.Weight
		if hit.Knowledge.ID == id {
			e.Rank, e.Hit = i+1, &answer.Items[i]
			return e, nil
		}
	}
	var k api.Knowledge
	err := p.get(&k, p.asOf(nil), "v1", "knowledge", id)
	if errors.Is(err, client.ErrNotFound) || errors.Is(err, client.ErrGone) {
		e.Why = "There is no such item, or you may not see it."
		return e, nil
	}
	if err != nil {
		return nil, err
	}
	zero := 0.0
	alone := request
	alone.Facets = false
	alone.MinScore, alone.URI, alone.Limit = &zero, k.URI, nil
	without := api.Search{
		Query: request.Query, Context: request.Context, AsOf: request.AsOf, MinScore: &zero,
		Filter: api.Filter{URI: k.URI, Status: api.OneOrMore{"active", "superseded"}},
	}
	if e.Hit, err = findHit(p, alone, id); err != nil {
		return nil, err
	}
	switch {
	case e.Hit != nil && e.Hit.Score < answer.MinScore:
		e.Why = "Its score is below the least score."
		return e, nil
	case e.Hit != nil:
		e.Why = "It passes the filters, but other items have more weight, or its score is below the least score."
		return e, nil
	}
	if e.Hit, err = findHit(p, without, id); err != nil || e.Hit != nil {
		e.Why = "A filter excludes it."
		return e, err
	}
	e.Why = "It shares no scope with the audience, or none of its words and meaning match."
	return e, nil
}

// findHit is an item as a search finds it; nil if it does not.
func findHit(p *page, request api.Search, id string) (*api.Hit, error) {
	var got api.SearchAnswer
	if err := p.post(request, &got, "v1", "search"); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(got.Items, func(hit api.Hit) bool { return hit.Knowledge.ID == id })
	if i < 0 {
		return nil, nil
	}
	return &got.Items[i], nil
}

// post sends a body to the API that changes nothing, such as a search.
func (p *page) post(body, out any, path ...string) error {
	request := client.Request{Method: http.MethodPost, Path: path, Body: body}
	p.note(request)
	_, err := p.api.Do(p.r.Context(), request, out)
	return err
}
