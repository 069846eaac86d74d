package contain

import (
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

// Containments answers questions about containments, and makes the commands for them.
type Containments interface {
	// Preview finds what a containment would do.
	Preview(ctx context.Context, by domain.Principal, t domain.Tainting) (domain.ContainmentEffect, error)
	// Without is the knowledge as if the source had never written: the most trusted items that a principal may see, and
	// how many it would see.
	Without(ctx context.Context, by domain.Principal, t domain.Tainting, most int) (
		best []*domain.Knowledge, active int, err error)
	List(ctx context.Context, tenant string) ([]domain.RecordedContainment, error)
	Find(ctx context.Context, tenant, id string) (domain.RecordedContainment, error)
	// EachEffect passes on the events of a containment's transaction, in their order, until yield returns false.
	EachEffect(ctx context.Context, tenant string, r domain.RecordedContainment, yield func(domain.Event) bool) error
	// Undo are the commands that undo a containment.
	Undo(ctx context.Context, by domain.Principal, r domain.RecordedContainment, reason string) (
		first domain.UndoContainment, then []domain.Command, err error)
	// Release are the commands that readmit some items of a containment.
	Release(ctx context.Context, by domain.Principal, r domain.RecordedContainment, ids []string, reason string) (
		first domain.Readmit, then []domain.Command, err error)
}

// Room is the operations on containments, which may be nil.
type Room struct{ Containments Containments }

const (
	path = "/v1/containments"
	one  = path + "/{id}"
)

type containments struct {
	Room
	items visible.Items
}

// Routes registers the operations.
func (r Room) Routes(a *serve.API, events visible.Events) {
	s := containments{r, events.Items}
	a = a.Requiring(r.Containments, "this server keeps no containments")
	tags := a.Tags("Containments", "Withhold what a source wrote and what was made of it, and undo that.")
	serve.HandleBody(a, true, huma.Operation{
		OperationID: "preview-containment", Method: http.MethodPost, Path: path + "/preview", Tags: tags,
		Summary: "Show what a containment would do",
		Description: "Nothing changes. What is affected: what was named or written, what was made of that, what it was " +
			"merged into, and copies, and so on from each of them.",
		Errors: []int{http.StatusForbidden, http.StatusNotFound},
	}, s.preview)
	serve.HandleBody(a, true, huma.Operation{
		OperationID: "contain", Method: http.MethodPost, Path: path, Tags: tags, DefaultStatus: http.StatusCreated,
		Summary: "Quarantine all that is affected",
		Description: "Admins contain everything, maintainers of groups the items that are meant for these. All of it " +
			"happens, or nothing. No answer to a reader has the items any more.",
		Errors: []int{http.StatusConflict, http.StatusForbidden, http.StatusNotFound},
	}, s.apply)
	serve.Lookup(a, huma.Operation{
		OperationID: "list-containments", Method: http.MethodGet, Path: path, Tags: tags,
		Summary: "List the containments", Description: "Admins and auditors see all, maintainers those of their groups.",
		Errors: []int{http.StatusForbidden},
	}, s.list)
	serve.Lookup(a, huma.Operation{
		OperationID: "find-containment", Method: http.MethodGet, Path: one, Tags: tags,
		Summary: "Read a containment", Description: "With the first of its items that you may see.",
		Errors: []int{http.StatusForbidden, http.StatusNotFound},
	}, s.find)
	serve.HandleBody(a, false, huma.Operation{
		OperationID: "undo-containment", Method: http.MethodPost, Path: one + "/undo", Tags: tags,
		Summary: "Undo a containment",
		Description: "Its items are as before, and its votes count again, except what was released, superseded or erased " +
			"since. You must be a steward of all of the items.",
		Errors: []int{http.StatusConflict, http.StatusForbidden, http.StatusNotFound},
	}, s.undo)
	serve.HandleBody(a, true, huma.Operation{
		OperationID: "release-contained", Method: http.MethodPost, Path: one + "/release", Tags: tags,
		Summary: "Release items of a containment", Description: "For false alarms. All of the items are released, or none.",
		Errors: []int{http.StatusConflict, http.StatusForbidden, http.StatusNotFound},
	}, s.release)
}

// tainting reads what a containment begins with, and refuses callers that may contain nothing.
func tainting(c *serve.Call, in api.Tainted) (domain.Tainting, error) {
	t := domain.Tainting{
		Items: in.Items, Actor: domain.Entity(in.Actor), Source: in.Source, Session: in.Session,
		Since: serve.Moment(in.Since).Read(&c.Found, "since"),
	}
	if err := serve.Merge(c.Found, t.Validate()); err != nil {
		return t, err
	}
	if t.Session != "" && !strings.Contains(t.Session, "/") {
		t.Session = c.Principal.EffectiveSubject().ID() + "/" + t.Session
	}
	return t, c.Principal.CheckContains()
}

// patient is the context of an operation that may take longer than the time limit of requests: it reads the log, and
// may write of a hundred thousand items. The answer may come that late, too.
func patient(ctx context.Context, c *serve.Call) (context.Context, context.CancelFunc) {
	const patience, answer = 10 * time.Minute, time.Minute
	control := http.NewResponseController(c.Response)
	_ = control.SetWriteDeadline(time.Now().Add(patience + answer)) // not every writer has deadlines
	return context.WithTimeout(context.WithoutCancel(ctx), patience)
}

// mostShown limits the items of a sample.
const mostShown = 50

func (s containments) preview(
	ctx context.Context, c *serve.Call, _ *struct{}, in api.Tainted,
) (*serve.Output[api.ContainmentPreview], error) {
	t, err := tainting(c, in)
	if err != nil {
		return nil, err
	}
	ctx, cancel := patient(ctx, c)
	defer cancel()
	e, err := s.Containments.Preview(ctx, c.Principal, t)
	if err != nil {
		return nil, err
	}
	out := api.ContainmentPreview{
		Items: len(e.Items), Others: e.Others, Already: e.Already, Why: map[string]int{}, Scopes: scopesOf(e.Scopes),
		Votes: e.Discounted(), Revived: len(e.Revived), Digest: e.Digest, Told: serve.Strings(e.Told),
	}
	if e.Answers >= 0 {
		out.Answers = &e.Answers
	}
	var ids []string
	for _, i := range e.Items {
		out.Why[i.Why]++
		if len(ids) < mostShown {
			ids = append(ids, i.ID)
		}
	}
	if out.Sample, err = s.sample(ctx, c, ids); err != nil {
		return nil, err
	}
	for i := range out.Sample {
		for _, affected := range e.Items[:len(ids)] {
			if affected.ID == out.Sample[i].ID {
				out.Sample[i].Why = affected.Why
			}
		}
	}
	if in.WhatIf {
		out.WhatIf, err = s.whatIf(ctx, c, t)
	}
	return &serve.Output[api.ContainmentPreview]{Body: out}, err
}

// sample shows some items that the caller may see, in the order of their ids.
func (s containments) sample(ctx context.Context, c *serve.Call, ids []string) ([]api.ContainedItem, error) {
	found, err := s.items.Reader.Items(ctx, c.Principal.Tenant, ids)
	shown := []api.ContainedItem{}
	for _, id := range ids {
		if k := found[id]; k != nil && c.Principal.MaySee(k) {
			shown = append(shown, api.ContainedItem{
				ID: id, Title: domain.TitleOf(k), Owner: string(k.Owner), Status: string(k.Status),
			})
		}
	}
	return shown, err
}

func scopesOf(scopes []domain.ContainedScope) []api.ContainedScope {
	return serve.Map(scopes, func(s domain.ContainedScope) api.ContainedScope {
		return api.ContainedScope{Scope: string(s.Scope), Items: s.Items}
	})
}

func (s containments) whatIf(ctx context.Context, c *serve.Call, t domain.Tainting) (*api.WhatIf, error) {
	const most = 20
	best, without, err := s.Containments.Without(ctx, c.Principal, t, most)
	if err != nil {
		return nil, err
	}
	out := &api.WhatIf{Without: without, Best: []api.WhatIfItem{}}
	for _, k := range best {
		out.Best = append(out.Best, api.WhatIfItem{
			ID: k.ID, Title: domain.TitleOf(k), Confidence: k.Confidence, Helpful: k.Helpful, Harmful: k.Harmful,
		})
	}
	_, out.Active, err = s.Containments.Without(ctx, c.Principal, domain.Tainting{}, 0)
	return out, err
}

func (s containments) apply(
	ctx context.Context, c *serve.Call, _ *struct{}, in api.NewContainment,
) (*serve.Written[api.Containment], error) {
	t, err := tainting(c, in.Tainted)
	if err != nil {
		return nil, err
	}
	ctx, cancel := patient(ctx, c)
	defer cancel()
	e, err := s.Containments.Preview(ctx, c.Principal, t)
	switch {
	case err != nil:
		return nil, err
	case in.Digest != "" && in.Digest != e.Digest:
		return nil, domain.Refuse(domain.ErrConflict, "something else is affected than you saw").WithFix("look again")
	case len(e.Items)+len(e.Votes) == 0:
		return nil, domain.Refuse(domain.ErrConflict, "nothing is affected that you may contain")
	}
	id := strings.ToLower(rand.Text()[:12])
	first, then := e.Commands(c.Principal, id, t, in.Reason)
	done, err := c.Do(ctx, first, then...)
	if err != nil {
		return nil, err
	}
	found, err := s.Containments.Find(ctx, c.Principal.Tenant, domain.ContainmentStreams.ID(done.Stream.Name))
	return serve.WrittenOf(done, containmentOf(c.Principal, found), err)
}

// maySee tells whether a principal may see a containment: it sees all, or maintains one of its scopes.
func maySee(p domain.Principal, r domain.RecordedContainment) bool {
	return p.SeesAll() || len(shownScopes(p, r)) > 0
}

// shownScopes are the scopes of a containment that a principal may know of.
func shownScopes(p domain.Principal, r domain.RecordedContainment) (shown []domain.ContainedScope) {
	for _, s := range r.Applied.Scopes {
		if p.SeesAll() || slices.Contains(p.Maintains, s.Scope.Entity()) {
			shown = append(shown, s)
		}
	}
	return shown
}

func containmentOf(p domain.Principal, r domain.RecordedContainment) api.Containment {
	out := api.Containment{
		ID: r.ID, By: string(r.By), At: r.At, Reason: r.Applied.Reason, Named: r.Applied.Named,
		Actor:  string(r.Applied.Actor),
		Source: r.Applied.Source, Session: r.Applied.Session, Since: serve.Time(r.Applied.Since), Items: r.Items,
		Votes: r.Votes, Revived: r.Revived, Scopes: scopesOf(shownScopes(p, r)), UndoneBy: string(r.UndoneBy),
		UndoneAt: serve.Time(r.UndoneAt),
	}
	return out
}

func (s containments) list(ctx context.Context, c *serve.Call, _ *struct{}) (api.Containments, error) {
	out := api.Containments{Items: []api.Containment{}}
	if !c.Principal.SeesAll() {
		if err := c.Principal.CheckContains(); err != nil {
			return out, err
		}
	}
	all, err := s.Containments.List(ctx, c.Principal.Tenant)
	for _, r := range all {
		if maySee(c.Principal, r) {
			out.Items = append(out.Items, containmentOf(c.Principal, r))
		}
	}
	return out, err
}

type idInput struct {
	ID string `path:"id" doc:"The id of a containment."`
}

// recorded finds a containment that the caller may see.
func (s containments) recorded(ctx context.Context, c *serve.Call, id string) (domain.RecordedContainment, error) {
	found, err := s.Containments.Find(ctx, c.Principal.Tenant, id)
	if err == nil && !maySee(c.Principal, found) {
		err = domain.NoSuchContainment(id)
	}
	return found, err
}

func (s containments) find(ctx context.Context, c *serve.Call, in *idInput) (api.Containment, error) {
	found, err := s.recorded(ctx, c, in.ID)
	if err != nil {
		return api.Containment{}, err
	}
	out := containmentOf(c.Principal, found)
	var ids []string
	err = s.Containments.EachEffect(ctx, c.Principal.Tenant, found, func(e domain.Event) bool {
		if id, _ := domain.ItemOf(e.Stream); e.Name == (domain.ItemQuarantined{}).Name() {
			ids = append(ids, id)
		}
		return len(ids) < mostShown
	})
	if err == nil {
		out.Sample, err = s.sample(ctx, c, ids)
	}
	return out, err
}

func (s containments) undo(
	ctx context.Context, c *serve.Call, in *idInput, body api.UndoContainment,
) (*serve.Written[api.Containment], error) {
	found, err := s.recorded(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	ctx, cancel := patient(ctx, c)
	defer cancel()
	first, then, err := s.Containments.Undo(ctx, c.Principal, found, body.Reason)
	if err != nil {
		return nil, err
	}
	done, err := c.Do(ctx, first, then...)
	if err != nil {
		return nil, err
	}
	found, err = s.Containments.Find(ctx, c.Principal.Tenant, in.ID)
	return serve.WrittenOf(done, containmentOf(c.Principal, found), err)
}

func (s containments) release(
	ctx context.Context, c *serve.Call, in *idInput, body api.ReleaseItems,
) (*serve.Written[api.Containment], error) {
	found, err := s.recorded(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	first, then, err := s.Containments.Release(ctx, c.Principal, found, body.Items, body.Reason)
	if err != nil {
		return nil, err
	}
	done, err := c.Do(ctx, first, then...)
	if err != nil {
		return nil, err
	}
	return serve.WrittenOf(done, containmentOf(c.Principal, found), nil)
}
