package viking

import (
	"context"
	"slices"
	"time"

	"github.com/annals-kb/annals/domain"
)

// commitTask is the type of the tasks that commits start.
const commitTask = "session_commit"

// task is an extraction in answers.
type task struct {
	ID        string            `json:"task_id"`
	Type      string            `json:"task_type"`
	Status    domain.TaskStatus `json:"status"`
	CreatedAt float64           `json:"created_at"` // seconds since 1970
	UpdatedAt float64           `json:"updated_at"`
	Resource  string            `json:"resource_id"`
	Result    *taskResult       `json:"result"`
	Error     *string           `json:"error"`
}

type taskResult struct {
	Session   string         `json:"session_id"`
	Archive   string         `json:"archive_uri"`
	Extracted map[string]int `json:"memories_extracted"`
	Active    int            `json:"active_count_updated"`
	Usage     allUsage       `json:"token_usage"`
	Decisions domain.Decided `json:"decisions"`
	Extractor string         `json:"extractor"`
	Trigger   domain.Trigger `json:"trigger,omitempty"`
	Learned   []domain.Scope `json:"learned_for"` // the audiences that lessons reached
	Lessons   []extracted    `json:"lessons"`
}

type allUsage struct {
	Model     tokenUsage  `json:"llm"`
	Embedding totalTokens `json:"embedding"`
	tokenUsage
}

func taskOf(t domain.Task) task {
	owner, session, _ := domain.SessionOf(t.Session)
	shown := task{
		ID: t.ID, Type: commitTask, Status: t.Status, CreatedAt: epoch(t.CreatedAt), UpdatedAt: epoch(t.UpdatedAt),
		Resource: session,
	}
	if t.Failed != nil {
		shown.Error = &t.Failed.Reason
	}
	if t.Status != domain.TaskCompleted || t.Extracted == nil {
		return shown
	}
	tokens := usage(t.Extracted.Usage.PromptTokens, t.Extracted.Usage.CompletionTokens)
	shown.Result = &taskResult{
		Session: session, Archive: domain.ArchiveURI(owner, session, t.Archive.Archive), Extracted: extractedOf(t),
		Usage: allUsage{Model: tokens, tokenUsage: tokens}, Decisions: domain.Decided{},
		Extractor: t.Extracted.Extractor, Trigger: t.Archive.Trigger,
		Lessons: extractedFrom(t), Learned: t.LearnedFor(),
	}
	for _, lesson := range t.Extracted.Lessons {
		shown.Result.Decisions[lesson.Decision]++
	}
	return shown
}

// tasks answers requests about extraction tasks.
type tasks struct {
	sessions Sessions
	tree     tree
}

func (s tasks) routes(on route) {
	on("GET /api/v1/tasks", s.listTasks)
	on("GET /api/v1/tasks/{id}", s.showTask)
	on("POST /api/v1/tasks/{id}/cancel", s.cancelTask)
}

func epoch(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

func (s tasks) showTask(ctx context.Context, q *query) (any, error) {
	found, err := s.sessions.Task(ctx, q.caller.Principal, q.request.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return s.shown(ctx, q, found)
}

// shown is a task with the number of items that it marked as helpful.
func (s tasks) shown(ctx context.Context, q *query, t domain.Task) (task, error) {
	shown := taskOf(t)
	if shown.Result == nil {
		return shown, nil
	}
	var err error
	shown.Result.Active, err = s.active(ctx, q.caller, t)
	return shown, err
}

// cancelTask answers with a finished task, and refuses to stop another: the committed messages exist only in the
// archive and must still be extracted.
func (s tasks) cancelTask(ctx context.Context, q *query) (any, error) {
	found, err := s.sessions.Task(ctx, q.caller.Principal, q.request.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if found.Status == domain.TaskPending || found.Status == domain.TaskRunning {
		return nil, domain.Refuse(
			domain.ErrPrecondition, "what was committed is learned from, whatever becomes of the session",
		).
			WithFix("remove what was learned when the task is done, or delete the session")
	}
	return s.shown(ctx, q, found)
}

const (
	defaultTasks = 50
	mostTasks    = 200
)

func (s tasks) listTasks(ctx context.Context, q *query) (any, error) {
	limit := q.intParam("limit", defaultTasks)
	if limit < 0 || limit > mostTasks {
		q.found.Add("limit", "must be 0 to %d", mostTasks)
	}
	status := domain.TaskStatus(q.param("status"))
	all := []domain.TaskStatus{
		domain.TaskPending, domain.TaskRunning, domain.TaskCompleted, domain.TaskFailed, "cancelling", "cancelled",
	}
	if status != "" && !slices.Contains(all, status) {
		q.found.Add("status", "must be one of pending, running, completed, failed, cancelling, cancelled")
	}
	list := []task{}
	if kind := q.param("task_type"); limit == 0 || kind != "" && kind != commitTask {
		return list, nil
	}
	query := domain.TaskQuery{By: q.caller.Principal, Status: status, Limit: limit}
	if session := q.param("resource_id"); session != "" {
		query.Session = domain.SessionStream(q.owner(), session)
	}
	tasks, err := s.sessions.Tasks(ctx, query)
	for i := 0; err == nil && i < len(tasks); i++ {
		list = append(list, task{})
		list[i], err = s.shown(ctx, q, tasks[i])
	}
	return list, err
}
