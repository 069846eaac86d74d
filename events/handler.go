package events

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

// Handler takes in a page of the log. What it writes with tx and the projection's checkpoint are
// committed together, so inside the database every event has its effect exactly once. An error rolls
// both back, and the page comes again. What it does elsewhere may happen more than once: use the
// event's id to recognise it.
//
// On SQLite nobody else can write while the transaction is open: what takes long belongs into a
// [Preparer], and so does whatever submits commands to the log.
type Handler func(ctx context.Context, tx bun.IDB, page Page) error

// Change is what a page means for a projection, worked out before anything is written.
type Change interface {
	// Write writes it, in the transaction that also moves the checkpoint.
	Write(ctx context.Context, tx bun.IDB) error
	// Done is called when the page's changes are committed, be it by another process.
	Done()
}

// Preparer does with a page what takes long or needs a network, outside of any transaction.
type Preparer func(ctx context.Context, page Page) (Change, error)

// handled is the change of a [Handler].
type handled struct {
	handler Handler
	page    Page
}

func (h handled) Write(ctx context.Context, tx bun.IDB) error { return h.handler(ctx, tx, h.page) }
func (h handled) Done()                                       {}

// NewRouter makes a Watermill router for the handlers of a log. Run it with Run, end it with Close.
func NewRouter(logger *slog.Logger) (*message.Router, error) {
	levels := map[slog.Level]slog.Level{slog.LevelInfo: slog.LevelDebug}
	return message.NewRouter(message.RouterConfig{}, watermill.NewSlogLoggerWithLevelMapping(logger, levels))
}

// AddHandler lets a projection follow every tenant's log, under a name of its own. Pages of one tenant
// come one after the other, those of different tenants side by side. A page that fails is tried
// again, at growing intervals, until it succeeds: nothing is skipped. [Log.Trouble] says why a
// projection stands still.
func AddHandler(router *message.Router, l *Log, projection string, handler Handler) *message.Handler {
	return AddPreparer(router, l, projection, func(_ context.Context, page Page) (Change, error) {
		return handled{handler, page}, nil
	})
}

// AddPreparer is [AddHandler] for what takes long.
func AddPreparer(router *message.Router, l *Log, projection string, prepare Preparer) *message.Handler {
	h := router.AddConsumerHandler(projection, projection, NewSubscriber(l), func(msg *message.Message) error {
		page, err := PageOf(msg)
		if err != nil {
			return err
		}
		err = l.handleSafely(msg.Context(), projection, page, prepare)
		if msg.Context().Err() == nil {
			l.troubles.note(projection, page.Tenant, err)
		}
		return err
	})
	h.AddMiddleware(middleware.Retry{
		MaxRetries:          4,
		InitialInterval:     50 * time.Millisecond,
		MaxInterval:         time.Second,
		Multiplier:          2,
		ResetContextOnRetry: true,
	}.Middleware)
	return h
}

// handleSafely turns a panic into an error, so that it is tried again and seen as trouble.
func (l *Log) handleSafely(ctx context.Context, projection string, page Page, prepare Preparer) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			l.options.Logger.ErrorContext(ctx, "a projection panicked",
				"projection", projection, "tenant", page.Tenant, "reason", reason, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", reason)
		}
	}()
	return l.handle(ctx, projection, page, prepare)
}

// handle makes one attempt at a page. If somebody else was faster, there is nothing left to do.
func (l *Log) handle(ctx context.Context, projection string, page Page, prepare Preparer) error {
	change, err := prepare(ctx, page)
	if err != nil {
		return err
	}
	err = l.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := l.holdCheckpoint(ctx, tx, projection, page); err != nil {
			return err
		}
		if err := change.Write(ctx, tx); err != nil {
			return err
		}
		return l.moveCheckpoint(ctx, tx, projection, page)
	})
	switch {
	case err == nil:
		change.Done()
		return nil
	case errors.Is(err, errFenced):
		page.lease.lose()
		return nil
	case !errors.Is(err, errMoved) && !errors.Is(err, database.ErrOutcomeUnknown):
		return err
	}
	c, lookErr := readCheckpoint(ctx, l.db, projection, page.Tenant)
	switch {
	case lookErr != nil:
		return errors.Join(err, lookErr)
	case c.position >= page.Last().Position:
		change.Done()
		return nil
	case errors.Is(err, errMoved):
		return nil // somebody set it back: the subscriber begins there
	}
	return err
}
