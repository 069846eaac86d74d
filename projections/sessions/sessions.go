package sessions

import (
	"context"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
)

// Sessions answers questions about sessions. It reads messages from the log, and the rest from the state of the
// session's stream.
type Sessions struct {
	Log       *events.Log
	Followers *follow.Followers
}

// Find returns a session of an owner. The error matches [domain.ErrNotFound] if it does not exist, was deleted, or is
// not visible to by.
func (s Sessions) Find(
	ctx context.Context, by domain.Principal, owner domain.Entity, id string,
) (domain.Stream, domain.Session, error) {
	target := domain.SessionTarget{By: by, Owner: owner, ID: id}
	if target.Validate() != nil || !by.MaySeeSession(target.Stream()) {
		return domain.Stream{}, domain.Session{}, domain.NoSession(id)
	}
	stream, err := s.Log.Reader.State(ctx, by.Tenant, target.Stream())
	if err != nil {
		return stream, domain.Session{}, err
	}
	session, _ := stream.State.(domain.Session)
	if !session.Open() {
		return stream, session, domain.NoSession(id)
	}
	return stream, session, nil
}

// LearnedFor is the tenant's rule for lessons; empty if it was never set.
func (s Sessions) LearnedFor(ctx context.Context, tenant string) (domain.LearnedFor, error) {
	stream, err := s.Log.Reader.State(ctx, tenant, domain.LearningStream)
	rule, _ := stream.State.(domain.LearningChanged)
	return rule.LearnedFor, err
}

// List returns up to limit of an owner's sessions after an id, in the order of their ids. It includes deleted
// sessions only if asked, and never erased ones. more tells whether there may be others.
func (s Sessions) List(
	ctx context.Context, by domain.Principal, owner domain.Entity, after string, limit int, deleted bool,
) (list []domain.Stream, more bool, err error) {
	prefix := domain.SessionsOf(owner)
	if !by.MaySeeSession(prefix) {
		return nil, false, nil
	}
	if after != "" {
		after = prefix + after
	}
	for len(list) < limit {
		page, err := s.Log.Reader.States(ctx, by.Tenant, prefix, after, limit)
		if err != nil || len(page) == 0 {
			return list, false, err
		}
		for _, stream := range page {
			session, _ := stream.State.(domain.Session)
			if wanted := session.Open() || deleted && !session.Erased; wanted && len(list) < limit {
				list = append(list, stream)
			}
			after = stream.Name
		}
	}
	return list, true, nil
}

// Messages returns a session's messages that are in no archive yet, the oldest first.
func (s Sessions) Messages(ctx context.Context, tenant string, stream domain.Stream) ([]domain.Event, error) {
	session, _ := stream.State.(domain.Session)
	return s.Log.Sessions.Messages(ctx, tenant, stream.Name, stream.Version+1, session.Live)
}

// Archive returns one of a session's archives. The error matches [domain.ErrNotFound] if it has none of this number.
// A deletion of the session removes its earlier archives.
func (s Sessions) Archive(
	ctx context.Context, tenant string, stream domain.Stream, number int,
) (domain.SessionArchive, error) {
	session, _ := stream.State.(domain.Session)
	archive := domain.SessionArchive{Number: number}
	notFound := domain.Refuse(domain.ErrNotFound, "the session has no %s", domain.ArchiveName(number))
	if number <= session.Before || number > session.Archives {
		return archive, notFound
	}
	commit, found, err := s.Log.Sessions.Commit(ctx, tenant, stream.Name, number)
	if err != nil {
		return archive, err
	}
	fact, is := commit.Fact.(domain.SessionCommitted)
	if !found || !is {
		return archive, notFound
	}
	archive.Committed = commit
	if archive.Messages, err = s.ArchivedMessages(ctx, tenant, commit, fact); err != nil {
		return archive, err
	}
	if number <= session.Processed {
		settled, found, err := s.Log.Sessions.ExtractionResult(ctx, commit)
		if err != nil {
			return archive, err
		}
		if found {
			archive.Outcome = &settled
		}
	}
	return archive, nil
}

// Summaries returns the summaries of a session's archives, the newest first. It leaves out archives without one, and
// those from before a deletion.
func (s Sessions) Summaries(
	ctx context.Context, tenant string, stream domain.Stream, limit int,
) ([]domain.SessionExtracted, error) {
	session, _ := stream.State.(domain.Session)
	settled, err := s.Log.Sessions.ExtractionResults(ctx, tenant, stream.Name, limit)
	if err != nil {
		return nil, err
	}
	var all []domain.SessionExtracted
	for _, event := range settled {
		if fact, is := event.Fact.(domain.SessionExtracted); is && fact.Archive > session.Before {
			all = append(all, fact)
		}
	}
	return all, nil
}

// ArchivedMessages returns the messages that a commit archived. They come right before those that the commit kept.
func (s Sessions) ArchivedMessages(
	ctx context.Context, tenant string, commit domain.Event, fact domain.SessionCommitted,
) ([]domain.Event, error) {
	messages, err := s.Log.Sessions.Messages(ctx, tenant, commit.Stream, commit.Version, fact.Messages()+fact.Kept)
	if err != nil {
		return nil, err
	}
	return messages[:min(len(messages), fact.Messages())], nil
}

// Task returns the extraction that a commit began, by the id of its event. The error matches [domain.ErrNotFound] if
// there is none, or if its session is not visible to by.
func (s Sessions) Task(ctx context.Context, by domain.Principal, id string) (domain.Task, error) {
	notFound := domain.Refuse(domain.ErrNotFound, "no task with id %s", id)
	event, found, err := s.Log.Sessions.Event(ctx, by.Tenant, strings.ToLower(id))
	if err != nil {
		return domain.Task{}, err
	}
	if !found || !by.MaySeeSession(event.Stream) {
		return domain.Task{}, notFound
	}
	commit, is := event.Fact.(domain.SessionCommitted)
	if !is {
		return domain.Task{}, notFound
	}
	done, err := s.done(ctx, by.Tenant)
	if err != nil {
		return domain.Task{}, err
	}
	settled, found, err := s.Log.Sessions.ExtractionResult(ctx, event)
	if err != nil {
		return domain.Task{}, err
	}
	task := taskOf(event, settled, found, done)
	task.Helped, err = s.Log.Sessions.ContextsThatHelped(ctx, event, commit)
	return task, err
}

// scannedTasks is how many commits one list scans at most.
const scannedTasks = 2000

// Tasks lists tasks, the newest first.
func (s Sessions) Tasks(ctx context.Context, q domain.TaskQuery) ([]domain.Task, error) {
	list := []domain.Task{}
	done, err := s.done(ctx, q.By.Tenant)
	if err != nil {
		return nil, err
	}
	var before int64
	for looked := 0; len(list) < q.Limit && looked < scannedTasks; {
		page := max(min(q.Limit-len(list), 100), 20)
		commits, err := s.Log.Sessions.Commits(ctx, q.By.Tenant, q.Session, before, page)
		if err != nil {
			return nil, err
		}
		var seen []int64
		for _, commit := range commits {
			if q.By.MaySeeSession(commit.Stream) {
				seen = append(seen, commit.Position)
			}
		}
		settled, err := s.Log.Sessions.ExtractionResultsOf(ctx, q.By.Tenant, seen)
		if err != nil {
			return nil, err
		}
		for _, commit := range commits {
			before = commit.Position
			if len(list) == q.Limit || !q.By.MaySeeSession(commit.Stream) {
				continue
			}
			event, found := settled[commit.Position]
			task := taskOf(commit, event, found, done)
			if q.Status == "" || q.Status == task.Status {
				list = append(list, task)
			}
		}
		if looked += len(commits); len(commits) < page {
			break
		}
	}
	return list, nil
}

// done is the position up to which extraction has read the tenant's log.
func (s Sessions) done(ctx context.Context, tenant string) (int64, error) {
	position, _, _, err := s.Followers.Checkpoint(ctx, domain.Extraction, tenant)
	return position, err
}

// taskOf is the task of a commit. It is completed when the checkpoint has passed the event that decided it, or the
// commit if nothing was retried.
func taskOf(commit, settled domain.Event, found bool, done int64) domain.Task {
	fact, _ := commit.Fact.(domain.SessionCommitted)
	t := domain.Task{
		ID: commit.EventID, Session: commit.Stream, Archive: fact, Position: commit.Position,
		Status: domain.TaskPending, CreatedAt: commit.RecordedAt, UpdatedAt: commit.RecordedAt,
	}
	if !found {
		return t
	}
	t.UpdatedAt = settled.RecordedAt
	switch f := settled.Fact.(type) {
	case domain.SessionExtracted:
		t.Extracted, t.Status = &f, domain.TaskRunning
		if f.Retry == 0 && done >= commit.Position || done >= settled.Position {
			t.Status = domain.TaskCompleted
		}
	case domain.ExtractionFailed:
		t.Failed, t.Status = &f, domain.TaskFailed
	}
	return t
}

// AwaitExtraction returns when extraction is done with all commits up to a position.
func (s Sessions) AwaitExtraction(ctx context.Context, tenant string, position int64) error {
	return s.Followers.Await(ctx, domain.Extraction, tenant, position)
}
