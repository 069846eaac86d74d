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

// Filtering are the parameters that choose items.
type Filtering struct {
	Type        []string      `query:"type,explode" enum:"user_profile,strategy,tool,usecase,definition,plan" doc:"Several are alternatives, as with all of these."`
	ContextType []string      `query:"context_type,explode" enum:"memory,skill,resource"`
	Category    []string      `query:"category,explode" enum:"profile,preferences,entities,events,cases,patterns,tools,skills,antipatterns"`
	Tag         []string      `query:"tag,explode" doc:"key:value; without a colon it is a label. Different keys must all match, by any of their values."`
	Owner       string        `query:"owner" doc:"An entity such as user:123."`
	Scope       string        `query:"scope" doc:"A scope such as project:456 or public."`
	Visibility  string        `query:"visibility" enum:"private,shared,org,public"`
	Polarity    string        `query:"polarity" enum:"positive,negative"`
	URI         string        `query:"uri" doc:"What the URI begins with."`
	ID          []string      `query:"id,explode" doc:"At most 500."`
	IDPrefix    string        `query:"id_prefix" doc:"What the id begins with."`
	Stale       serve.Boolean `query:"stale" doc:"true: reported stale since it was last confirmed, or that confirmation has expired; false: neither."`
	TraceID     string        `query:"trace_id" doc:"Of the item's source."`
	Status      []string      `query:"status,explode" enum:"active,superseded,deleted,erased" doc:"active if left out."`
	CreatedFrom serve.Moment  `query:"created_from" doc:"A time or a date, as with all of these; at or after it."`
	CreatedTo   serve.Moment  `query:"created_to" doc:"Before it."`
	UpdatedFrom serve.Moment  `query:"updated_from"`
	UpdatedTo   serve.Moment  `query:"updated_to"`

	MinConfidence serve.Number  `query:"min_confidence" doc:"0 to 1, of the confidence as it is now. This and the following are for the present."`
	MaxConfidence serve.Number  `query:"max_confidence"`
	Contested     serve.Boolean `query:"contested" doc:"true: found harmful or reported stale, with a confidence below 0.2 now, or disputed by items that you may see."`
	Expired       serve.Boolean `query:"expired" doc:"true: it was confirmed until a time that has passed."`
}

type listInput struct {
	Filtering
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
	filter := in.filter(&c.Found)
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
	read := func(ctx context.Context) ([]*api.Knowledge, int64, error) {
		got, err := s.cfg.Reader.List(ctx, list)
		if err != nil {
			return nil, 0, err
		}
		if err := s.items.Show(ctx, c, list.AsOf, got.Items...); err != nil {
			return nil, 0, err
		}
		s.items.Record(c, "list", len(got.Items), func(i int) domain.Retrieved {
			return domain.Retrieved{ID: got.Items[i].ID}
		})
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

func (in *Filtering) filter(found *domain.Problems) domain.Filter {
	return domain.Filter{
		Types:        serve.FromStrings[domain.Type](serve.SplitCommas(in.Type)),
		ContextTypes: serve.FromStrings[domain.ContextType](serve.SplitCommas(in.ContextType)),
		Categories:   serve.FromStrings[domain.Category](serve.SplitCommas(in.Category)), Tags: tagsOf(in.Tag),
		Owner: domain.Entity(in.Owner), Scope: domain.Scope(in.Scope),
		Visibility: domain.Visibility(in.Visibility), Polarity: domain.Polarity(in.Polarity),
		URIPrefix: in.URI, IDs: in.ID, IDPrefix: in.IDPrefix, Stale: in.Stale.Read(found, "stale"), TraceID: in.TraceID,
		Statuses:    serve.FromStrings[domain.Status](serve.SplitCommas(in.Status)),
		CreatedFrom: in.CreatedFrom.Read(found, "created_from"), CreatedTo: in.CreatedTo.Read(found, "created_to"),
		UpdatedFrom: in.UpdatedFrom.Read(found, "updated_from"), UpdatedTo: in.UpdatedTo.Read(found, "updated_to"),
		MinConfidence: in.MinConfidence.Read(found, "min_confidence"), Expired: in.Expired.Read(found, "expired"),
		MaxConfidence: in.MaxConfidence.Read(found, "max_confidence"), Contested: in.Contested.Read(found, "contested"),
	}
}

const onlyForNow = "is for the present: leave out as_of"

// onlyNow names the filters that a list of the past cannot have.
func (in *Filtering) onlyNow(found *domain.Problems) {
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
	Filtering
	visible.Waiting
}

// overview counts what a list with the same filters has.
func (s *Server) overview(ctx context.Context, c *serve.Call, in *overviewInput) (*serve.Output[api.Overview], error) {
	filter := in.filter(&c.Found)
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

// tagsOf parses tags of the form key:value; without a colon it is a label.
func tagsOf(input []string) domain.Tags {
	if len(input) == 0 {
		return nil
	}
	tags := domain.Tags{}
	for _, tag := range input {
		key, value := domain.CutTag(tag, ":")
		tags[key] = append(tags[key], value)
	}
	return tags
}
