package viking

import (
	"context"

	"github.com/annals-kb/annals/domain"
)

// retried are the archives of a session that are tried again.
type retried struct {
	ID       string           `json:"session_id"`
	Archives []retriedArchive `json:"retried"`
}

type retriedArchive struct {
	Archive string `json:"archive_uri"`
	Task    string `json:"task_id"`
	Retry   int    `json:"retry"`
	Status  string `json:"status"` // accepted; as the task's, if it was waited for
}

// retrySession asks for another attempt at the archives of which nothing could be made, now, and not when it is time.
func (s *Server) retrySession(ctx context.Context, q *query) (any, error) {
	var in struct {
		Archive int  `json:"archive"`
		Wait    bool `json:"wait"`
	}
	wait := q.yes("wait")
	if err := q.bind(&in); err != nil {
		return nil, err
	}
	target := q.session()
	receipt, err := s.submitOnce(ctx, q, domain.RetryExtraction{SessionTarget: target, Archive: in.Archive})
	out := retried{ID: target.ID, Archives: []retriedArchive{}}
	for _, event := range receipt.Events {
		if fact, is := event.Fact.(domain.ExtractionRequested); is {
			out.Archives = append(out.Archives, retriedArchive{
				Archive: domain.ArchiveURI(target.Owner, target.ID, fact.Archive), Task: fact.Task, Retry: fact.Retry, Status: "accepted",
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
		task, err := s.cfg.Sessions.Task(ctx, q.caller.Principal, archive.Task)
		if err != nil {
			return out, err
		}
		out.Archives[i].Status = string(task.Status)
	}
	return out, nil
}

// awaitRetry waits until what was asked for is tried, and what was decided is done: that is when what was recorded of it
// has been read, too.
func (s *Server) awaitRetry(ctx context.Context, q *query, target domain.SessionTarget, position int64) error {
	waiting, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	if err := s.cfg.Sessions.AwaitExtraction(waiting, q.caller.Tenant, position); err != nil {
		return err
	}
	stream, _, err := s.cfg.Sessions.Find(waiting, q.caller.Principal, target.Owner, target.ID)
	if err != nil {
		return err
	}
	return s.cfg.Sessions.AwaitExtraction(waiting, q.caller.Tenant, stream.Position)
}
