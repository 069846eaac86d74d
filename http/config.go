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
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/operate"
	"github.com/annals-kb/annals/http/people"
	"github.com/annals-kb/annals/http/scrubbing"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/sessions"
)

// Config configures a [Server]. Everything but Writer, Reader, Historian, Finder and Reporter has a default.
type Config struct {
	Writer    serve.Writer
	Reader    Reader
	Historian Historian
	Finder    Finder

	// Rebuilder rebuilds projections. Nil if this server rebuilds none.
	Rebuilder operate.Rebuilder
	// Prover proves what is in the log. Nil if this server proves nothing.
	Prover Prover
	// Protections tells what protects the log from changes. Nil if unknown.
	Protections func(context.Context) ([]domain.Protection, error)
	// Reporter answers reports. Required.
	Reporter Reporter
	// Recorder records accesses. Nil for none.
	Recorder Recorder
	// Keys finds the holders of keys. If it is nil, the server has none, and without RootKey it is in no-auth mode.
	Keys Keyring
	// Tokens finds the holders of tokens. Nil if no issuer's tokens are accepted.
	Tokens Tokens
	// Logins finds the bearers of the ID tokens that sessions hold (OpenLogin). Nil if there are no such sessions.
	Logins Tokens
	// Confine limits the statements of a context to the rows of one tenant; an empty name to those of none. Nil if
	// the database does not separate tenants.
	Confine func(ctx context.Context, tenant string) context.Context
	// Sessions answers questions about sessions. Nil if this server keeps none.
	Sessions sessions.Sessions
	// Eraser follows lineages and purges files. Nil if this server does neither.
	Eraser Eraser
	// Scrubbing tells by which rules texts are scrubbed. Nil if they cannot be changed here.
	Scrubbing scrubbing.Scrubbing
	// Recorded finds and redacts secrets that are recorded already. Nil if this server does not do that.
	Recorded scrubbing.Recorded
	// RootKey is valid for everything in every tenant. Empty for none.
	RootKey string
	// SessionKey seals session tokens: 32 secret bytes, the same on all servers of a database. Nil for no sessions.
	SessionKey []byte
	// Background manages the projections that follow the log. Nil if there are none.
	Background operate.Background
	// Mounts are surfaces of other packages.
	Mounts []Mount
	// Directory says which groups callers belong to. Nil for a server without a directory.
	Directory people.Directory
	// Verification tells by which policies items are verified. Nil for a server without policies.
	Verification Verification

	// Subscriptions delivers events to subscribers. Nil for a server without subscriptions.
	Subscriptions Subscriptions
	// Home is the path to which / redirects browsers. Default: /docs.
	Home string
	// Probes are asked by /readyz, all at once, each within two seconds.
	Probes []Probe
	// Logger receives one line per request, and the cause of every answer of 500 and above.
	// Never what people wrote. Nil for no log.
	Logger *slog.Logger
	// Settings are shown to admins. They contain no secrets.
	Settings api.Settings
	// Models are the models that the server asks, such as the embedder.
	Models []Model
	// Registry is served at /metrics and receives the server's own metrics, so it serves one
	// Server. Nil for a registry of its own.
	Registry *prometheus.Registry
	// Version is shown by /, /healthz and the API's description.
	Version string
	// Policy is the confidence policy. It must be that of the projection. Default: domain.DefaultConfidence.
	Policy func() domain.ConfidencePolicy
	// Now tells the time. Nil for time.Now.
	Now func() time.Time

	// MaxBody is the largest size of the body of a single request, in bytes. Default: 1 MiB.
	MaxBody int64
	// MaxLine is the largest size of one item of a bulk request, in bytes. Default: 256 KiB.
	MaxLine int
	// MaxBulk is the largest size of a whole bulk request, in bytes. Default: 1 GiB.
	MaxBulk int64
	// Timeout bounds one request: how long its body may take to arrive, and how long its answer may take. A write
	// that the log has begun is answered nevertheless. For a bulk request it bounds every pause and every commit
	// instead. Default: 30 s.
	Timeout time.Duration
	// Heartbeat is how often a stream sends a sign of life while there are no events. Default: 15 s.
	Heartbeat time.Duration
	// Rate limits the requests per second with one key; a burst may be twice as large. 0 for no limit.
	Rate float64

	// PreStopDelay is how long /readyz answers 503 after shutdown began, before the server refuses connections. Set
	// it to the load balancer's polling interval. 0 to refuse at once.
	PreStopDelay time.Duration
	// PurgeAfter is how long files may hold erased text until the server rewrites them. 0 to never rewrite them.
	PurgeAfter time.Duration
	// ShutdownTimeout is how long shutdown waits for accepted requests. Default: 30 s.
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
	missing("Finder", c.Finder == nil)
	missing("Reporter", c.Reporter == nil)
	for i, probe := range c.Probes {
		missing(fmt.Sprintf("Probes[%d].Name", i), probe.Name == "")
		missing(fmt.Sprintf("Probes[%d].Check", i), probe.Check == nil)
	}
	for i, mount := range c.Mounts {
		missing(fmt.Sprintf("Mounts[%d].Paths", i), len(mount.Paths) == 0)
		missing(fmt.Sprintf("Mounts[%d].Handler", i), mount.Handler == nil)
	}
	if n := len(c.SessionKey); n != 0 && n != sessionKeyBytes {
		errs = append(errs, fmt.Errorf("SessionKey must have %d bytes", sessionKeyBytes))
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
	c.Home = cmp.Or(c.Home, "/docs")
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
