package reports

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

// Prover proves that the log has events.
type Prover interface {
	// Inclusion proves that the log of a checkpoint contains an event, with or without its text.
	Inclusion(ctx context.Context, tenant string, entry domain.Entry, text bool) (domain.Inclusion, error)
}

func (s reports) knownRoute() {
	schema := s.api.Huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[api.Known](), true, "")
	serve.Handle(s.api, huma.Operation{
		OperationID: "report-on-known", Method: http.MethodGet, Path: reportPath + "known", Tags: []string{"Reports"},
		Summary: "Say what was known about a subject at the end of a day",
		Description: "The items as they were, who could read them then, and what came later, as JSON or " + htmlType + ". " +
			"The HTML page is a file that opens offline, contains the JSON, and always has the proof. " +
			"As for as_of, you see the items that you may see now.",
		Errors: []int{http.StatusBadRequest, http.StatusNotAcceptable, http.StatusServiceUnavailable},
		Responses: map[string]*huma.Response{"200": {Description: "The report", Content: map[string]*huma.MediaType{
			serve.JSONType: {Schema: schema}, htmlType: {Schema: &huma.Schema{Type: huma.TypeString}},
		}}},
	}, s.known)
}

type knownInput struct {
	About    string        `query:"about" required:"true" example:"kafka" doc:"The subject, in words. It is searched for as of that day."`
	On       string        `query:"on" required:"true" example:"2026-03-03" doc:"The day: a date, today or yesterday. Its end counts; of today: now."`
	Zone     string        `query:"zone" example:"Europe/Berlin" doc:"Whose day it is: the name of a time zone, or an offset such as +01:00. Default: UTC."`
	Limit    serve.Integer `query:"limit" doc:"At most so many items: 1 to 100. Default: 20."`
	Proof    serve.Boolean `query:"proof" doc:"true: also in JSON, prove the events of the items up to then, for auditors and admins with their texts."`
	Language string        `query:"language" enum:"en,zh" default:"en" doc:"Of the words around the items, unless it is JSON."`
}

// knowing is a report in progress.
type knowing struct {
	of   reports
	c    *serve.Call
	at   domain.AsOf
	out  api.Known
	then []domain.Event // of the items, up to then
}

const (
	mostKnown   = 100 // items, and items that were erased since
	mostReaders = 500 // of a scope
	mostProven  = 2000
)

// known says what was known at the end of a day, as JSON or as HTML.
func (s reports) known(ctx context.Context, c *serve.Call, in *knownInput) (*serve.Streamed, error) {
	format, err := c.Accepts(serve.JSONType, htmlType)
	if err != nil {
		return nil, err
	}
	k := knowing{of: s, c: c, out: api.Known{
		About: strings.TrimSpace(in.About), MadeAt: c.Now.UTC(), MadeFor: string(c.Principal.EffectiveSubject()),
		Links: s.links,
		Items: []api.KnownItem{}, Erased: []api.KnownErased{}, Readers: []api.KnownScope{}, Names: map[string]string{},
	}}
	if strings.HasPrefix(s.links, "/") {
		k.out.Links = serve.AddressOf(c.Request) + s.links
	}
	k.out.Until = k.day(in)
	question := domain.Search{
		By: c.Principal, Text: k.out.About, Limit: int(in.Limit.Read(&c.Found, "limit", 1, mostKnown)), Copies: true,
		Everyone: true,
	}
	question.Limit = cmp.Or(question.Limit, 20)
	proven := format == htmlType || serve.Value(in.Proof.Read(&c.Found, "proof"))
	question, err = question.Complete()
	if err := serve.Merge(c.Found, serve.Renamed(err, map[string]string{"query": "about"})); err != nil {
		return nil, err
	}
	k.at, err = s.events.Resolve(ctx, c, domain.AsOf{Time: k.out.Until})
	if err != nil {
		return nil, serve.Renamed(err, map[string]string{"as_of": "on"})
	}
	question.AsOf, question.AsOfTime, k.out.Position = k.at.Position, k.at.Time, k.at.Position
	for _, read := range []func(context.Context) error{
		func(ctx context.Context) error { return k.find(ctx, question) }, k.findErased, k.title, k.readers, k.name,
	} {
		if err := read(ctx); err != nil {
			return nil, err
		}
	}
	if proven && s.prover != nil {
		if err := k.prove(ctx); err != nil {
			return nil, err
		}
	}
	if format == serve.JSONType {
		return serve.JSON(k.out), nil
	}
	return &serve.Streamed{Body: func(to huma.Context) {
		to.SetHeader("Content-Type", format+"; charset=utf-8")
		to.SetStatus(http.StatusOK)
		_, _ = io.WriteString(to.BodyWriter(), k.out.HTML(in.Language)) // the caller left
	}}, nil
}

// day is the end of the day, or now. It notes what is no day.
func (k *knowing) day(in *knownInput) time.Time {
	zone, err := api.ParseZone(in.Zone)
	if err != nil {
		k.c.Found.Add("zone", "must be a time zone such as Europe/Berlin, or an offset such as +01:00")
		return time.Time{}
	}
	day, isDate, err := domain.ParseTime(in.On, k.c.Now.In(zone))
	switch {
	case err != nil || !isDate:
		k.c.Found.Add("on", "must be a date such as 2026-03-03")
	case day.After(k.c.Now):
		k.c.Found.Add("on", "lies in the future")
	}
	k.out.On, k.out.Zone = day.Format(time.DateOnly), zone.String()
	end := day.AddDate(0, 0, 1).Add(-time.Microsecond)
	if end.After(k.c.Now) {
		end = k.c.Now
	}
	return end.UTC()
}

// find searches as of then.
func (k *knowing) find(ctx context.Context, question domain.Search) error {
	found, err := k.of.reader.Search(ctx, question)
	if err != nil {
		return err
	}
	items := serve.Map(found.Hits, func(h domain.Found) *domain.Knowledge { return h.Knowledge })
	if err := k.of.events.Items.Hide(ctx, k.c, items...); err != nil {
		return err
	}
	for _, hit := range found.Hits {
		item := api.KnownItem{
			Knowledge: serve.KnowledgeOf(hit.Knowledge), Title: domain.TitleOf(hit.Knowledge), Band: string(hit.Band),
		}
		if item.Later, err = k.follow(ctx, hit.ID); err != nil {
			return err
		}
		if item.Disputed, err = k.disputes(ctx, hit.ID); err != nil {
			return err
		}
		k.out.Items = append(k.out.Items, item)
	}
	return nil
}

// findErased finds the items of then that were erased since.
func (k *knowing) findErased(ctx context.Context) error {
	page, err := k.of.reader.List(ctx, domain.List{
		By: k.c.Principal, Filter: domain.Filter{Statuses: []domain.Status{domain.IsErased}}, Limit: mostKnown,
		AsOf: k.at.Position, AsOfTime: k.at.Time,
	})
	if err != nil {
		return err
	}
	for _, item := range page.Items {
		before := len(k.then)
		later, err := k.follow(ctx, item.ID)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(later, func(step api.KnownStep) bool { return step.What == "erased" }) {
			k.then = k.then[:before] // it was erased by then
			continue
		}
		k.out.Erased = append(k.out.Erased, api.KnownErased{
			ID: item.ID, Owner: string(item.Owner), Scopes: serve.Strings(item.Scopes), CreatedAt: serve.Time(item.CreatedAt),
			Later: later,
		})
	}
	return nil
}

// follow reads the history of an item: the events up to then, and what came later.
func (k *knowing) follow(ctx context.Context, id string) ([]api.KnownStep, error) {
	events, err := k.of.events.Log.Stream(ctx, k.c.Principal.Tenant, domain.KnowledgeStream(id))
	if err != nil {
		return nil, err
	}
	then, _ := slices.BinarySearchFunc(events, k.at.Position+1, func(e domain.Event, position int64) int {
		return cmp.Compare(e.Position, position)
	})
	k.then = append(k.then, events[:then]...)
	later, err := k.of.events.Hide(ctx, k.c, nil, events[then:]...)
	steps := []api.KnownStep{}
	votes := map[string]int{}
	for _, e := range later {
		step := stepOf(e)
		switch step.What {
		case "found_helpful", "found_harmful", "feedback_retracted":
			if at, counted := votes[step.What]; counted {
				steps[at].At, steps[at].Position, steps[at].By = step.At, step.Position, ""
				steps[at].Count = max(1, steps[at].Count) + 1
				continue
			}
			votes[step.What] = len(steps)
		}
		steps = append(steps, step)
	}
	slices.SortStableFunc(steps, func(a, b api.KnownStep) int { return cmp.Compare(a.Position, b.Position) })
	return steps, err
}

func stepOf(e domain.Event) api.KnownStep {
	_, what, _ := strings.Cut(e.Name, ".")
	step := api.KnownStep{
		What: what, At: e.RecordedAt.UTC(), By: string(cmp.Or(e.OnBehalfOf, e.Actor)), Reason: serve.EventOf(e).Reason,
		Position: e.Position,
	}
	switch f := e.Fact.(type) {
	case domain.Rescoped:
		step.To = serve.Strings(f.Scopes)
	case domain.Transferred:
		step.To = []string{string(f.Owner)}
	case domain.Erased:
		step.Reason = f.ReasonCode
	case domain.Confirmed:
		step.Until = serve.Time(f.Until)
	case domain.Superseded:
		step.Other = &api.DigestOther{ID: f.By}
	}
	return step
}

// disputes are the open proposals that say that an item contradicts others.
func (k *knowing) disputes(ctx context.Context, id string) ([]api.KnownStep, error) {
	steps, tenant := []api.KnownStep{}, k.c.Principal.Tenant
	today, err := k.of.events.Items.Find(ctx, k.c, id)
	if err == nil {
		err = k.of.events.Items.Reader.Dispute(ctx, k.c.Principal, today)
	}
	if err != nil || len(today.DisputedBy) == 0 {
		return steps, err
	}
	open, err := k.of.reporter.OpenProposals(ctx, tenant, append(today.DisputedBy, id))
	for _, proposal := range open {
		events, err := k.of.events.Log.Stream(ctx, tenant, domain.ProposalStreams.Of(proposal))
		if err != nil || len(events) == 0 {
			return steps, err
		}
		proposed, _ := events[0].Fact.(domain.ReviewProposed)
		if proposed.Kind != domain.Contradiction || !slices.Contains(proposed.Items, id) {
			continue
		}
		for _, other := range proposed.Items {
			if other != id {
				step := stepOf(events[0])
				step.What, step.Other = "disputed", &api.DigestOther{ID: other}
				steps = append(steps, step)
			}
		}
	}
	return steps, err
}

// steps are all steps of all items.
func (k *knowing) steps() (all []*api.KnownStep) {
	add := func(steps []api.KnownStep) {
		for i := range steps {
			all = append(all, &steps[i])
		}
	}
	for _, item := range k.out.Items {
		add(item.Disputed)
		add(item.Later)
	}
	for _, item := range k.out.Erased {
		add(item.Later)
	}
	return all
}

// title adds the titles of the other items that steps name, and removes those that the caller may not read.
func (k *knowing) title(ctx context.Context) error {
	var ids []string
	for _, step := range k.steps() {
		if step.Other != nil {
			ids = append(ids, step.Other.ID)
		}
	}
	others, err := k.of.events.Items.Reader.Items(ctx, k.c.Principal.Tenant, ids)
	for _, step := range k.steps() {
		if step.Other == nil {
			continue
		}
		if other := others[step.Other.ID]; other != nil && k.c.Principal.MaySee(other) && domain.Gone(other) == nil {
			step.Other.Title = domain.TitleOf(other)
		} else {
			step.Other = nil
		}
	}
	return err
}

// readers adds who could read the scopes of the items then.
func (k *knowing) readers(ctx context.Context) error {
	state, err := k.of.accessAt(ctx, k.c.Principal.Tenant, k.at.Position)
	if err != nil {
		return err
	}
	var scopes []string
	for _, item := range k.out.Items {
		scopes = append(append(scopes, item.Knowledge.Owner), item.Knowledge.Scopes...)
	}
	for _, item := range k.out.Erased {
		scopes = append(append(scopes, item.Owner), item.Scopes...)
	}
	slices.Sort(scopes)
	for _, scope := range slices.Compact(scopes) {
		of := domain.Scope(scope)
		one := api.KnownScope{Scope: scope, Readers: []api.ScopeReader{}}
		if k.c.Principal.SeesAll() || slices.Contains(k.c.Principal.Maintains, of.Entity()) {
			all := state.ReadersOf(of, k.at.Time)
			one.Total, one.Readers = len(all), serve.Map(all[:min(len(all), mostReaders)], scopeReaderOf)
		} else {
			one.Hidden = true
		}
		k.out.Readers = append(k.out.Readers, one)
	}
	return nil
}

// name adds the names of everyone that the report names.
func (k *knowing) name(ctx context.Context) error {
	named := []string{k.out.MadeFor}
	for _, step := range k.steps() {
		named = append(append(named, step.By), step.To...)
	}
	for _, scope := range k.out.Readers {
		named = append(named, scope.Scope)
		for _, reader := range scope.Readers {
			named = append(append(named, reader.Subject), reader.Through...)
		}
	}
	slices.Sort(named)
	var members []domain.DirectoryMember
	for _, name := range slices.Compact(named) {
		if strings.Contains(name, ":") {
			members = append(members, domain.DirectoryMember{MemberEntry: domain.MemberEntry{Member: domain.Entity(name)}})
		}
	}
	if k.of.names == nil {
		return nil
	}
	err := k.of.names.Name(ctx, k.c.Principal.Tenant, members)
	for _, m := range members {
		if m.DisplayName != "" {
			k.out.Names[string(m.Member)] = m.DisplayName
		}
	}
	return err
}

// prove adds the proofs of the events. Only callers who may export the log get the texts with their salts, and others
// no record that refers to what they may not see.
func (k *knowing) prove(ctx context.Context) error {
	if len(k.then) > mostProven {
		k.c.Found.Add("limit", "is too large: the items have %d events, and at most %d can be proven at once", len(k.then),
			mostProven)
		return k.c.Found.Err()
	}
	slices.SortFunc(k.then, func(a, b domain.Event) int { return cmp.Compare(a.Position, b.Position) })
	for _, e := range k.then {
		made, err := k.of.prover.Inclusion(ctx, k.c.Principal.Tenant, domain.Entry{
			EventID: e.EventID, Stream: e.Stream, Position: e.Position, Hash: e.Hash,
		}, k.c.Principal.SeesAll())
		if err == nil && !k.c.Principal.SeesAll() {
			var hides bool
			if hides, err = k.of.events.Hides(ctx, k.c, e); hides {
				made.Record = nil
			}
		}
		if err != nil {
			return err
		}
		k.out.Proofs = append(k.out.Proofs, serve.InclusionOf(made))
	}
	return nil
}
