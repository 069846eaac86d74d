package follow

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

// Handler processes a page of the log. Its writes with tx and the projection's checkpoint are committed together, so
// inside the database every event takes effect exactly once. An error rolls both back, and the page is delivered
// again. Effects elsewhere may happen more than once: use the event's id to detect that.
//
// On SQLite, no other transaction can write while this one is open. Use a [Preparer] for slow work, and for work that
// submits commands to the log.
type Handler func(ctx context.Context, tx bun.IDB, page Page) error

// Change is the effect of a page on a projection, computed before anything is written.
type Change interface {
	// Write writes the change, in the transaction that also moves the checkpoint.
	Write(ctx context.Context, tx bun.IDB) error
	// Done is called when the page's changes are committed, by this process or another.
	Done()
}

// NoChange changes no projection: it is for work whose results go elsewhere, such as into the log.
type NoChange struct{}

// Write implements [Change].
func (NoChange) Write(context.Context, bun.IDB) error { return nil }

// Done implements [Change].
func (NoChange) Done() {}

// Preparer does the slow work for a page, such as network calls, outside of any transaction.
type Preparer func(ctx context.Context, page Page) (Change, error)

// Prepare is a [Preparer] that leaves all work to the transaction.
func (h Handler) Prepare(_ context.Context, page Page) (Change, error) { return handled{h, page}, nil }

// handled is the change of a [Handler].
type handled struct {
	handler Handler
	page    Page
}

func (h handled) Write(ctx context.Context, tx bun.IDB) error { return h.handler(ctx, tx, h.page) }
func (h handled) Done()                                       {}

// handleSafely turns a panic into an error, so that the page is retried and the error reported.
func (l *Log) handleSafely(ctx context.Context, projection string, page Page, prepare Preparer) (err error) {
	defer l.recoverInto(ctx, projection, page.Tenant, &err)
	return l.handle(ctx, projection, page, prepare)
}

func (l *Log) recoverInto(ctx context.Context, projection, tenant string, err *error) {
	if reason := recover(); reason != nil {
		l.options.Logger.ErrorContext(ctx, "a projection panicked",
			"projection", projection, "tenant", tenant, "reason", reason, "stack", string(debug.Stack()))
		*err = fmt.Errorf("panic: %v", reason)
	}
}

// handle makes one attempt at a page. If another process has processed it, it does nothing.
func (l *Log) handle(ctx context.Context, projection string, page Page, prepare Preparer) error {
	change, err := l.prepared(ctx, page, prepare)
	if err != nil {
		return err
	}
	l.finishing.RLock()
	defer l.finishing.RUnlock()
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
		l.moved.notify()
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
		return nil // the checkpoint was set back: the follower starts there
	}
	return err
}

// prepared is the change for a page, without the streams in quarantine.
func (l *Log) prepared(ctx context.Context, page Page, prepare Preparer) (Change, error) {
	page.Events = page.quarantine.without(page.Events)
	switch {
	case len(page.Events) == 0:
		return NoChange{}, nil // all streams of the page are in quarantine
	case page.unreadable != nil:
		return nil, page.unreadable
	}
	return prepare(ctx, page)
}

// handlers are the projections of this process, by name.
type handlers struct {
	mu       sync.Mutex
	prepares map[string]Preparer
}

func (h *handlers) add(projection string, prepare Preparer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.prepares == nil {
		h.prepares = map[string]Preparer{}
	}
	h.prepares[projection] = prepare
}

func (h *handlers) of(projection string) (prepare Preparer, found bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	prepare, found = h.prepares[projection]
	return prepare, found
}

// Followers lists the projections of this process, in order.
func (l *Log) Followers() []string {
	l.handlers.mu.Lock()
	defer l.handlers.mu.Unlock()
	var names []string
	for name := range l.handlers.prepares {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
