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

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/extraction"
	"github.com/annals-kb/annals/projections/sessions"
)

const mia domain.Entity = "user:mia"

// world is a log whose sessions are extracted page by page, as a handler would.
type world struct {
	t         *testing.T
	log       *events.Log
	followers *follow.Followers
	base      *projections.Knowledge
	by        domain.Principal
	read      int64
	proposed  int64 // until here, the reviewer followed
	worker    *extraction.Worker
	broken    *breakable
	logged    *bytes.Buffer  // by the worker
	scopes    []domain.Scope // that commits ask for
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

// failing is a test, or a run of a property.
type failing interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// must is a value without which a test ends.
func must[V any](value V, err error) func(failing) V {
	return func(t failing) V {
		t.Helper()
		noError(t, err)
		return value
	}
}

func noError(t failing, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// equal compares what is there with what there should be.
func equal(t failing, got, want any, what string, args ...any) {
	t.Helper()
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("%s:\n%s", fmt.Sprintf(what, args...), diff)
	}
}

func newWorld(t *testing.T, db *database.DB, extractor extraction.Extractor) *world {
	t.Helper()
	return newWorldWith(t, db, extractor, events.Options{})
}

func newWorldWith(t *testing.T, db *database.DB, extractor extraction.Extractor, options events.Options) *world {
	t.Helper()
	base := must(projections.Open(t.Context(), db, projections.Settings{}))(t)
	options.Logger = databasetest.Log(t)
	options.Selection = base.Browser
	log, followers := follow.NewLog(db, base.Projection, options)
	t.Cleanup(func() {
		if err := log.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	w := &world{
		t: t, log: log, followers: followers, base: base, by: domain.OpenPrincipal(), broken: &breakable{Writer: log, left: -1},
		logged: &bytes.Buffer{},
	}
	w.worker = extraction.NewWorker(extraction.Options{
		Log: log, Followers: followers, Writer: w.broken, Reader: base.Browser, Searcher: base.Searcher, Archivist: sessions.Sessions{Log: log, Followers: followers}, Extractor: extractor,
		Now:    options.Clock,
		Logger: slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), w.logged), nil)),
	})
	return w
}

func (w *world) submit(command domain.Command) domain.Receipt {
	w.t.Helper()
	receipt, err := w.log.Submit(w.t.Context(), domain.Submission{Command: command, By: w.by})
	if err != nil {
		w.t.Fatalf("%T: %v", command, err)
	}
	return receipt
}

func (w *world) target(session string) domain.SessionTarget {
	return domain.SessionTarget{By: w.by, Owner: mia, ID: session}
}

// hold lets somebody say something in a session, and commits it.
func (w *world) hold(session string, c extraction.Conversation) (task string) {
	w.t.Helper()
	command := domain.AddMessages{SessionTarget: w.target(session), Agent: "coder"}
	for _, m := range c.Messages {
		command.Messages = append(command.Messages, domain.NewMessage{Role: m.Role, Message: domain.Message{Parts: m.Parts}})
	}
	w.submit(command)
	return w.submit(domain.CommitSession{
		SessionTarget: w.target(session), Trigger: domain.TriggerTaskDone,
		Scopes: w.scopes,
	}).Events[0].EventID
}

// follow takes in what is new in the log.
func (w *world) follow() error {
	page := must(w.log.Reader.Read(w.t.Context(), w.by.Tenant, w.read, 500))(w.t)
	if _, err := w.worker.Prepare(w.t.Context(), follow.Page{Tenant: w.by.Tenant, Events: page}); err != nil {
		return err
	}
	w.read += int64(len(page))
	return nil
}

func (w *world) learn() {
	w.t.Helper()
	noError(w.t, w.follow())
}

// items are those of a status but for archives, in the order in which they were remembered.
func (w *world) items(statuses ...domain.Status) []*domain.Knowledge {
	w.t.Helper()
	page, err := w.base.Browser.List(w.t.Context(), domain.List{By: w.by, Filter: domain.Filter{Statuses: statuses}, Limit: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	items := slices.DeleteFunc(page.Items, func(k *domain.Knowledge) bool { return strings.HasPrefix(k.ID, "archive_") })
	for i, j := 0, len(items)-1; i < j; i, j = i+1, j-1 {
		items[i], items[j] = items[j], items[i]
	}
	return items
}

// settled is what was recorded about a session's archive.
func (w *world) settled(session string, archive int) domain.Fact {
	w.t.Helper()
	commit, found, err := w.log.Sessions.Commit(w.t.Context(), w.by.Tenant, domain.SessionStream(mia, session), archive)
	if err != nil || !found {
		w.t.Fatalf("archive %d of %s: %t, %v", archive, session, found, err)
	}
	event, found, err := w.log.Sessions.ExtractionResult(w.t.Context(), commit)
	if err != nil || !found {
		w.t.Fatalf("archive %d of %s: %t, %v", archive, session, found, err)
	}
	return event.Fact
}

func (w *world) decisions(session string, archive int) (all []domain.Decision) {
	w.t.Helper()
	fact, is := w.settled(session, archive).(domain.SessionExtracted)
	if !is {
		w.t.Fatalf("archive %d of %s was not extracted", archive, session)
	}
	for _, l := range fact.Lessons {
		all = append(all, l.Decision)
	}
	return all
}

var errNever = errors.New("the model will never understand")
