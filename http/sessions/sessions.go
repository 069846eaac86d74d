package sessions

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	annalstext "github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

type sessionInput struct {
	ID    string `path:"id" doc:"The session's id."`
	Owner string `query:"owner" doc:"Whose session it is, an entity. Default: the caller, or the user that the caller acts for."`
}

type sessionsInput struct {
	Owner string        `query:"owner" doc:"An entity. Default: the caller, or the user that the caller acts for."`
	After string        `query:"after" doc:"The id of the last session of the page before."`
	Limit serve.Integer `query:"limit" doc:"1 to 100. Default: 20."`
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
	kept Sessions // nil if this server keeps none
}

// Routes registers the operations. Without sessions, they are nil.
func Routes(a *serve.API, kept Sessions) {
	s := sessions{a, kept}
	tags := []string{"Sessions"}
	const all, one = "/v1/sessions", "/v1/sessions/{id}"
	serve.Handle(s.api, huma.Operation{
		OperationID: "open-session", Method: http.MethodPost, Path: all, Tags: tags, DefaultStatus: http.StatusCreated,
		Summary: "Open a session", RequestBody: serve.JSONBody[api.NewSession](s.api, false), Errors: serve.NamedErrors,
	}, s.openSession)
	serve.Handle(s.api, huma.Operation{
		OperationID: "sessions", Method: http.MethodGet, Path: all, Tags: tags,
		Summary: "List sessions, in the order of their ids",
	}, s.sessions)
	serve.Handle(s.api, huma.Operation{
		OperationID: "session", Method: http.MethodGet, Path: one, Tags: tags, Summary: "Read a session with its messages",
		Errors: []int{http.StatusNotFound},
	}, s.session)
	serve.Handle(s.api, huma.Operation{
		OperationID: "add-messages", Method: http.MethodPost, Path: one +
			"/messages", Tags: tags, DefaultStatus: http.StatusCreated,
		Summary: "Add messages to a session", Description: "A session that does not exist is opened.",
		RequestBody: serve.JSONBody[api.NewMessages](s.api, true), Errors: serve.NamedErrors,
	}, s.addMessages)
	serve.Handle(s.api, huma.Operation{
		OperationID: "commit-session", Method: http.MethodPost, Path: one +
			"/commit", Tags: tags, DefaultStatus: http.StatusAccepted,
		Summary:     "Archive a session's messages and learn from them",
		Description: "The answer is the task that extracts knowledge in the background: GET /v1/tasks/{id} shows its result.",
		RequestBody: serve.JSONBody[api.SessionCommit](s.api, false), Errors: serve.NamedErrors,
	}, s.commitSession)
	serve.Handle(s.api, huma.Operation{
		OperationID: "retry-extraction", Method: http.MethodPost, Path: one + "/retry", Tags: tags,
		Summary:     "Try failed extractions of a session again",
		RequestBody: serve.JSONBody[api.ExtractionRetry](s.api, false), Errors: serve.NamedErrors,
	}, s.retryExtraction)
	serve.Handle(s.api, huma.Operation{
		OperationID: "delete-session", Method: http.MethodDelete, Path: one, Tags: tags,
		Summary:     "Delete a session and its archives",
		Description: "Items that were learned from it stay. POST /v1/erasures destroys what was said.",
		RequestBody: serve.JSONBody[api.Reason](s.api, false), Errors: serve.NamedErrors,
	}, s.deleteSession)
	serve.Handle(s.api, huma.Operation{
		OperationID: "tasks", Method: http.MethodGet, Path: "/v1/tasks", Tags: tags,
		Summary: "List extraction tasks, newest first",
	}, s.tasks)
	serve.Handle(s.api, huma.Operation{
		OperationID: "task", Method: http.MethodGet, Path: "/v1/tasks/{id}", Tags: tags, Summary: "Read an extraction task",
		Errors: []int{http.StatusNotFound},
	}, s.task)
}

// sessionOwner is the owner that a request names. Default: the effective subject.
func sessionOwner(c *serve.Call, owner string) domain.Entity {
	if owner == "" {
		return c.Principal.EffectiveSubject()
	}
	return domain.Entity(owner)
}

// submitAbout validates a command about a session and submits it. The error names every bad field.
func (s sessions) submitAbout(
	ctx context.Context, c *serve.Call, command serve.Validated, body []byte,
) (domain.Receipt, error) {
	if s.kept == nil {
		return domain.Receipt{}, noSessions()
	}
	return c.Submit(ctx, command, command.Validate(), body)
}

// defaultPage is the default length of a list.
const defaultPage = 20

func noSessions() error { return domain.Refuse(domain.ErrNotFound, "this server keeps no sessions") }

func (s sessions) openSession(ctx context.Context, c *serve.Call, _ *struct{}) (*sessionOutput, error) {
	given, body, err := serve.ReadAny[api.NewSession](c)
	if err != nil {
		return nil, err
	}
	if given.ID == "" {
		given.ID = serve.NewID()
	}
	receipt, err := s.submitAbout(
		ctx, c, domain.OpenSession{SessionTarget: sessionTarget(c, "", given.ID), Agent: given.Agent}, body,
	)
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
		Status: status, Position: serve.WholeCell(receipt.Position), Redacted: serve.RedactedOf(receipt),
		Body: sessionOf(receipt.Stream),
	}, nil
}

func sessionOf(stream domain.Stream) api.Session {
	owner, id, _ := domain.SessionOf(stream.Name)
	state, _ := stream.State.(domain.Session)
	shown := api.Session{
		ID: id, Owner: string(owner), Agent: state.Agent, URI: domain.SessionURI(owner, id),
		CreatedAt: state.OpenedAt.UTC(), UpdatedAt: state.UpdatedAt.UTC(),
		MessageCount: state.Live, Archives: state.Committed(), LastTask: state.LastTask,
	}
	for category, n := range state.Learned {
		if shown.Learned == nil {
			shown.Learned = map[string]int{}
		}
		shown.Learned[string(category)] = n
	}
	return shown
}

func (s sessions) sessions(ctx context.Context, c *serve.Call, in *sessionsInput) (*serve.Output[api.Sessions], error) {
	limit := cmp.Or(in.Limit.Read(&c.Found, "limit", 1, domain.MaxLimit), defaultPage)
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	out := &serve.Output[api.Sessions]{}
	out.Body.Items = []api.Session{}
	if s.kept == nil {
		return out, nil
	}
	list, more, err := s.kept.List(ctx, c.Principal, sessionOwner(c, in.Owner), in.After, int(limit), false)
	for _, stream := range list {
		out.Body.Items = append(out.Body.Items, sessionOf(stream))
	}
	out.Body.More = more
	return out, err
}

func (s sessions) session(ctx context.Context, c *serve.Call, in *sessionInput) (*sessionOutput, error) {
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	if s.kept == nil {
		return nil, noSessions()
	}
	stream, _, err := s.kept.Find(ctx, c.Principal, sessionOwner(c, in.Owner), in.ID)
	if err != nil {
		return nil, err
	}
	said, err := s.kept.Messages(ctx, c.Principal.Tenant, stream)
	if err != nil {
		return nil, err
	}
	out := &sessionOutput{Status: http.StatusOK, Position: serve.WholeCell(stream.Position), Body: sessionOf(stream)}
	for _, event := range said {
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

func (s sessions) addMessages(ctx context.Context, c *serve.Call, in *sessionInput) (*sessionOutput, error) {
	given, body, err := serve.ReadBody[api.NewMessages](c)
	if err != nil {
		return nil, err
	}
	command := domain.AddMessages{SessionTarget: sessionTarget(c, in.Owner, in.ID), Agent: given.Agent}
	for _, m := range given.Messages {
		command.Messages = append(command.Messages, domain.NewMessage{
			Role: m.Role, Tokens: annalstext.Tokens(m.Content), At: serve.Value(m.At),
			Message: domain.Message{Peer: m.Peer, Parts: []domain.Part{{Type: domain.PartText, Text: m.Content}}},
		})
	}
	receipt, err := s.submitAbout(ctx, c, command, body)
	return sessionReply(http.StatusCreated, receipt, err)
}

func (s sessions) commitSession(ctx context.Context, c *serve.Call, in *sessionInput) (*taskOutput, error) {
	given, body, err := serve.ReadAny[api.SessionCommit](c)
	if err != nil {
		return nil, err
	}
	target := sessionTarget(c, in.Owner, in.ID)
	receipt, err := s.submitAbout(ctx, c, domain.CommitSession{
		SessionTarget: target, Keep: int(given.Keep), Trigger: domain.Trigger(given.Trigger),
		Scopes: serve.FromStrings[domain.Scope](given.Scopes),
	}, body)
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
	ctx context.Context, c *serve.Call, in *sessionInput,
) (*serve.Output[api.Tasks], error) {
	given, body, err := serve.ReadAny[api.ExtractionRetry](c)
	if err != nil {
		return nil, err
	}
	receipt, err := s.submitAbout(
		ctx, c, domain.RetryExtraction{SessionTarget: sessionTarget(c, in.Owner, in.ID), Archive: int(given.Archive)}, body,
	)
	if err != nil {
		return nil, err
	}
	out := &serve.Output[api.Tasks]{}
	out.Body.Items = []api.Task{}
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

func (s sessions) deleteSession(ctx context.Context, c *serve.Call, in *sessionInput) (*sessionDeleted, error) {
	given, body, err := serve.ReadAny[api.Reason](c)
	if err != nil {
		return nil, err
	}
	target := sessionTarget(c, in.Owner, in.ID)
	receipt, err := s.submitAbout(ctx, c, domain.DeleteSession{SessionTarget: target, Reason: given.Reason}, body)
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
	Limit   serve.Integer `query:"limit" doc:"1 to 100. Default: 20."`
}

func (s sessions) tasks(ctx context.Context, c *serve.Call, in *tasksInput) (*serve.Output[api.Tasks], error) {
	limit := cmp.Or(in.Limit.Read(&c.Found, "limit", 1, domain.MaxLimit), defaultPage)
	query := domain.TaskQuery{By: c.Principal, Status: domain.TaskStatus(in.Status), Limit: int(limit)}
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
	out := &serve.Output[api.Tasks]{}
	out.Body.Items = []api.Task{}
	if s.kept == nil {
		return out, nil
	}
	found, err := s.kept.Tasks(ctx, query)
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
			Content: l.Text.Content, Reason: l.Text.Reason, Scopes: serve.Strings(l.Scopes),
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
	if s.kept == nil {
		return nil, noSessions()
	}
	found, err := s.kept.Task(ctx, c.Principal, in.ID)
	return &taskOutput{Status: http.StatusOK, Position: strconv.FormatInt(found.Position, 10), Body: taskOf(found)}, err
}
