package sessions

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	annalstext "github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

type sessionInput struct {
	ID    string `path:"id" doc:"The session's id."`
	Owner string `query:"owner" doc:"Whose session it is, an entity. Default: the caller, or the user that the caller acts for."`
}

type sessionsInput struct {
	Owner string `query:"owner" doc:"An entity. Default: the caller, or the user that the caller acts for."`
	serve.Paging
}

type (
	sessionOutput struct {
		Status   int    `json:"-"`
		Position string `header:"Annals-Position" doc:"The position of the newest event."`
		Redacted string `header:"Annals-Redacted" doc:"What was removed from the text before it was recorded."`
		Body     api.Session
	}
	taskOutput struct {
		Status   int    `json:"-"`
		Position string `header:"Annals-Position" doc:"The position of the newest event."`
		Body     api.Task
	}
)

// Sessions answers questions about sessions, and about the tasks that their commits start.
type Sessions interface {
	// Find returns a session; the error matches domain.ErrNotFound if there is none that the principal may see.
	Find(ctx context.Context, by domain.Principal, owner domain.Entity, id string) (domain.Stream, domain.Session, error)
	// List returns up to limit sessions of an owner after an id, in the order of their ids.
	List(
		ctx context.Context, by domain.Principal, owner domain.Entity, after string, limit int, deleted bool,
	) (list []domain.Stream, more bool, err error)
	// Messages returns the messages that are not archived yet, oldest first.
	Messages(ctx context.Context, tenant string, stream domain.Stream) ([]domain.Event, error)
	// Task returns an extraction; the error matches domain.ErrNotFound if there is none that the principal may see.
	Task(ctx context.Context, by domain.Principal, id string) (domain.Task, error)
	// Tasks lists extractions, newest first.
	Tasks(ctx context.Context, q domain.TaskQuery) ([]domain.Task, error)
	// LearnedFor is the tenant's rule for lessons; empty if it was never set.
	LearnedFor(ctx context.Context, tenant string) (domain.LearnedFor, error)
}

// sessions answers requests about sessions and extraction tasks.
type sessions struct {
	api  *serve.API
	kept Sessions
}

// Room is the operations on sessions, which may be nil.
type Room struct{ Sessions Sessions }

// Routes registers the operations.
func (r Room) Routes(a *serve.API, _ visible.Events) {
	s := sessions{a.Requiring(r.Sessions, "this server keeps no sessions"), r.Sessions}
	tags := []string{"Sessions"}
	const all, one = "/v1/sessions", "/v1/sessions/{id}"
	serve.HandleBody(s.api, false, huma.Operation{
		OperationID: "open-session", Method: http.MethodPost, Path: all, Tags: tags, DefaultStatus: http.StatusCreated,
		Summary: "Open a session",
		Description: "Its messages are recorded as they are said. Knowledge is learned from them when it is " +
			"committed.",
	}, s.openSession)
	serve.Handle(s.api, huma.Operation{
		OperationID: "sessions", Method: http.MethodGet, Path: all, Tags: tags,
		Summary:     "List sessions, in the order of their ids",
		Description: "Yours, or those of the owner that is named.",
	}, s.sessions)
	serve.Handle(s.api, huma.Operation{
		OperationID: "session", Method: http.MethodGet, Path: one, Tags: tags, Summary: "Read a session with its messages",
		Description: "The messages that are in no archive, oldest first, and how many items were learned from " +
			"the others.",
		Errors: []int{http.StatusNotFound},
	}, s.session)
	serve.HandleBody(s.api, true, huma.Operation{
		OperationID: "add-messages", Method: http.MethodPost, Path: one +
			"/messages", Tags: tags, DefaultStatus: http.StatusCreated,
		Summary: "Add messages to a session", Description: "A session that does not exist is opened.",
	}, s.addMessages)
	serve.HandleBody(s.api, false, huma.Operation{
		OperationID: "commit-session", Method: http.MethodPost, Path: one +
			"/commit", Tags: tags, DefaultStatus: http.StatusAccepted,
		Summary:     "Archive a session's messages and learn from them",
		Description: "The answer is the task that extracts knowledge in the background: GET /v1/tasks/{id} shows its result.",
	}, s.commitSession)
	serve.HandleBody(s.api, false, huma.Operation{
		OperationID: "retry-extraction", Method: http.MethodPost, Path: one + "/retry", Tags: tags,
		Summary:     "Try failed extractions of a session again",
		Description: "Failed extractions are also repeated by the server itself, at growing intervals.",
	}, s.retryExtraction)
	serve.HandleBody(s.api, false, huma.Operation{
		OperationID: "delete-session", Method: http.MethodDelete, Path: one, Tags: tags,
		Summary:     "Delete a session and its archives",
		Description: "Items that were learned from it stay. POST /v1/erasures destroys what was said.",
	}, s.deleteSession)
	serve.Handle(s.api, huma.Operation{
		OperationID: "tasks", Method: http.MethodGet, Path: "/v1/tasks", Tags: tags,
		Summary:     "List extraction tasks, newest first",
		Description: "A task extracts knowledge from one archive. The list says what came of it.",
	}, s.tasks)
	serve.Handle(s.api, huma.Operation{
		OperationID: "task", Method: http.MethodGet, Path: "/v1/tasks/{id}", Tags: tags, Summary: "Read an extraction task",
		Description: "With its status, and what became of each lesson.",
		Errors:      []int{http.StatusNotFound},
	}, s.task)
}

// sessionOwner is the owner that a request names. Default: the effective subject.
func sessionOwner(c *serve.Call, owner string) domain.Entity {
	if owner == "" {
		return c.Principal.EffectiveSubject()
	}
	return domain.Entity(owner)
}

func (s sessions) openSession(
	ctx context.Context, c *serve.Call, _ *struct{}, body api.NewSession,
) (*sessionOutput, error) {
	if body.ID == "" {
		body.ID = serve.NewID()
	}
	receipt, err := c.Do(ctx, domain.OpenSession{SessionTarget: sessionTarget(c, "", body.ID), Agent: body.Agent})
	return sessionReply(http.StatusCreated, receipt, err)
}

func sessionTarget(c *serve.Call, owner, id string) domain.SessionTarget {
	return domain.SessionTarget{By: c.Principal, Owner: sessionOwner(c, owner), ID: id}
}

func sessionReply(status int, receipt domain.Receipt, err error) (*sessionOutput, error) {
	if err != nil {
		return nil, err
	}
	return &sessionOutput{
		Status: status, Position: serve.WholeCell(receipt.Position), Redacted: domain.Redactions(receipt.Redacted),
		Body: sessionOf(receipt.Stream),
	}, nil
}

func sessionOf(stream domain.Stream) api.Session {
	owner, id, _ := domain.SessionOf(stream.Name)
	state, _ := stream.State.(domain.Session)
	shown := api.Session{
		ID: id, Owner: string(owner), Agent: state.Agent, URI: domain.SessionURI(owner, id),
		CreatedAt: state.OpenedAt.UTC(), UpdatedAt: state.UpdatedAt.UTC(),
		MessageCount: state.Live, Newest: state.Number, Archives: state.Committed(), LastTask: state.LastTask,
	}
	if !state.SaidFrom.IsZero() {
		shown.SaidFrom, shown.SaidUntil = new(state.SaidFrom.UTC()), new(state.SaidUntil.UTC())
	}
	for category, n := range state.Learned {
		if shown.Learned == nil {
			shown.Learned = map[string]int{}
		}
		shown.Learned[string(category)] = n
	}
	return shown
}

func (s sessions) sessions(
	ctx context.Context, c *serve.Call, in *sessionsInput,
) (*serve.Output[api.Page[api.Session]], error) {
	limit, owner := in.Size(c), sessionOwner(c, in.Owner)
	after, err := serve.NameOf(in.Cursor, owner)
	if err := serve.Merge(c.Found, err); err != nil {
		return nil, err
	}
	list, more, err := s.kept.List(ctx, c.Principal, owner, after, limit, false)
	page := api.Page[api.Session]{Items: serve.Map(list, sessionOf)}
	if more {
		page.NextCursor = serve.NameCursor(page.Items[len(list)-1].ID, owner)
	}
	return &serve.Output[api.Page[api.Session]]{Body: page}, err
}

func (s sessions) session(ctx context.Context, c *serve.Call, in *sessionInput) (*sessionOutput, error) {
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	stream, _, err := s.kept.Find(ctx, c.Principal, sessionOwner(c, in.Owner), in.ID)
	if err != nil {
		return nil, err
	}
	messages, err := s.kept.Messages(ctx, c.Principal.Tenant, stream)
	if err != nil {
		return nil, err
	}
	out := &sessionOutput{Status: http.StatusOK, Position: serve.WholeCell(stream.Position), Body: sessionOf(stream)}
	for _, event := range messages {
		fact, _ := event.Fact.(domain.MessageAdded)
		at := fact.At
		if at.IsZero() {
			at = event.RecordedAt
		}
		m := api.Message{EventID: event.EventID, Role: fact.Role, At: at.UTC(), Peer: fact.Message.Peer}
		for _, part := range fact.Message.Parts {
			if part.Text != "" && m.Content != "" {
				m.Content += "\n"
			}
			m.Content += part.Text
		}
		out.Body.Messages = append(out.Body.Messages, m)
	}
	return out, nil
}

func (s sessions) addMessages(
	ctx context.Context, c *serve.Call, in *sessionInput, body api.NewMessages,
) (*sessionOutput, error) {
	command := domain.AddMessages{SessionTarget: sessionTarget(c, in.Owner, in.ID), Agent: body.Agent, First: body.First}
	for _, m := range body.Messages {
		command.Messages = append(command.Messages, domain.NewMessage{
			Role: m.Role, Tokens: annalstext.Tokens(m.Content), At: serve.Value(m.At),
			Message: domain.Message{Peer: m.Peer, Parts: []domain.Part{{Type: domain.PartText, Text: m.Content}}},
		})
	}
	receipt, err := c.Do(ctx, command)
	return sessionReply(http.StatusCreated, receipt, err)
}

func (s sessions) commitSession(
	ctx context.Context, c *serve.Call, in *sessionInput, body api.SessionCommit,
) (*taskOutput, error) {
	target := sessionTarget(c, in.Owner, in.ID)
	receipt, err := c.Do(ctx, domain.CommitSession{
		SessionTarget: target, Keep: int(body.Keep), Trigger: domain.Trigger(body.Trigger),
		Scopes: serve.FromStrings[domain.Scope](body.Scopes),
	})
	if err != nil {
		return nil, err
	}
	state, _ := receipt.Stream.State.(domain.Session)
	if len(receipt.Events) == 0 {
		return nil, domain.Refuse(domain.ErrConflict, "the session has no messages to commit").
			WithFix("add messages first, or keep fewer")
	}
	found, err := s.kept.Task(ctx, c.Principal, state.LastTask)
	return &taskOutput{Status: http.StatusAccepted, Position: serve.WholeCell(receipt.Position), Body: taskOf(found)}, err
}

func (s sessions) retryExtraction(
	ctx context.Context, c *serve.Call, in *sessionInput, body api.ExtractionRetry,
) (*serve.Output[api.Tasks], error) {
	target := sessionTarget(c, in.Owner, in.ID)
	receipt, err := c.Do(ctx, domain.RetryExtraction{SessionTarget: target, Archive: int(body.Archive)})
	if err != nil {
		return nil, err
	}
	out := &serve.Output[api.Tasks]{Body: api.Tasks{Items: []api.Task{}}}
	for _, event := range receipt.Events {
		if fact, is := event.Fact.(domain.ExtractionRequested); is {
			found, err := s.kept.Task(ctx, c.Principal, fact.Task)
			if err != nil {
				return nil, err
			}
			out.Body.Items = append(out.Body.Items, taskOf(found))
		}
	}
	return out, nil
}

type sessionDeleted struct {
	Position string `header:"Annals-Position" doc:"The position of the newest event."`
}

func (s sessions) deleteSession(
	ctx context.Context, c *serve.Call, in *sessionInput, body api.Reason,
) (*sessionDeleted, error) {
	target := sessionTarget(c, in.Owner, in.ID)
	receipt, err := c.Do(ctx, domain.DeleteSession{SessionTarget: target, Reason: body.Reason})
	if err != nil {
		return nil, err
	}
	state, _ := receipt.Stream.State.(domain.Session)
	if err := domain.SubmitArchives(
		ctx, s.api.Writer.SubmitAll, c.Principal, c.Origin, state.DeleteArchives(target),
	); err != nil {
		return nil, err
	}
	return &sessionDeleted{Position: serve.WholeCell(receipt.Position)}, nil
}

type tasksInput struct {
	Owner   string        `query:"owner" doc:"With session: whose session it is."`
	Session string        `query:"session" doc:"The id of a session. Default: every session that the caller may see."`
	Status  string        `query:"status" enum:"pending,running,completed,failed"`
	Limit   serve.Integer `query:"limit" doc:"The newest, 1 to 500; 100 if left out."`
}

func (s sessions) tasks(ctx context.Context, c *serve.Call, in *tasksInput) (*serve.Output[api.Tasks], error) {
	query := domain.TaskQuery{
		By: c.Principal, Status: domain.TaskStatus(in.Status), Limit: serve.Paging{Limit: in.Limit}.Size(c),
	}
	switch query.Status {
	case "", domain.TaskPending, domain.TaskRunning, domain.TaskCompleted, domain.TaskFailed:
	default:
		c.Found.Add("status", "must be one of pending, running, completed, failed")
	}
	if in.Session != "" {
		target := sessionTarget(c, in.Owner, in.Session)
		query.Session = target.Stream()
	}
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	found, err := s.kept.Tasks(ctx, query)
	return &serve.Output[api.Tasks]{Body: api.Tasks{Items: serve.Map(found, taskOf)}}, err
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
			Content: l.Text.Content, Reason: l.Text.Reason, Scopes: serve.Strings(l.Scopes),
			Private: l.Private,
		})
	}
	return shown
}

func (s sessions) task(ctx context.Context, c *serve.Call, in *struct {
	ID string `path:"id" doc:"The task's id: that of the commit's event."`
},
) (*taskOutput, error) {
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	found, err := s.kept.Task(ctx, c.Principal, in.ID)
	return &taskOutput{Status: http.StatusOK, Position: strconv.FormatInt(found.Position, 10), Body: taskOf(found)}, err
}
