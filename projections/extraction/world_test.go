package extraction_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/extraction"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/sessions"
)

const mia domain.Entity = "user:mia"

// world is a log whose sessions are extracted page by page, as a handler would.
type world struct {
	*World
	learned  int64 // until here, the worker followed
	proposed int64 // until here, the reviewer followed
	worker   *extraction.Worker
	broken   *breakable
	logged   *bytes.Buffer  // by the worker
	scopes   []domain.Scope // that commits ask for
}

// breakable is a writer that stops in the middle.
type breakable struct {
	extraction.Writer
	left int // submissions until it breaks; negative for never
}

var errKilled = fmt.Errorf("killed: %w", domain.ErrUnavailable)

func (b *breakable) Submit(ctx context.Context, s domain.Submission) (domain.Receipt, error) {
	if b.left == 0 {
		return domain.Receipt{}, errKilled
	}
	b.left--
	return b.Writer.Submit(ctx, s)
}

// SubmitAll breaks in the middle, too.
func (b *breakable) SubmitAll(ctx context.Context, submissions []domain.Submission) []domain.Result {
	results := make([]domain.Result, len(submissions))
	for i, s := range submissions {
		results[i].Receipt, results[i].Err = b.Submit(ctx, s)
	}
	return results
}

// each runs a test in parallel on both engines, each time in a new world with the built-in extractor.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) { test(t, newWorld(t, db, extraction.BuiltIn{})) })
}

func newWorld(t *testing.T, db *database.DB, extractor extraction.Extractor) *world {
	t.Helper()
	return newWorldWith(t, db, extractor, events.Options{})
}

func newWorldWith(t *testing.T, db *database.DB, extractor extraction.Extractor, options events.Options) *world {
	t.Helper()
	w := &world{World: NewWorldWith(t, db, projections.Settings{}, options), logged: &bytes.Buffer{}}
	w.broken = &breakable{Writer: w.Log, left: -1}
	w.worker = extraction.NewWorker(extraction.Options{
		Log: w.Log, Followers: w.Followers, Writer: w.broken, Reader: w.Base.Browser, Searcher: w.Base.Searcher,
		Archivist: sessions.Sessions{Log: w.Log, Followers: w.Followers}, Extractor: extractor, Now: options.Clock,
		Logger: slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), w.logged), nil)),
	})
	return w
}

func (w *world) target(session string) domain.SessionTarget {
	return domain.SessionTarget{By: w.By, Owner: mia, ID: session}
}

// hold lets somebody say something in a session, and commits it.
func (w *world) hold(session string, c extraction.Conversation) (task string) {
	w.T.Helper()
	command := domain.AddMessages{SessionTarget: w.target(session), Agent: "coder"}
	for _, m := range c.Messages {
		command.Messages = append(command.Messages, domain.NewMessage{Role: m.Role, Message: domain.Message{Parts: m.Parts}})
	}
	w.Submit(command)
	return w.Submit(domain.CommitSession{
		SessionTarget: w.target(session), Trigger: domain.TriggerTaskDone,
		Scopes: w.scopes,
	}).Events[0].EventID
}

// follow takes in what is new in the log.
func (w *world) follow() error {
	page := Must(w.Log.Reader.Read(w.T.Context(), w.By.Tenant, w.learned, 500))(w.T)
	if _, err := w.worker.Prepare(w.T.Context(), follow.Page{Tenant: w.By.Tenant, Events: page}); err != nil {
		return err
	}
	w.learned += int64(len(page))
	return nil
}

func (w *world) learn() {
	w.T.Helper()
	NoError(w.T, w.follow())
}

// items are those of a status but for archives, in the order in which they were remembered.
func (w *world) items(statuses ...domain.Status) []*domain.Knowledge {
	w.T.Helper()
	page, err := w.Base.Browser.List(w.T.Context(), domain.List{By: w.By, Filter: domain.Filter{Statuses: statuses}, Limit: 100})
	if err != nil {
		w.T.Fatal(err)
	}
	items := slices.DeleteFunc(page.Items, func(k *domain.Knowledge) bool { return strings.HasPrefix(k.ID, "archive_") })
	for i, j := 0, len(items)-1; i < j; i, j = i+1, j-1 {
		items[i], items[j] = items[j], items[i]
	}
	return items
}

// settled is what was recorded about a session's archive.
func (w *world) settled(session string, archive int) domain.Fact {
	w.T.Helper()
	commit, found, err := w.Log.Sessions.Commit(w.T.Context(), w.By.Tenant, domain.SessionStream(mia, session), archive)
	if err != nil || !found {
		w.T.Fatalf("archive %d of %s: %t, %v", archive, session, found, err)
	}
	event, found, err := w.Log.Sessions.ExtractionResult(w.T.Context(), commit)
	if err != nil || !found {
		w.T.Fatalf("archive %d of %s: %t, %v", archive, session, found, err)
	}
	return event.Fact
}

func (w *world) decisions(session string, archive int) (all []domain.Decision) {
	w.T.Helper()
	fact, is := w.settled(session, archive).(domain.SessionExtracted)
	if !is {
		w.T.Fatalf("archive %d of %s was not extracted", archive, session)
	}
	for _, l := range fact.Lessons {
		all = append(all, l.Decision)
	}
	return all
}

var errNever = errors.New("the model will never understand")
