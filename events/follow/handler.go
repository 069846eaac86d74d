package follow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
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

// NoChange changes no projection: it is for pages whose streams are all in quarantine, and for work whose results are
// submitted to the log or sent elsewhere.
type NoChange struct{}

func (NoChange) Write(context.Context, bun.IDB) error { return nil }

func (NoChange) Done() {}

// Preparer does the slow work for a page, such as network calls, outside of any transaction.
type Preparer func(ctx context.Context, page Page) (Change, error)

// handled is the change of a [Handler].
type handled struct {
	NoChange
	handler Handler
	page    Page
}

func (h handled) Write(ctx context.Context, tx bun.IDB) error { return h.handler(ctx, tx, h.page) }

// NewRouter makes a Watermill router for the handlers of a log. Run it with [Run].
func NewRouter(logger *slog.Logger) (*message.Router, error) {
	levels := map[slog.Level]slog.Level{slog.LevelInfo: slog.LevelDebug}
	return message.NewRouter(message.RouterConfig{}, watermill.NewSlogLoggerWithLevelMapping(logger, levels))
}

// Run runs a router until ctx ends, and returns when its handlers have ended. It closes the router only once it runs:
// a router that is closed earlier waits half a minute for handlers that never start.
func Run(ctx context.Context, router *message.Router) error {
	ended := make(chan error, 1)
	go func() { ended <- router.Run(context.WithoutCancel(ctx)) }()
	select {
	case err := <-ended:
		return err
	case <-router.Running():
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return errors.Join(router.Close(), <-ended)
	}
}

// AddPreparer lets a projection follow every tenant's log, under a unique name. Of all processes that share the
// database, one works on it at a time. Pages of one tenant are delivered in order, pages of different tenants
// concurrently.
//
// If the database, a model or the network is unavailable, the page is retried at growing intervals until it succeeds.
// [Followers.LastError] says why a projection is stalled.
//
// If an event makes a page fail, the page is divided until that event is alone. Then the event's stream is put into
// quarantine: the projection skips this stream and continues with the others. See [Followers.RetryQuarantined].
func AddPreparer(router *message.Router, l *Followers, projection string, prepare Preparer) *message.Handler {
	return add(router, l, projection, prepare, func(*Page) {})
}

func add(
	router *message.Router, l *Followers, projection string, prepare Preparer, adapt func(*Page),
) *message.Handler {
	l.handlers.add(projection, prepare)
	return router.AddConsumerHandler(projection, projection, NewSubscriber(l), func(msg *message.Message) error {
		page, err := PageOf(msg)
		if err != nil {
			return err
		}
		adapt(&page)
		ctx := database.ForTenant(msg.Context(), page.Tenant)
		err = l.processPage(ctx, projection, page, prepare, attemptsAtPage)
		if ctx.Err() == nil {
			l.lastErrors.note(projection, page.Tenant, err)
		}
		return err
	})
}

// handleSafely turns a panic into an error, so that the page is retried and the error reported.
func (l *Followers) handleSafely(ctx context.Context, projection string, page Page, prepare Preparer) (err error) {
	defer l.recoverInto(ctx, projection, page.Tenant, &err)
	return l.handle(ctx, projection, page, prepare)
}

func (l *Followers) recoverInto(ctx context.Context, projection, tenant string, err *error) {
	if reason := recover(); reason != nil {
		l.options.Logger.ErrorContext(ctx, "a projection panicked",
			"projection", projection, "tenant", tenant, "reason", reason, "stack", string(debug.Stack()))
		*err = fmt.Errorf("panic: %v", reason)
	}
}

// handle makes one attempt at a page. If another process has processed it, it does nothing.
func (l *Followers) handle(ctx context.Context, projection string, page Page, prepare Preparer) error {
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
		return nil // the checkpoint was set back: the subscriber starts there
	}
	return err
}

// prepared is the change for a page, without the streams in quarantine.
func (l *Followers) prepared(ctx context.Context, page Page, prepare Preparer) (Change, error) {
	page.Events = page.quarantine.without(page.Events)
	switch {
	case len(page.Events) == 0:
		return NoChange{}, nil
	case page.unreadable != nil:
		return nil, page.unreadable
	}
	return prepare(ctx, page)
}

// handlers are the projections of this process, by name.
type handlers struct {
	mu         sync.Mutex
	prepares   map[string]Preparer
	wholePages []string
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

func (h *handlers) addWholePages(projection string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wholePages = append(h.wholePages, projection)
}

func (h *handlers) wantsWholePages(projection string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Contains(h.wholePages, projection)
}

// Followers lists the projections of this process, in order.
func (l *Followers) Names() []string {
	l.handlers.mu.Lock()
	defer l.handlers.mu.Unlock()
	var names []string
	for name := range l.handlers.prepares {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
