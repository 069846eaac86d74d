package extraction

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
)

// SessionLog reads sessions from the log.
type SessionLog interface {
	ArchivedMessages(ctx context.Context, tenant string, commit domain.Event,
		fact domain.SessionCommitted) ([]domain.Event, error)
}

// Options configure a [Worker].
type Options struct {
	Log       *events.Log
	Followers *follow.Followers
	Writer    Writer
	Reader    Reader
	Searcher  Searcher
	Archivist SessionLog
	Extractor Extractor
	Logger    *slog.Logger
	// Now is the source of the time; default: time.Now.
	Now func() time.Time
}

// patience is how long an unavailable extractor is retried before the extraction of an archive fails.
const patience = time.Hour

// Worker extracts knowledge from committed sessions. It is safe for concurrent use.
type Worker struct {
	Options

	mu       sync.Mutex
	attempts map[string]attempt // by task that has not succeeded yet
}

// attempt is how often a task was tried, and since when.
type attempt struct {
	times int
	since time.Time
}

// NewWorker makes a worker.
func NewWorker(options Options) *Worker {
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Worker{Options: options, attempts: map[string]attempt{}}
}

// Follow makes the worker follow every tenant's log.
func (w *Worker) Follow(router *message.Router) {
	follow.AddPreparer(router, w.Followers, domain.Extraction, w.Prepare)
}

// Prepare extracts the archives that a page commits, one after the other. After an error the page is retried;
// finished archives stay extracted.
func (w *Worker) Prepare(ctx context.Context, page follow.Page) (follow.Change, error) {
	for _, event := range page.Events {
		commit, is, err := w.commitOf(ctx, event)
		if err != nil {
			return nil, err
		}
		fact, committed := commit.Fact.(domain.SessionCommitted)
		if !is || !committed {
			continue
		}
		if err := w.extract(ctx, commit, fact); err != nil {
			return nil, fmt.Errorf("extract from %s: %w", event.Stream, err)
		}
	}
	return follow.NoChange{}, nil
}

// commitOf is the commit of the archive that an event asks to extract, for the first time or again.
func (w *Worker) commitOf(ctx context.Context, event domain.Event) (domain.Event, bool, error) {
	switch fact := event.Fact.(type) {
	case domain.SessionCommitted:
		return event, true, nil
	case domain.ExtractionRequested:
		return w.Log.Sessions.Commit(ctx, event.Tenant, event.Stream, fact.Archive)
	}
	return domain.Event{}, false, nil
}

// extract records the result of an archive and carries out its decisions.
func (w *Worker) extract(ctx context.Context, event domain.Event, commit domain.SessionCommitted) error {
	messages, err := w.Archivist.ArchivedMessages(ctx, event.Tenant, event, commit)
	if err != nil {
		return err
	}
	a := w.assigned(event, commit)
	state, err := w.Log.Reader.State(ctx, event.Tenant, event.Stream)
	if err != nil {
		return err
	}
	session, is := state.State.(domain.Session)
	if is {
		a.agent = session.Agent
		if failure := session.Failures[commit.Archive]; session.Processed < commit.Archive || failure.RetryRequested {
			a.retry = failure.Retries
			if err := w.recordOutcome(ctx, event, commit, a, ConversationOf(a.owner, a.session, a.agent, messages)); err != nil {
				return err
			}
		}
	}
	if err := w.voteForUsed(ctx, event, commit, a); err != nil {
		return err
	}
	settled, found, err := w.Log.Sessions.ExtractionResult(ctx, event)
	if err != nil || !found {
		return err
	}
	extracted, made := settled.Fact.(domain.SessionExtracted)
	if !made {
		return nil
	}
	a.messages = ConversationOf(a.owner, a.session, a.agent, messages).Messages
	if err := a.apply(ctx, w.Reader, w.Writer, extracted.Lessons); err != nil {
		return err
	}
	if session.Open() && commit.Archive > session.Before {
		return a.keep(ctx, w.Writer, event.Stream, extracted)
	}
	return nil
}

// voteForUsed votes for the contexts that helped in a session, as the caller reported.
func (w *Worker) voteForUsed(ctx context.Context, event domain.Event, commit domain.SessionCommitted,
	a assignment,
) error {
	helped, err := w.Log.Sessions.ContextsThatHelped(ctx, event, commit)
	if err != nil {
		return err
	}
	for _, help := range helped {
		if err := a.vote(ctx, w.Reader, w.Writer, help); err != nil {
			return err
		}
	}
	return nil
}

func (w *Worker) assigned(event domain.Event, commit domain.SessionCommitted) assignment {
	owner, session, _ := domain.SessionOf(event.Stream)
	return assignment{
		tenant: event.Tenant, owner: owner, session: session, task: event.EventID, audience: commit.Audience,
		learned: commit.Learned,
		logger:  w.Logger.With("tenant", event.Tenant, "stream", event.Stream, "archive", commit.Archive),
	}
}

// recordOutcome decides on an archive, and records the decisions or the failure.
func (w *Worker) recordOutcome(ctx context.Context, event domain.Event, commit domain.SessionCommitted, a assignment,
	c Conversation,
) error {
	began := w.Now()
	tried := w.tried(event.EventID)
	fact, err := w.decided(ctx, event, commit, a, c)
	passing := errors.Is(err, domain.ErrUnavailable) || errors.Is(err, domain.ErrBusy)
	if ctx.Err() != nil || passing && a.retry == 0 && w.Now().Sub(tried.since) < patience {
		return err // only a first attempt may block other archives
	}
	var settled domain.Fact
	if err != nil {
		w.Logger.WarnContext(ctx, "nothing could be extracted from an archive", "tenant", event.Tenant, "stream",
			event.Stream, "archive", commit.Archive, "error", err)
		settled = domain.ExtractionFailed{
			Task: event.EventID, Archive: commit.Archive, Attempts: tried.times, Retry: a.retry,
			Lost: errors.Is(err, errNothingLeft), Reason: cut(err.Error(), 2000),
		}
	} else {
		fact.Took = w.Now().Sub(began).Truncate(time.Microsecond)
		settled = fact
	}
	_, err = w.Writer.Submit(ctx, domain.Submission{
		Command: domain.RecordExtraction{By: a.by(), Session: event.Stream, Archive: commit.Archive, Fact: settled},
		By:      a.by(), Origin: domain.Origin{CausationID: event.EventID, CorrelationID: event.EventID},
	})
	if err == nil {
		w.forget(event.EventID)
	}
	return err
}

var errNothingLeft = errors.New("nothing is left of its messages")

// decided is the fact for an archive: its decisions, or the failure.
func (w *Worker) decided(ctx context.Context, event domain.Event, commit domain.SessionCommitted, a assignment,
	c Conversation,
) (domain.SessionExtracted, error) {
	fact := domain.SessionExtracted{
		Task: event.EventID, Archive: commit.Archive, Extractor: w.Extractor.Name(),
		Retry: a.retry,
	}
	if len(c.Messages) == 0 {
		return fact, errNothingLeft
	}
	found, err := w.Extractor.Extract(ctx, c)
	if err != nil {
		return fact, err
	}
	if commit.Trigger == domain.TriggerStated && commit.Messages() == 1 {
		found.Findings = append(found.Findings, verbatimRequests(c, found.Findings)...)
	}
	attribute(c, found.Findings)
	addDates(c, &found)
	for i := range found.Findings {
		if f := &found.Findings[i]; f.Private == "" && len(a.learned) > 0 {
			f.Private = personal(c, *f)
		}
	}
	a.messages = c.Messages
	fact.Usage, fact.Summary = found.Usage, found.Summary
	fact.Lessons, err = a.decide(ctx, w.Reader, w.Searcher, found.Findings)
	return fact, err
}

// tried counts an attempt at a task.
func (w *Worker) tried(task string) attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	known, found := w.attempts[task]
	if !found {
		known.since = w.Now()
	}
	known.times++
	w.attempts[task] = known
	return known
}

func (w *Worker) forget(task string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.attempts, task)
}

// Status is the worker's progress on a tenant's log. Its error may also be the refusal of a model's endpoint, by
// which archives fail without blocking the log.
func (w *Worker) Status(ctx context.Context, tenant string) (domain.ProjectionStatus, error) {
	f, err := w.Followers.SubscriptionStatus(ctx, domain.Extraction, tenant)
	if model, is := w.Extractor.(*Model); is && f.LastError == nil {
		f.LastError = model.Refusal()
	}
	return f.Describe(domain.ProjectionStatus{
		Name: domain.Extraction, Version: 1, State: "active", Settings: map[string]string{"extractor": w.Extractor.Name()},
	}), err
}

// betweenRetries is how often the worker looks for failed archives.
const betweenRetries = time.Minute

// Retry requests retries of failed archives, at growing intervals, until ctx ends. A request is recorded, so any
// server can carry it out.
func (w *Worker) Retry(ctx context.Context) {
	for ctx.Err() == nil {
		if err := w.RetryDue(ctx); err != nil && ctx.Err() == nil {
			w.Logger.WarnContext(ctx, "failed archives were not looked for; that is tried again", "error", err, "after",
				betweenRetries.String())
		}
		select {
		case <-time.After(betweenRetries):
		case <-ctx.Done():
		}
	}
}

// RetryDue requests a retry of all archives of all tenants that are due.
func (w *Worker) RetryDue(ctx context.Context) error {
	now := w.Now()
	failed, err := w.Log.Sessions.FailedExtractions(ctx, now.Add(-domain.MaxRetryPeriod))
	if err != nil {
		return err
	}
	for _, f := range failed {
		ctx := database.ForTenant(ctx, f.Tenant)
		stream, err := w.Log.Reader.State(ctx, f.Tenant, f.Stream)
		if err != nil {
			return err
		}
		if session, is := stream.State.(domain.Session); is && session.Due(now) {
			if err := w.ask(ctx, f.Tenant, f.Stream); err != nil {
				return err
			}
		}
	}
	return nil
}

// ask requests the due retries of a session. A refusal means that another server was faster, or that the session is
// gone.
func (w *Worker) ask(ctx context.Context, tenant, stream string) error {
	owner, id, _ := domain.SessionOf(stream)
	by := assignment{tenant: tenant, owner: owner}.by()
	_, err := w.Writer.Submit(ctx, domain.Submission{
		Command: domain.RetryExtraction{SessionTarget: domain.SessionTarget{By: by, Owner: owner, ID: id}, OnlyDue: true},
		By:      by,
	})
	if refused(err) {
		return nil
	}
	return err
}
