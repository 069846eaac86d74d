package events

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/background"
)

// Log is the log of every tenant in one database. It is safe for concurrent use. The caller of NewLog closes it,
// before the database.
//
// Its promises about a command:
//
//   - It is decided after everything recorded before it, and before anything recorded after it.
//   - Its facts, their texts, its answer for a repeated request and the inline projection are written in one
//     transaction, together with other waiting commands. A refusal records nothing and affects no other command.
//   - A receipt means that COMMIT succeeded. If COMMIT was not answered, the log looks for the events.
//   - A command that was taken from the queue is completed, even if its caller has gone.
//
// Several processes may append to one PostgreSQL.
type Log struct {
	Reader   *Reader
	Watchers *Watchers
	Finder   Finder
	Sessions SessionReader
	Erasures ErasureReader
	db       *database.DB
	inline   Inline
	options  Options
	metrics  metrics

	// ctx is the context of transactions. It ends when Close gives up waiting.
	ctx  context.Context
	stop context.CancelFunc

	mu         sync.Mutex
	queues     map[string]*tenantQueue // by tenant; a tenant without waiting commands has no queue
	closed     bool
	suspended  error
	committers sync.WaitGroup

	background background.Worker
	kept       keptStates
	changes    sync.Map // commits that changed streams of a kind, as *atomic.Int64
}

// NewLog makes a log on a migrated database. inline is written with every append.
func NewLog(db *database.DB, inline Inline, options Options) *Log {
	options = options.withDefaults()
	ctx, stop := context.WithCancel(database.ForEveryTenant(context.Background()))
	reader := &Reader{Snapshot: Snapshot{db}, db: db, inline: inline, options: options}
	l := &Log{
		db: db, inline: inline, options: options,
		Reader: reader, Finder: Finder{reader}, Sessions: SessionReader{reader}, Erasures: ErasureReader{reader},
		metrics: newMetrics(options.Registerer), ctx: ctx, stop: stop, queues: map[string]*tenantQueue{},
	}
	l.Watchers = &Watchers{
		reader: reader, background: &l.background, ctx: ctx, appended: newNotifier(), wanted: newNotifier(),
	}
	promauto.With(options.Registerer).NewGaugeFunc(prometheus.GaugeOpts{
		Name: "annals_append_oldest_seconds",
		Help: "How long the oldest command waits for its COMMIT, in its queue and in its transaction; 0 if none waits.",
	}, func() float64 { return l.OldestWait().Seconds() })
	return l
}

// Close refuses new commands and finishes those that it accepted. If ctx ends first, Close abandons what is not
// committed yet: the callers get an error, and Close returns that of ctx.
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

// Suspend refuses new commands with an error, until it is called with nil. Accepted ones are finished.
func (l *Log) Suspend(because error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.suspended = because
}

// Changes counts the commits of this process that changed streams of a kind other than items.
func (l *Log) Changes(kind domain.StreamKind) int64 { return l.changesOf(kind).Load() }

func (l *Log) changesOf(kind domain.StreamKind) *atomic.Int64 {
	count, known := l.changes.Load(kind.Name)
	if !known {
		count, _ = l.changes.LoadOrStore(kind.Name, new(atomic.Int64))
	}
	return count.(*atomic.Int64)
}

// Options are the options of the log, with the defaults filled in.
func (l *Log) Options() Options { return l.options }

// Background lets background work of this process yield to commands.
func (l *Log) Background() *background.Worker { return &l.background }

// Options configure a log. Zero values mean the defaults.
type Options struct {
	// Clock is the clock for times of recording; default: time.Now.
	Clock func() time.Time
	// Queue limits the waiting commands of one tenant; default: 4,096. Further commands are refused with
	// domain.ErrBusy.
	Queue int
	// Batch limits the commands of one transaction; default: 512.
	Batch int
	// CommitTimeout limits the time of one transaction, and of the search for the outcome of an unanswered COMMIT;
	// default: 30 seconds. A command that brings others has four milliseconds more for each.
	CommitTimeout time.Duration
	// Poll is how often followers look for appends of other processes; default: one second. Appends of this process
	// notify them at once.
	Poll time.Duration
	// Lease is how long a lease of package follow lasts; default: ten seconds. If this process is delayed for so
	// long, or killed, another one takes over its projections.
	Lease time.Duration
	// Policy computes confidence when the log replays a stream; default: domain.DefaultConfidence.
	Policy domain.ConfidencePolicy
	// Span begins a span of a trace under that of the context, and returns what ends it. Nil if nobody traces.
	Span func(ctx context.Context, name string) (context.Context, func())
	// Logger is the logger; default: slog.Default.
	Logger *slog.Logger
	// Admission may refuse what would be written. Nil to admit everything.
	Admission Admission
	// Selection selects events by their items. Nil: no event is about an item of the query.
	Selection Selection
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
