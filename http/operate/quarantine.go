package operate

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

const quarantinePath = serve.ProjectionPath + "/quarantine"

// quarantineRoutes registers the operations on quarantined streams.
func (s Projections) quarantineRoutes() {
	tags := []string{"Operation"}
	refusals := []int{http.StatusNotFound, http.StatusConflict}
	serve.Lookup(s.api, huma.Operation{
		OperationID: "see-quarantine", Method: http.MethodGet, Path: quarantinePath, Tags: tags,
		Summary: "See which streams a background projection passes over, and why",
		Description: "An event that it could not take in, though nothing was down, puts its stream here; all other streams " +
			"go on. The events wait in the log. For admins.",
		Errors: refusals,
	}, serve.Needing(s.requireAdmin, s.seeQuarantine))
	serve.Lookup(s.api, huma.Operation{
		OperationID: "replay-quarantine", Method: http.MethodPost, Path: quarantinePath + "/replay", Tags: tags,
		Summary: "Let a projection take in what waits, in order",
		Description: "A stream that was taken in whole is released. What fails again stays, with the newest reason. For " +
			"admins.",
		Errors: refusals,
	}, serve.Needing(s.requireAdmin, s.replayQuarantine))
	serve.Handle(s.api, huma.Operation{
		OperationID: "skip-quarantine", Method: http.MethodPost, Path: quarantinePath + "/skip", Tags: tags,
		Summary:     "Forget what waits: the projection never takes it in",
		Description: "What comes later is taken in again. Name a stream, or all. The log keeps everything. For admins.",
		Errors:      refusals,
	}, s.skipQuarantine)
	serve.Lookup(s.api, huma.Operation{
		OperationID: "replay", Method: http.MethodPost, Path: serve.ProjectionPath + "/replay", Tags: tags,
		Summary: "Let a background projection read the log again from its beginning",
		Description: "After the log was restored to an earlier state without it, for example. Until it has caught up, " +
			"answers are as they were. Vectors are kept by the hash of their text: no model is asked twice. For admins.",
		DefaultStatus: http.StatusAccepted, Errors: refusals,
	}, s.replay)
}

func quarantinedOf(q domain.Quarantined) api.Quarantined {
	return api.Quarantined{
		Stream: q.Stream, Position: q.Position, EventID: q.EventID, Error: q.Error, Since: serve.Time(q.Since),
		Attempts: q.Attempts, Waiting: q.Waiting,
	}
}

type streamInput struct {
	Name   string `path:"name" example:"meaning" doc:"The projection's name."`
	Stream string `query:"stream" example:"knowledge:profile_001" doc:"All streams in quarantine if left out."`
}

type skipInput struct {
	Name   string        `path:"name" example:"meaning" doc:"The projection's name."`
	Stream string        `query:"stream" example:"knowledge:profile_001" doc:"Required unless all is true."`
	All    serve.Boolean `query:"all" doc:"true: all streams in quarantine."`
}

// requireAdmin refuses callers who are not admins or who act on behalf of others.
func (s Projections) requireAdmin(c *serve.Call) (Background, error) {
	switch {
	case !c.Principal.IsTenantAdmin():
		return nil, domain.Refuse(domain.ErrForbidden, "looking after projections is for admins")
	case s.Background == nil:
		return nil, domain.Refuse(domain.ErrNotFound, "nothing follows the log in this server")
	}
	return s.Background, c.Found.Err()
}

func (s Projections) seeQuarantine(
	ctx context.Context, c *serve.Call, background Background, in *projectionInput,
) (out api.Short[api.Quarantined], err error) {
	list, err := background.Quarantined(ctx, in.Name, c.Principal.Tenant)
	out.Items = serve.Map(list, quarantinedOf)
	return out, err
}

func (s Projections) replayQuarantine(
	ctx context.Context, c *serve.Call, background Background, in *streamInput,
) (out api.Short[api.Replayed], err error) {
	out.Items = []api.Replayed{}
	err = eachStream(ctx, c, background, in.Name, in.Stream, func(stream string) error {
		done, err := background.Replay(ctx, in.Name, c.Principal.Tenant, stream)
		if err != nil {
			return err
		}
		shown := api.Replayed{Stream: done.Stream, Events: done.Events, Released: done.Released}
		if done.Left != nil {
			shown.Left = new(quarantinedOf(*done.Left))
		}
		out.Items = append(out.Items, shown)
		return nil
	})
	return out, err
}

func (s Projections) skipQuarantine(
	ctx context.Context, c *serve.Call, in *skipInput,
) (*serve.Output[api.Short[api.Skipped]], error) {
	all := in.All.Read(&c.Found, "all")
	if (in.Stream == "") != (all != nil && *all) {
		c.Found.Add("stream", "name one, or say all=true")
	}
	background, err := s.requireAdmin(c)
	if err != nil {
		return nil, err
	}
	out := &serve.Output[api.Short[api.Skipped]]{Body: api.Short[api.Skipped]{Items: []api.Skipped{}}}
	err = eachStream(ctx, c, background, in.Name, in.Stream, func(stream string) error {
		done, err := background.Skip(ctx, in.Name, c.Principal.Tenant, stream)
		if err != nil {
			return err
		}
		shown := api.Skipped{Stream: done.Stream, Events: make([]api.SkippedEvent, len(done.Events))}
		for i, event := range done.Events {
			shown.Events[i] = api.SkippedEvent{Position: event.Position, EventID: event.EventID, Name: event.Name}
		}
		out.Body.Items = append(out.Body.Items, shown)
		return nil
	})
	return out, err
}

// eachStream applies an action to one stream, or to all quarantined streams.
func eachStream(
	ctx context.Context, c *serve.Call, background Background, name, stream string, do func(stream string) error,
) error {
	if stream != "" {
		serve.CheckText(&c.Found, "stream", stream)
		if err := c.Found.Err(); err != nil {
			return err
		}
		return do(stream)
	}
	list, err := background.Quarantined(ctx, name, c.Principal.Tenant)
	if err != nil {
		return err
	}
	for _, q := range list {
		if err := do(q.Stream); err != nil {
			return err
		}
	}
	return nil
}

func (s Projections) replay(ctx context.Context, c *serve.Call, in *projectionInput) (*api.Projection, error) {
	background, err := s.requireAdmin(c)
	if err == nil {
		err = background.ReplayAll(ctx, in.Name, c.Principal.Tenant)
	}
	if err != nil {
		return nil, err
	}
	found, err := s.versions(ctx, c, func(p domain.ProjectionStatus) bool { return p.Name == in.Name })
	if err != nil {
		return nil, err
	}
	return &found.Items[0], nil
}

// Background manages the projections that follow the log. A name that it does not know gives an error that matches
// domain.ErrNotFound.
type Background interface {
	// Quarantined lists the quarantined streams of a projection.
	Quarantined(ctx context.Context, name, tenant string) ([]domain.Quarantined, error)
	// Replay processes the waiting events of a quarantined stream. The error matches domain.ErrNotFound if the stream
	// is not quarantined.
	Replay(ctx context.Context, name, tenant, stream string) (domain.Replayed, error)
	// Skip drops the waiting events of a quarantined stream. The error matches domain.ErrNotFound if the stream is
	// not quarantined.
	Skip(ctx context.Context, name, tenant, stream string) (domain.Skipped, error)
	// ReplayAll restarts a projection from the beginning of the log. The error matches domain.ErrConflict if that is
	// not allowed.
	ReplayAll(ctx context.Context, name, tenant string) error
}
