package operate

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

const rebuildPath = serve.ProjectionPath + "/rebuild"

// Projections are what operations on projections need.
type Projections struct {
	// Rebuilder rebuilds projections. Nil if this server rebuilds none.
	Rebuilder Rebuilder
	// Background manages the projections that follow the log. Nil if there are none.
	Background Background
	// Inline and Proof return the states of projections. Proof is nil if this server proves nothing.
	Inline interface {
		Status(ctx context.Context, tenant string) ([]domain.ProjectionStatus, error)
	}
	Proof interface {
		Status(ctx context.Context, tenant string) (domain.ProjectionStatus, error)
	}

	api *serve.API
}

// Routes registers the operations on versions, rebuilds and quarantine.
func (s Projections) Routes(a *serve.API, _ visible.Events) {
	s.api = a
	s.quarantineRoutes()
	tags := []string{"Operation"}
	refusals := []int{http.StatusNotFound, http.StatusConflict}
	serve.Lookup(s.api, huma.Operation{
		OperationID: "projections", Method: http.MethodGet, Path: "/v1/projections", Tags: []string{"Questions"},
		Summary:     "See how the projections do",
		Description: "Each version with its state, its settings, and how many events it is behind the log.",
	}, s.listVersions)
	serve.Handle(s.api, huma.Operation{
		OperationID: "start-rebuild", Method: http.MethodPost, Path: rebuildPath, Tags: tags,
		Summary: "Compute a projection anew from the log, beside the one that is read",
		Description: "Reading and writing go on. The new version is verified against an independent fold of the log and " +
			"against the active version; only if both agree, but for what the change intends, is it switched to. One rebuild " +
			"runs at a time. With what_if it is built and compared only to see what would change, never read, and thrown " +
			"away. For root.",
		DefaultStatus: http.StatusAccepted, Errors: refusals,
	}, s.startRebuild)
	serve.Lookup(s.api, huma.Operation{
		OperationID: "see-rebuild", Method: http.MethodGet, Path: rebuildPath, Tags: tags,
		Summary:     "See how far the rebuild has come, or what became of the last one",
		Description: "404 if there was none. For root.", Errors: refusals,
	}, serve.Needing(s.requireOperator, s.seeRebuild))
	serve.Lookup(s.api, huma.Operation{
		OperationID: "plan-rebuild", Method: http.MethodGet, Path: rebuildPath + "/plan", Tags: tags,
		Summary: "See what a rebuild would take, without starting it", Description: "For root.", Errors: refusals,
	}, serve.Needing(s.requireOperator, s.planRebuild))
	serve.Lookup(s.api, huma.Operation{
		OperationID: "cancel-rebuild", Method: http.MethodDelete, Path: rebuildPath, Tags: tags,
		Summary: "Give the running rebuild up", Description: "What it has built is dropped. For root.", Errors: refusals,
	}, serve.Needing(s.requireOperator, s.cancelRebuild))
	serve.Lookup(s.api, huma.Operation{
		OperationID: "roll-back", Method: http.MethodPost, Path: serve.ProjectionPath + "/rollback", Tags: tags,
		Summary:     "Read the version again that was active before",
		Description: "Nothing is lost: it was written all the time. Done twice, it is undone. For root.", Errors: refusals,
	}, s.rollBack)
	serve.Lookup(s.api, huma.Operation{
		OperationID: "retire", Method: http.MethodPost, Path: serve.ProjectionPath + "/retire", Tags: tags,
		Summary:     "Stop writing the version that was active before, and drop it",
		Description: "From then on there is no way back to it. For root.", Errors: refusals,
	}, s.retire)
}

type projectionInput struct {
	Name string `path:"name" example:"knowledge" doc:"The projection's name."`
}

// orderInput is what a rebuild is for.
type orderInput struct {
	Name       string `path:"name" example:"knowledge" doc:"The projection's name."`
	Confidence string `query:"confidence" example:"wilson/1" doc:"The confidence policy to compute with; that of the active version if left out."`
}

type startInput struct {
	Name       string        `path:"name" example:"knowledge" doc:"The projection's name."`
	Confidence string        `query:"confidence" example:"wilson/1" doc:"The confidence policy to compute with; that of the active version if left out."`
	WhatIf     serve.Boolean `query:"what_if" doc:"Only see what would change: what is built is never read, and thrown away."`
	Repair     serve.Boolean `query:"repair" doc:"The active version is known to be wrong: how the new one differs from it is reported, and not refused."`
}

func (in *startInput) order(p *domain.Problems) domain.RebuildOrder {
	return domain.RebuildOrder{
		Confidence: in.Confidence, WhatIf: serve.Value(in.WhatIf.Read(p, "what_if")),
		Repair: serve.Value(in.Repair.Read(p, "repair")),
	}
}

type startedOutput struct {
	Location string `header:"Location" doc:"Where to see how far it has come."`
	Body     api.Rebuild
}

// requireOperator refuses callers who are not operators, and requires that this server rebuilds projections.
func (s Projections) requireOperator(c *serve.Call) (Rebuilder, error) {
	switch {
	case !c.Principal.IsOperator():
		return nil, domain.Refuse(domain.ErrForbidden, "rebuilding concerns every tenant: it is for root").
			WithFix("use the server's ANNALS_ROOT_KEY, or a key of the role root; annals rebuild takes it from ANNALS_KEY")
	case s.Rebuilder == nil:
		return nil, domain.Refuse(domain.ErrNotFound, "this server rebuilds nothing")
	}
	return s.Rebuilder, c.Found.Err()
}

func (s Projections) startRebuild(ctx context.Context, c *serve.Call, in *startInput) (*startedOutput, error) {
	order := in.order(&c.Found)
	rebuilder, err := s.requireOperator(c)
	if err != nil {
		return nil, err
	}
	begun, err := rebuilder.Start(ctx, in.Name, order)
	if err != nil {
		return nil, err
	}
	return &startedOutput{Location: "/v1/projections/" + begun.Projection + "/rebuild", Body: rebuildOf(begun)}, nil
}

func (s Projections) seeRebuild(
	ctx context.Context, _ *serve.Call, by Rebuilder, in *projectionInput,
) (api.Rebuild, error) {
	last, err := by.Last(ctx, in.Name)
	return rebuildOf(last), err
}

func (s Projections) planRebuild(
	ctx context.Context, _ *serve.Call, by Rebuilder, in *orderInput,
) (api.RebuildPlan, error) {
	plan, err := by.Plan(ctx, in.Name, domain.RebuildOrder{Confidence: in.Confidence})
	return planOf(plan), err
}

func (s Projections) cancelRebuild(
	ctx context.Context, _ *serve.Call, by Rebuilder, in *projectionInput,
) (api.Rebuild, error) {
	ended, err := by.Cancel(ctx, in.Name)
	return rebuildOf(ended), err
}

func (s Projections) rollBack(ctx context.Context, c *serve.Call, in *projectionInput) (api.Projections, error) {
	return s.thenVersions(ctx, c, in, Rebuilder.Rollback)
}

func (s Projections) retire(ctx context.Context, c *serve.Call, in *projectionInput) (api.Projections, error) {
	return s.thenVersions(ctx, c, in, Rebuilder.Retire)
}

// thenVersions changes a projection and answers with its versions.
func (s Projections) thenVersions(
	ctx context.Context, c *serve.Call, in *projectionInput, do func(Rebuilder, context.Context, string) error,
) (shown api.Projections, err error) {
	rebuilder, err := s.requireOperator(c)
	if err == nil {
		err = do(rebuilder, ctx, in.Name)
	}
	if err != nil {
		return shown, err
	}
	return s.versions(ctx, c, func(p domain.ProjectionStatus) bool { return p.Name == in.Name })
}

// listVersions lists the versions of all projections.
func (s Projections) listVersions(ctx context.Context, c *serve.Call, _ *struct{}) (api.Projections, error) {
	return s.versions(ctx, c, func(domain.ProjectionStatus) bool { return true })
}

// versions lists the versions that wanted accepts.
func (s Projections) versions(
	ctx context.Context, c *serve.Call, wanted func(domain.ProjectionStatus) bool,
) (out api.Projections, err error) {
	all, err := s.Inline.Status(ctx, c.Principal.Tenant)
	if err != nil {
		return out, err
	}
	if s.Proof != nil {
		proof, err := s.Proof.Status(ctx, c.Principal.Tenant)
		if err != nil {
			return out, err
		}
		all = append(all, proof)
	}
	out.Items = []api.Projection{}
	for _, p := range all {
		if !wanted(p) {
			continue
		}
		shown := api.Projection{
			Name: p.Name, Version: p.Version, State: p.State, Inline: p.Inline, WhatIf: p.WhatIf, Position: p.Position,
			Head:      p.Head,
			LagEvents: p.LagEvents, LagSeconds: p.LagSeconds, Ahead: p.Ahead.Seconds(), Settings: p.Settings, Error: p.Error,
			Halted: p.Halted, Holder: p.Holder, ReadAt: serve.Time(p.ReadAt), Quarantined: p.Quarantined, Unindexed: p.Unindexed,
			CreatedAt: serve.Time(p.CreatedAt), UpdatedAt: serve.Time(p.UpdatedAt),
		}
		if c.Principal.IsOperator() { // a report names items of all tenants
			shown.Report = reportOf(p.Report)
		}
		out.Items = append(out.Items, shown)
	}
	return out, nil
}

func rebuildOf(r domain.Rebuild) api.Rebuild {
	shown := api.Rebuild{
		Projection: r.Projection, Active: r.Active, Version: r.Version, State: r.State, WhatIf: r.WhatIf,
		Settings: r.Settings,
		BeganAt:  serve.Time(r.BeganAt), UpdatedAt: serve.Time(r.UpdatedAt), Error: r.Error, Report: reportOf(r.Report),
	}
	if p := r.Progress; p != nil {
		shown.Progress = &api.RebuildProgress{
			Phase: p.Phase, Streams: p.Streams, Total: p.Total, Events: p.Events, Behind: p.Behind, Verified: p.Verified,
			Seconds: seconds(p.Took), Rate: p.Rate, SecondsLeft: seconds(p.Left),
		}
	}
	return shown
}

func reportOf(r *domain.RebuildReport) *api.RebuildReport {
	if r == nil {
		return nil
	}
	shown := &api.RebuildReport{
		Version: r.Version, Against: r.Against, Passed: r.Passed, Items: r.Items, Checksum: r.Checksum,
		Wrong: serve.Strings(r.Wrong), Differing: r.Differing, Unintended: r.Unintended,
		Differences: []api.ItemDifference{}, Intended: serve.Strings(r.Intended), Repair: r.Repair,
	}
	for _, d := range r.Differences {
		shown.Differences = append(shown.Differences, api.ItemDifference(d))
	}
	return shown
}

func planOf(p domain.RebuildPlan) api.RebuildPlan {
	var policies []string
	for _, policy := range domain.ConfidencePolicies() {
		policies = append(policies, policy.Name)
	}
	return api.RebuildPlan{
		Projection: p.Projection, Active: p.Active, Version: p.Version, Settings: p.Settings, Policies: policies,
		Intended: serve.Strings(p.Intended), Streams: p.Streams, Events: p.Events, Bytes: p.Bytes, Need: p.Need,
		Free: p.Free, Seconds: seconds(p.Took),
	}
}

// seconds rounds a duration to 10 ms.
func seconds(d time.Duration) float64 { return d.Round(10 * time.Millisecond).Seconds() }

// Rebuilder rebuilds projections from the log as secondary versions. A name that it does not know gives an error that
// matches domain.ErrNotFound.
type Rebuilder interface {
	// Plan estimates a rebuild.
	Plan(ctx context.Context, name string, order domain.RebuildOrder) (domain.RebuildPlan, error)
	// Start begins a rebuild and returns at once. The error matches domain.ErrConflict if one is running, and is a
	// domain.Invalid if the order names something that does not exist.
	Start(ctx context.Context, name string, order domain.RebuildOrder) (domain.Rebuild, error)
	// Last is the running rebuild or else the last one. The error matches domain.ErrNotFound if there was none.
	Last(ctx context.Context, name string) (domain.Rebuild, error)
	// Cancel cancels the running rebuild and returns its end. The error matches domain.ErrNotFound if none is
	// running.
	Cancel(ctx context.Context, name string) (domain.Rebuild, error)
	// Rollback makes the previous version active again, unless a repair has replaced it. The error matches
	// domain.ErrNotFound if there is none.
	Rollback(ctx context.Context, name string) error
	// Retire deletes the previous version, so that Rollback is not possible any more. The error matches
	// domain.ErrNotFound if there is none.
	Retire(ctx context.Context, name string) error
}
