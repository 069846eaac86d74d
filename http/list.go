package http

import (
	"context"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/body"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

type listInput struct {
	serve.Filtering
	Sort  string    `query:"sort" enum:"updated,confidence,harmful,stale" doc:"The time of the last revision, the confidence as it is now, the number of harmful votes, or that of reports of staleness; newest items first if left out. A sorted list has the newest 100,000 items that pass the filters, and is for the present."`
	Order string    `query:"order" enum:"asc,desc" doc:"Of sort; desc, the highest first, if left out."`
	AsOf  body.AsOf `query:"as_of"`
	serve.Paging
	visible.Waiting
}

// listQuestion is the query that a list's cursors belong to.
type listQuestion struct {
	Filter domain.Filter
	AsOf   int64
	Sort   domain.Sort `json:",omitzero"`
	Asc    bool        `json:",omitzero"`
}

func (s *Server) list(ctx context.Context, c *serve.Call, in *listInput) (*serve.Streamed, error) {
	format, err := c.Accepts(serve.JSONType, serve.LinesType, serve.CsvType)
	if err != nil {
		return nil, err
	}
	filter := in.Filter(&c.Found)
	limit := in.Size(c)
	at := in.AsOf.Parse(&c.Found, "as_of")
	if !at.IsNow() {
		in.onlyNow(&c.Found)
	}
	in.sorting(&c.Found, !at.IsNow())
	if err := serve.Merge(c.Found, serve.Renamed(filter.Validate(), listNames)); err != nil {
		return nil, err
	}
	if err := s.items.Await(ctx, c, in.Waiting, false); err != nil {
		return nil, err
	}
	if at, err = s.log.Resolve(ctx, c, at); err != nil {
		return nil, err
	}
	list := domain.List{
		By: c.Principal, Filter: filter, Sort: domain.Sort(in.Sort), Ascending: in.Order == "asc", Limit: limit,
		AsOf: at.Position, AsOfTime: at.Time,
	}
	question := listQuestion{filter, at.Position, list.Sort, list.Ascending}
	if list.Sort == "" {
		list.Before, err = serve.PlaceOf(in.Cursor, question)
	} else {
		list.Before, list.Key, err = serve.KeyedPlaceOf(in.Cursor, question)
	}
	if err != nil {
		return nil, err
	}
	receipt := "" // of the newest page
	read := func(ctx context.Context) ([]*api.Knowledge, int64, error) {
		got, err := s.cfg.Reader.List(ctx, list)
		if err != nil {
			return nil, 0, err
		}
		if err := s.items.Show(ctx, c, list.AsOf, got.Items...); err != nil {
			return nil, 0, err
		}
		receipt = s.items.GiveLook(c, got.Items...)
		list.Before, list.Key = got.Next, got.Key // where the following page begins
		return serve.Map(got.Items, serve.KnowledgeOf), got.Next, nil
	}
	if format != serve.JSONType {
		list.Limit = domain.MaxLimit
		return serve.Listing[*api.Knowledge]{
			Name: "knowledge", Columns: knowledgeColumns(),
			Page: func(ctx context.Context, _ int64, _ int) ([]*api.Knowledge, int64, error) { return read(ctx) },
		}.Answer(ctx, c, serve.Paging{Limit: in.Limit})
	}
	page := api.Page[*api.Knowledge]{}
	if page.Items, _, err = read(ctx); err != nil {
		return nil, err
	}
	page.Receipt = receipt
	if page.NextCursor = serve.Cursor(list.Before, question); list.Sort != "" {
		page.NextCursor = serve.KeyedCursor(list.Before, list.Key, question)
	}
	return serve.JSON(page), nil
}

// sorting names what is wrong with the order of a list.
func (in *listInput) sorting(found *domain.Problems, past bool) {
	switch {
	case in.Sort != "" && !slices.Contains(domain.Sorts, domain.Sort(in.Sort)):
		found.Add("sort", "must be one of updated, confidence, harmful, stale")
	case in.Sort != "" && past:
		found.Add("sort", onlyForNow)
	}
	switch {
	case !slices.Contains([]string{"", "asc", "desc"}, in.Order):
		found.Add("order", "must be one of asc, desc")
	case in.Order != "" && in.Sort == "":
		found.Add("order", "is the order of sort, which is missing")
	}
}

// knowledgeColumns are the columns of items in CSV.
func knowledgeColumns() []serve.Column[*api.Knowledge] {
	judged := func(name string, value func(k api.Knowledge) any) serve.Column[api.Knowledge] {
		return serve.Column[api.Knowledge]{Name: name, Cell: func(k api.Knowledge) string { return serve.Cell(value(k)) }}
	}
	all := slices.Concat(serve.ColumnsOf[api.Knowledge](`id type context_type category polarity status superseded_by owner scopes
		task content tags uri`), []serve.Column[api.Knowledge]{
		judged("helpful", func(k api.Knowledge) any { return k.Eval.Helpful }),
		judged("harmful", func(k api.Knowledge) any { return k.Eval.Harmful }),
		judged("confidence", func(k api.Knowledge) any { return k.Eval.Confidence }),
		judged("stale_reporters", func(k api.Knowledge) any { return k.Stale.Reporters }),
	}, serve.ColumnsOf[api.Knowledge]("confirmation_expired? confirm_until revision position created_at updated_at"))
	return serve.Map(all, func(of serve.Column[api.Knowledge]) serve.Column[*api.Knowledge] {
		return serve.Column[*api.Knowledge]{Name: of.Name, Cell: func(k *api.Knowledge) string { return of.Cell(*k) }}
	})
}

const onlyForNow = "is for the present: leave out as_of"

// onlyNow names the filters that a list of the past cannot have.
func (in *listInput) onlyNow(found *domain.Problems) {
	for _, one := range []struct{ name, value string }{
		{"min_confidence", string(in.MinConfidence)},
		{"max_confidence", string(in.MaxConfidence)},
		{"contested", string(in.Contested)},
		{"expired", string(in.Expired)},
	} {
		if one.value != "" {
			found.Add(one.name, onlyForNow)
		}
	}
}

type overviewInput struct {
	serve.Filtering
	visible.Waiting
}

// overview counts what a list with the same filters has.
func (s *Server) overview(ctx context.Context, c *serve.Call, in *overviewInput) (*serve.Output[api.Overview], error) {
	filter := in.Filter(&c.Found)
	if err := serve.Merge(c.Found, serve.Renamed(filter.Validate(), listNames)); err != nil {
		return nil, err
	}
	if err := s.items.Await(ctx, c, in.Waiting, false); err != nil {
		return nil, err
	}
	got, err := s.cfg.Browser.Count(ctx, c.Principal, filter)
	if err != nil {
		return nil, err
	}
	out := api.Overview{
		Items: got.Items, Complete: got.Complete, Types: facetOf(got.Types), Statuses: facetOf(got.Statuses),
		Categories: facetOf(got.Categories), Owners: facetOf(got.Owners), Scopes: facetOf(got.Scopes),
		Tags: facetOf(got.Tags), Stale: got.Stale, Expired: got.Expired, Contested: got.Contested,
		Confirmed: got.Confirmed, Helpful: got.Helpful, Since: got.Since, Unused: got.Unused,
		ByScope: []api.ScopeOverview{},
	}
	for i, n := range got.Confidence {
		tenth := api.ConfidenceCount{From: float64(i) / 10, To: float64(i+1) / 10, Items: n}
		out.Confidence = append(out.Confidence, tenth)
	}
	for i := range got.ByScope {
		of := &got.ByScope[i]
		one := api.ScopeOverview{
			Scope: of.Scope, Items: of.Items, Stale: of.Stale, Contested: of.Contested, Confirmed: of.Confirmed,
			Confidence: of.Confidence,
		}
		if got.Unused != nil {
			one.Unused = &of.Unused
		}
		out.ByScope = append(out.ByScope, one)
	}
	return &serve.Output[api.Overview]{Body: out}, nil
}

func facetOf(f domain.Facet) api.Facet {
	counts := serve.Map(f.Counts, func(c domain.Count) api.ValueCount { return api.ValueCount(c) })
	return api.Facet{Counts: counts, More: f.More}
}

// listNames are the parameters whose names differ from those of the fields.
var listNames = map[string]string{"types": "type", "tags": "tag"}
