package reports

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

func (s reports) digestRoute() {
	schema := s.api.Huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[api.Digest](), true, "")
	serve.Handle(s.api.Requiring(s.digests, "this server keeps no subscriptions"), huma.Operation{
		OperationID: "digest", Method: http.MethodGet, Path: reportPath + "digest", Tags: []string{"Reports"},
		Summary: "Sum up what happened in a scope",
		Description: "What is new, changed, doubted, superseded, deleted, helpful, and contested or waiting for a review " +
			"now, as JSON, " + markdownType + " or " + htmlType + ". What is forgotten now is below deleted only. " +
			"With weeks, the digest also counts what was learnt, confirmed and found wrong, week by week. " +
			"You see what you may read. At most 20,000 events are counted.",
		Errors: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusNotAcceptable},
		Responses: map[string]*huma.Response{"200": {Description: "The digest", Content: map[string]*huma.MediaType{
			serve.JSONType: {Schema: schema}, markdownType: {Schema: &huma.Schema{Type: huma.TypeString}},
			htmlType: {Schema: &huma.Schema{Type: huma.TypeString}},
		}}},
	}, s.digest)
}

type digestInput struct {
	Scope string       `query:"scope" required:"true" example:"team:pay" doc:"A scope such as team:pay or public."`
	Since serve.Moment `query:"since" doc:"Recorded at or after this time or date. Default: seven days ago."`
	Until serve.Moment `query:"until" doc:"Recorded before it. Default: now."`

	Weeks    serve.Integer `query:"weeks" doc:"Also count so many weeks before until: 1 to 53."`
	Language string        `query:"language" enum:"en,zh" default:"en" doc:"Of the words around the items, unless it is JSON."`
}

const (
	markdownType = "text/markdown"
	htmlType     = "text/html"
)

// digest sums up what happened in a scope, as JSON, as Markdown or as HTML.
func (s reports) digest(ctx context.Context, c *serve.Call, in *digestInput) (*serve.Streamed, error) {
	const usual = 7 * 24 * time.Hour
	format, err := c.Accepts(serve.JSONType, markdownType, htmlType)
	if err != nil {
		return nil, err
	}
	q := domain.DigestQuery{By: c.Principal, Scope: domain.Scope(in.Scope)}
	if _, err := domain.ParseScope(in.Scope); err != nil {
		c.Found.Add("scope", "%s", err)
	}
	q.From, q.To = serve.Between(&c.Found, "since", in.Since, "until", in.Until)
	weeks := int(in.Weeks.Read(&c.Found, "weeks", 1, 53))
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	if q.To.IsZero() {
		q.To = c.Now
	}
	if q.From.IsZero() {
		q.From = q.To.Add(-usual)
	}
	found, err := s.digests.Digest(ctx, q)
	if err != nil {
		return nil, err
	}
	reviews := domain.ReviewQuery{Tenant: c.Principal.Tenant, Scope: q.Scope, Limit: domain.MostDigested}
	if !c.Principal.SeesAll() {
		reviews.Only = &c.Principal
	}
	waiting, err := s.reporter.Review(ctx, reviews)
	if err != nil {
		return nil, err
	}
	if err := s.events.Items.Verify(ctx, c, serve.Map(waiting.Items, func(r domain.Review) *domain.Knowledge {
		return r.Item
	})...); err != nil {
		return nil, err
	}
	filter := domain.Filter{Scope: q.Scope, Contested: new(true)}
	list := domain.List{By: c.Principal, Filter: filter, Limit: domain.MostDigested}
	contested, err := s.reader.List(ctx, list)
	if err != nil {
		return nil, err
	}
	counts, err := s.items.Count(ctx, c.Principal, filter)
	if err != nil {
		return nil, err
	}
	if err := s.events.Items.Verify(ctx, c, contested.Items...); err != nil {
		return nil, err
	}
	out := digestOf(q, found, waiting)
	out.Links, out.Contested.Total = s.links, counts.Items
	for _, k := range contested.Items {
		out.Contested.Items = append(out.Contested.Items, itemOf(k, k.Harmful+k.Stale.Reporters))
	}
	if err := s.complete(ctx, c, &out); err != nil {
		return nil, err
	}
	if weeks > 0 {
		since := domain.ReportQuery{Tenant: reviews.Tenant, Only: reviews.Only, Scope: q.Scope, To: q.To}
		counted, err := s.reporter.Weeks(ctx, since, weeks)
		if err != nil {
			return nil, err
		}
		out.Weeks = serve.Map(counted, func(w domain.Week) api.DigestWeek {
			return api.DigestWeek{Since: w.Since.UTC(), Learnt: w.Learnt, Confirmed: w.Confirmed, Wrong: w.Wrong}
		})
	}
	text := out.Markdown
	switch format {
	case serve.JSONType:
		return serve.JSON(out), nil
	case htmlType:
		text = out.HTML
	}
	return &serve.Streamed{Body: func(to huma.Context) {
		to.SetHeader("Content-Type", format+"; charset=utf-8")
		to.SetStatus(http.StatusOK)
		_, _ = io.WriteString(to.BodyWriter(), text(in.Language)) // the caller left
	}}, nil
}

// itemOf is an item of a digest with its owner and those that contradict it.
func itemOf(k *domain.Knowledge, count int) api.DigestItem {
	return api.DigestItem{
		ID: k.ID, Title: domain.TitleOf(k), Count: count, Who: string(k.Owner),
		Others: serve.Map(k.DisputedBy, func(id string) api.DigestOther { return api.DigestOther{ID: id} }),
	}
}

// complete adds to a digest the names of people and of the scope, and the titles of other items.
func (s reports) complete(ctx context.Context, c *serve.Call, d *api.Digest) error {
	var people []domain.DirectoryMember
	var named []*api.DigestItem
	for _, section := range d.Sections() {
		for i := range section.Items {
			item := &section.Items[i]
			named = append(named, item)
			people = append(people, domain.DirectoryMember{MemberEntry: domain.MemberEntry{Member: domain.Entity(item.Who)}})
			if item.By != "" {
				item.Others = []api.DigestOther{{ID: item.By}}
			}
			var readable []api.DigestOther
			for _, other := range item.Others {
				k, err := s.events.Items.Find(ctx, c, other.ID)
				if err != nil && item.By == other.ID {
					item.By = ""
				}
				if err == nil && domain.Gone(k) == nil {
					readable = append(readable, api.DigestOther{ID: k.ID, Title: domain.TitleOf(k)})
				} else if err != nil && !errors.Is(err, domain.ErrNotFound) {
					return err
				}
			}
			item.Others = readable
		}
	}
	if s.names == nil {
		return nil
	}
	people = append(people, domain.DirectoryMember{MemberEntry: domain.MemberEntry{Member: domain.Entity(d.Scope)}})
	err := s.names.Name(ctx, c.Principal.Tenant, people)
	for i, item := range named {
		item.Name = people[i].DisplayName
	}
	d.Name = people[len(named)].DisplayName
	return err
}

func digestOf(q domain.DigestQuery, d domain.ScopeDigest, waiting domain.ReviewPage) api.Digest {
	section := func(name string) api.DigestSection {
		of := d.Sections[name]
		return api.DigestSection{Total: of.Total, Items: serve.Map(of.Items, func(i domain.DigestItem) api.DigestItem {
			return api.DigestItem{
				ID: i.ID, Title: i.Title, Count: i.Count, Last: serve.Time(i.Last), By: i.By, Who: string(i.Who),
			}
		})}
	}
	out := api.Digest{
		Scope: string(q.Scope), Since: q.From.UTC(), Until: q.To.UTC(), Events: d.Events, More: d.More,
		New: section(domain.DigestNew), Changed: section(domain.DigestChanged), Doubted: section(domain.DigestDoubted),
		Contested:  api.DigestSection{Items: []api.DigestItem{}},
		Superseded: section(domain.DigestSuperseded), Deleted: section(domain.DigestDeleted),
		Helpful: section(domain.DigestHelpful),
		Waiting: api.DigestSection{Total: waiting.Total, Items: []api.DigestItem{}},
	}
	for _, r := range waiting.Items {
		item := itemOf(r.Item, len(r.Reasons))
		if len(r.Reasons) > 0 {
			item.Last = serve.Time(r.Reasons[0].Since)
		}
		out.Waiting.Items = append(out.Waiting.Items, item)
	}
	return out
}
