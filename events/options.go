package events

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/domain"
)

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
	// what became of a COMMIT that nobody answered; 30 seconds.
	CommitTimeout time.Duration
	// Poll is how often those who follow the log look for what other processes appended; one
	// second. What this process appends they hear of at once.
	Poll time.Duration
	// Lease is how long this process may be away before another one takes over its projections,
	// and how long that takes if it was killed; ten seconds.
	Lease time.Duration
	// Policy is what the log computes confidence with when it replays a stream;
	// domain.DefaultConfidence.
	Policy domain.ConfidencePolicy
	// Logger; slog.Default.
	Logger *slog.Logger
	// Registerer is told of the log's metrics; nil for nobody. Two logs cannot share one.
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
