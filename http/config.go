package http

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/domain"
)

// Config is what a [Server] is made of. Writer, Reader, Historian and Reporter are required; everything
// else has a default.
type Config struct {
	Writer    Writer
	Reader    Reader
	Historian Historian

	// Rebuilder computes projections anew. Nil if this server rebuilds none.
	Rebuilder Rebuilder
	// Prover proves what is in the log. Nil if this server proves nothing.
	Prover Prover
	// Protections tells what keeps the log from being changed. Nil if unknown.
	Protections func(context.Context) ([]domain.Protection, error)
	// Reporter answers reports. Required.
	Reporter Reporter
	// Recorder keeps a log of accesses. Nil for none.
	Recorder Recorder
	// Keys answers whose key it is. Nil if this server keeps none: it is in no-auth mode then, unless it has
	// a root key.
	Keys Keyring
	// Tokens answers whom a token was given to. Nil if no issuer's tokens are believed.
	Tokens Tokens
	// Confine lets what is done in a context see the rows of one tenant, with an empty name of none. Nil if
	// nothing but the statements themselves keeps tenants apart.
	Confine func(ctx context.Context, tenant string) context.Context
	// Sessions answers questions about sessions. Nil if this server keeps none.
	Sessions Sessions
	// Eraser follows lineages and purges files. Nil if this server does neither.
	Eraser Eraser
	// Scrubbing tells by which rules texts are scrubbed. Nil if they cannot be changed here.
	Scrubbing Scrubbing
	// Recorded finds and redacts what is recorded already. Nil if this server does not do that.
	Recorded Recorded
	// RootKey opens everything, in every tenant. Empty for none.
	RootKey string
	// Background looks after the projections that follow the log. Nil if none does.
	Background Background
	// Mounts are surfaces of other packages.
	Mounts []Mount
	// Probes are asked by /readyz, all at once, each within two seconds.
	Probes []Probe
	// Logger receives one line per request, and the cause of every answer of 500 and above.
	// Never what people wrote. Nil for no log.
	Logger *slog.Logger
	// Registry is served at /metrics and receives the server's own metrics, so it serves one
	// Server. Nil for a registry of its own.
	Registry *prometheus.Registry
	// Version is shown by /, /healthz and the API's description.
	Version string
	// Policy is what folds histories. Default: domain.DefaultConfidence; must be the projection's.
	Policy func() domain.ConfidencePolicy
	// Now tells the time. Nil for time.Now.
	Now func() time.Time

	// MaxBody is the size of a single request's body in bytes. 0 for 1 MiB.
	MaxBody int64
	// MaxLine is the size of one item among many in bytes. 0 for 256 KiB.
	MaxLine int
	// MaxBulk is the size of all of them together in bytes. 0 for 1 GiB.
	MaxBulk int64
	// Timeout bounds one request: how long its body may take to arrive, and how long it may
	// wait for an answer; a write that the log has begun is answered nevertheless. Of a bulk
	// request it bounds every pause and every commit instead. 0 for 30 s.
	Timeout time.Duration
	// Heartbeat is how often a stream sends a sign of life while there are no events. 0
	// for 15 s.
	Heartbeat time.Duration
	// Rate is how many requests per second may be made with one key; twice as many at once. 0 for
	// no limit.
	Rate float64

	// Notice is how long /readyz answers 503, after shutdown began, before new connections are
	// refused: a load balancer's polling interval. 0 to refuse at once.
	PreStopDelay time.Duration
	// PurgeAfter is how long the files may hold what was erased until the server rewrites them. 0 for ever.
	PurgeAfter time.Duration
	// Drain is how long shutdown waits for requests that were accepted. 0 for 30 s.
	ShutdownTimeout time.Duration
}

// Validate names everything that is wrong with the configuration.
func (c Config) Validate() error {
	var errs []error
	missing := func(name string, is bool) {
		if is {
			errs = append(errs, fmt.Errorf("%s is required", name))
		}
	}
	missing("Writer", c.Writer == nil)
	missing("Reader", c.Reader == nil)
	missing("Historian", c.Historian == nil)
	missing("Reporter", c.Reporter == nil)
	for i, probe := range c.Probes {
		missing(fmt.Sprintf("Probes[%d].Name", i), probe.Name == "")
		missing(fmt.Sprintf("Probes[%d].Check", i), probe.Check == nil)
	}
	for i, mount := range c.Mounts {
		missing(fmt.Sprintf("Mounts[%d].Paths", i), len(mount.Paths) == 0)
		missing(fmt.Sprintf("Mounts[%d].Handler", i), mount.Handler == nil)
	}
	negative := func(name string, is bool) {
		if is {
			errs = append(errs, fmt.Errorf("%s must not be negative", name))
		}
	}
	negative("MaxBody", c.MaxBody < 0)
	negative("MaxLine", c.MaxLine < 0)
	negative("MaxBulk", c.MaxBulk < 0)
	negative("Timeout", c.Timeout < 0)
	negative("Heartbeat", c.Heartbeat < 0)
	negative("Rate", !(c.Rate >= 0))
	negative("PreStopDelay", c.PreStopDelay < 0)
	negative("ShutdownTimeout", c.ShutdownTimeout < 0)
	negative("PurgeAfter", c.PurgeAfter < 0)
	return errors.Join(errs...)
}

func (c Config) withDefaults() Config {
	c.MaxBody = cmp.Or(c.MaxBody, 1<<20)
	c.MaxLine = cmp.Or(c.MaxLine, 256<<10)
	c.MaxBulk = cmp.Or(c.MaxBulk, 1<<30)
	c.Timeout = cmp.Or(c.Timeout, 30*time.Second)
	c.Heartbeat = cmp.Or(c.Heartbeat, 15*time.Second)
	c.ShutdownTimeout = cmp.Or(c.ShutdownTimeout, 30*time.Second)
	if c.Confine == nil {
		c.Confine = func(ctx context.Context, _ string) context.Context { return ctx }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Registry == nil {
		c.Registry = prometheus.NewRegistry()
	}
	if c.Policy == nil {
		c.Policy = domain.DefaultConfidence
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}
