package http

import (
	"context"
	"net/http"
	"strconv"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
)

type tasksInput struct {
	Owner   string  `query:"owner" doc:"With session: whose session it is."`
	Session string  `query:"session" doc:"The id of a session. Default: every session that the caller may see."`
	Status  string  `query:"status" enum:"pending,running,completed,failed"`
	Limit   integer `query:"limit" doc:"1 to 100. Default: 20."`
}

func (s sessions) tasks(ctx context.Context, c *call, in *tasksInput) (*output[api.Tasks], error) {
	limit := in.Limit.read(&c.found, "limit", 1, domain.MaxLimit)
	if limit == 0 {
		limit = defaultPage
	}
	query := domain.TaskQuery{By: c.principal, Status: domain.TaskStatus(in.Status), Limit: int(limit)}
	switch query.Status {
	case "", domain.TaskPending, domain.TaskRunning, domain.TaskCompleted, domain.TaskFailed:
	default:
		c.found.Add("status", "must be one of pending, running, completed, failed")
	}
	if in.Session != "" {
		target := c.sessionTarget(in.Owner, in.Session)
		query.Session = target.Stream()
	}
	if err := c.found.Err(); err != nil {
		return nil, err
	}
	out := &output[api.Tasks]{}
	out.Body.Items = []api.Task{}
	if s.cfg.Sessions == nil {
		return out, nil
	}
	found, err := s.cfg.Sessions.Tasks(ctx, query)
	for _, t := range found {
		out.Body.Items = append(out.Body.Items, taskOf(t))
	}
	return out, err
}

func taskOf(t domain.Task) api.Task {
	owner, id, _ := domain.SessionOf(t.Session)
	shown := api.Task{
		ID: t.ID, Session: id, Owner: string(owner), Archive: domain.ArchiveURI(
			owner, id, t.Archive.Archive,
		), Status: string(t.Status),
		CreatedAt: t.CreatedAt.UTC(), UpdatedAt: t.UpdatedAt.UTC(),
	}
	if t.Failed != nil {
		shown.Error = t.Failed.Reason
	}
	if t.Extracted == nil {
		return shown
	}
	shown.Extractor = t.Extracted.Extractor
	for _, l := range t.Extracted.Lessons {
		shown.Lessons = append(shown.Lessons, api.TaskLesson{
			Decision: string(l.Decision), Category: string(l.Category), Item: l.Item, Target: l.Target,
			Content: l.Text.Content, Reason: l.Text.Reason, Scopes: toStrings(l.Scopes),
		})
	}
	return shown
}

func (s sessions) task(ctx context.Context, c *call, in *struct {
	ID string `path:"id" doc:"The task's id: that of the commit's event."`
},
) (*taskOutput, error) {
	if err := c.found.Err(); err != nil {
		return nil, err
	}
	if s.cfg.Sessions == nil {
		return nil, noSessions()
	}
	found, err := s.cfg.Sessions.Task(ctx, c.principal, in.ID)
	return &taskOutput{Status: http.StatusOK, Position: strconv.FormatInt(found.Position, 10), Body: taskOf(found)}, err
}
