package viking

import (
	"cmp"
	"context"
	"errors"

	"github.com/annals-kb/annals/domain"
)

// committed is the result of a commit, with the fields for clients of all versions.
type committed struct {
	ID        string  `json:"session_id"`
	Status    string  `json:"status"` // accepted; committed after waiting
	Task      *string `json:"task_id"`
	Archive   *string `json:"archive_uri"`
	Archived  bool    `json:"archived"`
	Message   string  `json:"message"`
	Trace     string  `json:"trace_id"`
	Extracted int     `json:"memories_extracted"`
	Active    int     `json:"active_count_updated"`
	Stats     stats   `json:"stats"`

	// Learned are the audience of lessons that are about no person; after waiting, the audiences that lessons reached.
	Learned []domain.Scope `json:"learned_for,omitempty"`
	Lessons []extracted    `json:"lessons,omitempty"` // only after waiting
}

func (s sessions) commitSession(ctx context.Context, q *query) (any, error) {
	var in struct {
		Keep    int            `json:"keep_recent_count"`
		Trigger domain.Trigger `json:"trigger"`
		Wait    bool           `json:"wait"`
		Scopes  []domain.Scope `json:"scopes"`
	}
	wait := q.boolParam("wait")
	if err := q.bind(&in); err != nil {
		return nil, err
	}
	out, receipt, err := s.commit(
		ctx, q, domain.CommitSession{SessionTarget: q.session(), Keep: in.Keep, Trigger: in.Trigger, Scopes: in.Scopes},
	)
	if err != nil || !out.Archived || !(wait || in.Wait) {
		return out, err
	}
	task, err := s.extraction(ctx, q, receipt.Position, *out.Task)
	if err != nil {
		return out, tooLong(ctx, err)
	}
	out.Lessons, out.Learned = extractedFrom(task), task.LearnedFor()
	out.Status, out.Message = "committed", "extracted"
	if task.Failed != nil {
		out.Message = "nothing could be extracted: see the task"
	}
	out.Extracted = extractedOf(task)["total"]
	out.Stats.Extracted += out.Extracted
	out.Active, err = s.tasks.active(ctx, q.caller, task)
	return out, err
}

// active counts the items that a task marked as helpful and that still exist.
func (s tasks) active(ctx context.Context, c caller, task domain.Task) (n int, err error) {
	for _, help := range task.Helped {
		at := domain.URI(help.URI)
		for _, uri := range []domain.URI{at, at.Join(domain.SkillName)} {
			k, err := s.tree.itemAt(ctx, c, uri)
			if err != nil {
				return n, err
			}
			if k != nil {
				n++
				break
			}
		}
	}
	return n, nil
}

// commit archives a session and describes the result.
func (s sessions) commit(
	ctx context.Context, q *query, command domain.CommitSession,
) (committed, domain.Receipt, error) {
	command.Unset = domain.LearnedShared
	receipt, err := s.editor.submitIdempotent(ctx, q, command)
	if err != nil {
		return committed{}, receipt, err
	}
	session, _ := receipt.Stream.State.(domain.Session)
	out := committed{
		ID: command.ID, Status: "accepted", Message: "there is nothing to archive", Trace: q.caller.origin.RequestID,
		Stats: statsOf(session),
	}
	if len(receipt.Events) > 0 {
		fact, _ := receipt.Events[0].Fact.(domain.SessionCommitted)
		uri := domain.ArchiveURI(session.Owner, command.ID, fact.Archive)
		out.Task, out.Archive, out.Archived = &receipt.Events[0].EventID, &uri, true
		out.Message = "extraction goes on in the background: ask for the task"
		if out.Learned = fact.Learned; len(out.Learned) > 0 {
			out.Message += "; lessons about tools, skills, patterns and antipatterns are for " + string(out.Learned[0]) +
				" unless they may be about a person, all others for " + string(session.Owner)
		}
	}
	return out, receipt, nil
}

// extraction waits for the extraction that a commit at a position started. The error matches
// [context.DeadlineExceeded] after longestWait, and the extraction goes on.
func (s sessions) extraction(ctx context.Context, q *query, position int64, id string) (domain.Task, error) {
	waiting, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	if err := s.sessions.AwaitExtraction(waiting, q.caller.Tenant, position); err != nil {
		return domain.Task{}, err
	}
	return s.sessions.Task(ctx, q.caller.Principal, id)
}

// tooLong drops the error of a wait that took too long.
func tooLong(ctx context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil
	}
	return err
}

// extractedOf counts the items that a task created, by category and in all.
func extractedOf(task domain.Task) map[string]int {
	counts := domain.Learned{}
	if task.Extracted != nil {
		for _, lesson := range task.Extracted.Lessons {
			if lesson.Item != "" {
				counts[lesson.Category]++
			}
		}
	}
	return learned(counts)
}

// extracted is the outcome of a lesson: a new item or a repeated one.
type extracted struct {
	ID          string          `json:"id"`
	URI         string          `json:"uri"`
	ContextType string          `json:"context_type"`
	Category    string          `json:"category"`
	Abstract    string          `json:"abstract"`
	Content     string          `json:"content"`
	Level       int             `json:"level"`
	Decision    domain.Decision `json:"decision"`
	Target      string          `json:"target,omitempty"`
	Scopes      []domain.Scope  `json:"scopes,omitempty"`  // who may see the item
	Private     string          `json:"private,omitempty"` // why only the user may
	Reason      string          `json:"reason,omitempty"`
}

func extractedFrom(task domain.Task) []extracted {
	list := []extracted{}
	if task.Extracted == nil {
		return list
	}
	owner, _, _ := domain.SessionOf(task.Session)
	for _, lesson := range task.Extracted.Lessons {
		e := extracted{
			ID: lesson.Item, ContextType: string(domain.Memory), Category: string(lesson.Category),
			Abstract: cmp.Or(lesson.Text.Abstract, lesson.Text.Content), Content: lesson.Text.Content, Level: int(domain.Detail),
			Decision: lesson.Decision, Target: lesson.Target, Scopes: lesson.Scopes, Reason: lesson.Text.Reason,
			Private: lesson.Private,
		}
		if e.ID != "" {
			e.URI = cmp.Or(lesson.Text.URI, string(domain.URIOf(lesson.Item, owner, domain.Memory, lesson.Category, "")))
		}
		list = append(list, e)
	}
	return list
}

// extractSession commits a session, waits, and lists the items of its lessons, new and repeated. It also waits for
// unfinished extractions of earlier commits.
func (s sessions) extractSession(ctx context.Context, q *query) (any, error) {
	list := []extracted{}
	out, receipt, err := s.commit(ctx, q, domain.CommitSession{SessionTarget: q.session(), Trigger: domain.TriggerStated})
	if err != nil {
		return list, err
	}
	position, id := receipt.Position, out.Task
	if session, _ := receipt.Stream.State.(domain.Session); !out.Archived && session.AwaitsExtraction() {
		earlier, err := s.sessions.Task(ctx, q.caller.Principal, session.LastTask)
		if err != nil {
			return list, err
		}
		position, id = earlier.Position, &earlier.ID
	}
	if id == nil {
		return list, nil
	}
	task, err := s.extraction(ctx, q, position, *id)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return list, domain.Refuse(context.DeadlineExceeded, "the extraction is not done yet, and goes on as task %s", *id)
	case err != nil:
		return list, err
	case task.Failed != nil:
		return list, domain.Refuse(domain.ErrUnavailable, "nothing could be extracted: %s", task.Failed.Reason)
	}
	var known []string
	for _, e := range extractedFrom(task) {
		known = append(known, e.Target)
	}
	before, err := s.tree.reader.Live(ctx, q.caller.Principal, known)
	for _, e := range extractedFrom(task) {
		if k := before[e.Target]; e.ID == "" && k != nil {
			e.ID, e.URI = k.ID, k.Text.URI
		}
		if e.ID != "" {
			list = append(list, e)
		}
	}
	return list, err
}

// retried are the archives whose extraction is tried again.
type retried struct {
	ID       string           `json:"session_id"`
	Archives []retriedArchive `json:"retried"`
}

type retriedArchive struct {
	Archive string `json:"archive_uri"`
	Task    string `json:"task_id"`
	Retry   int    `json:"retry"`
	Status  string `json:"status"` // accepted; the task's status after waiting
}

// retrySession tries the failed extractions of a session again at once.
func (s sessions) retrySession(ctx context.Context, q *query) (any, error) {
	var in struct {
		Archive int  `json:"archive"`
		Wait    bool `json:"wait"`
	}
	wait := q.boolParam("wait")
	if err := q.bind(&in); err != nil {
		return nil, err
	}
	target := q.session()
	receipt, err := s.editor.submitIdempotent(ctx, q, domain.RetryExtraction{SessionTarget: target, Archive: in.Archive})
	out := retried{ID: target.ID, Archives: []retriedArchive{}}
	for _, event := range receipt.Events {
		if fact, is := event.Fact.(domain.ExtractionRequested); is {
			out.Archives = append(out.Archives, retriedArchive{
				Archive: domain.ArchiveURI(target.Owner, target.ID, fact.Archive), Task: fact.Task, Retry: fact.Retry,
				Status: "accepted",
			})
		}
	}
	if err != nil || !(wait || in.Wait) {
		return out, err
	}
	if err := s.awaitRetry(ctx, q, target, receipt.Position); err != nil {
		return out, tooLong(ctx, err)
	}
	for i, archive := range out.Archives {
		task, err := s.sessions.Task(ctx, q.caller.Principal, archive.Task)
		if err != nil {
			return out, err
		}
		out.Archives[i].Status = string(task.Status)
	}
	return out, nil
}

// awaitRetry waits until the extraction was tried again, and then until the events of the attempt were processed.
func (s sessions) awaitRetry(ctx context.Context, q *query, target domain.SessionTarget, position int64) error {
	waiting, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	if err := s.sessions.AwaitExtraction(waiting, q.caller.Tenant, position); err != nil {
		return err
	}
	stream, _, err := s.sessions.Find(waiting, q.caller.Principal, target.Owner, target.ID)
	if err != nil {
		return err
	}
	return s.sessions.AwaitExtraction(waiting, q.caller.Tenant, stream.Position)
}
