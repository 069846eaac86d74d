package events

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/background"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Log is the log of every tenant in one database. It is safe for concurrent use. The caller of
// NewLog closes it, before the database.
//
// What it promises about a command:
//
//   - It is decided after everything recorded before it, and before anything recorded after it.
//   - Its facts, their texts, its answer for a repeated request and the inline projection are
//     written in one transaction, together with other commands that were waiting. A refusal
//     records nothing and does not affect other commands.
//   - A receipt means that COMMIT succeeded. If its answer is lost, the log looks for the events.
//   - Once a command was taken from the queue it is carried through, whatever becomes of its caller.
//
// Several processes may append to one PostgreSQL.
type Log struct {
	*Reader
	Finder
	SessionReader
	ErasureReader
	*Watchers
	metrics metrics

	// ctx is what transactions run under: it ends when Close has waited long enough.
	ctx  context.Context
	stop context.CancelFunc

	mu         sync.Mutex
	queues     map[string]*tenantQueue // by tenant; a tenant without waiting commands has none
	closed     bool
	committers sync.WaitGroup

	background background.Worker
	keys       atomic.Int64 // commits that changed any
}

// NewLog makes a log on a migrated database. inline is written with every append.
func NewLog(db *database.DB, inline Inline, options Options) *Log {
	options = options.withDefaults()
	ctx, stop := context.WithCancel(database.ForEveryTenant(context.Background()))
	reader := &Reader{db: db, inline: inline, options: options}
	return &Log{
		Reader: reader, Finder: Finder{reader}, SessionReader: SessionReader{reader}, ErasureReader: ErasureReader{reader},
		Watchers: &Watchers{Reader: reader, ctx: ctx, appended: newNotifier()},
		metrics:  newMetrics(options.Registerer), ctx: ctx, stop: stop, queues: map[string]*tenantQueue{},
	}
}

// Close stops taking commands and finishes those that it accepted. If ctx ends first, what is not
// committed yet is abandoned, its callers get an error, and the error is that of ctx.
func (l *Log) Close(ctx context.Context) error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()

	finished := make(chan struct{})
	go func() {
		defer close(finished)
		l.committers.Wait()
	}()
	var err error
	select {
	case <-finished:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	l.stop()
	<-finished
	return err
}

// Changed is closed at the next commit of this process. Take it before reading, and nothing that
// was appended after the reading is missed:
//
//	for {
//		changed := log.Changed()
//		read()
//		<-changed
//	}
func (l *Log) Changed() <-chan struct{} { return l.appended.next() }

// KeyChanges counts the commits of this process that gave a key, or changed what one opens.
func (l *Log) KeyChanges() int64 { return l.keys.Load() }

// Options are those of the log, with the defaults filled in.
func (l *Log) Options() Options { return l.options }

// Background lets work of this process yield to its commands.
func (l *Log) Background() *background.Worker { return &l.background }

// Options are how a log behaves; every zero value means the default.
type Options struct {
	// Clock says when something is recorded; time.Now.
	Clock func() time.Time
	// Queue is how many commands of one tenant may wait; 4,096. Beyond it a command is refused
	// with domain.ErrBusy.
	Queue int
	// Batch is how many commands are written in one transaction, at most; 512.
	Batch int
	// CommitTimeout is how long one transaction may take, and how long the log tries to find out
	// what became of a COMMIT that was not answered; default: 30 seconds.
	CommitTimeout time.Duration
	// Poll is how often those who follow the log look for what other processes appended; one
	// second. What this process appends they hear of at once.
	Poll time.Duration
	// Lease is of package follow: how long this process may be away before another one takes over its projections,
	// and how long that takes if it was killed; ten seconds.
	Lease time.Duration
	// Policy is what the log computes confidence with when it replays a stream;
	// domain.DefaultConfidence.
	Policy domain.ConfidencePolicy
	// Logger; slog.Default.
	Logger *slog.Logger
	// Registerer registers the log's metrics; nil for none. Two logs cannot share one.
	Registerer prometheus.Registerer
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Policy.Confidence == nil {
		o.Policy = domain.DefaultConfidence()
	}
	o.Queue = cmp.Or(o.Queue, 4096)
	o.Batch = min(cmp.Or(o.Batch, 512), o.Queue)
	o.CommitTimeout = cmp.Or(o.CommitTimeout, 30*time.Second)
	o.Poll = cmp.Or(o.Poll, time.Second)
	o.Lease = cmp.Or(o.Lease, 10*time.Second)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return o
}
