package http

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/keys"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

// Config configures a [Server]. Everything has a default but the readers and the Writer.
type Config struct {
	Writer    serve.Writer
	Browser   Browser
	Searcher  Searcher
	Reader    Reader
	Historian visible.Log
	Watcher   visible.Watcher
	Finder    visible.Finder
	// Rooms are operations of other packages.
	Rooms []Room
	// Callers is what callers are identified by. Without keys and a root key, the server is in no-auth mode.
	Callers keys.Config
	// Elsewhere returns what answers a request instead of this server, such as its primary, or refuses it. It returns
	// nil for a request that this server answers. Nil if it answers all.
	Elsewhere func(*http.Request) (http.Handler, error)
	// Policies tells how items are verified. Nil for none.
	Policies visible.Policies
	// Recorder records answers and denials. Nil for none.
	Recorder visible.Recorder
	// Lesson gives a lesson the audience of the lessons of the tenant. Nil to leave lessons unchanged.
	Lesson func(ctx context.Context, command domain.Remember) (domain.Remember, error)
	// Confine limits the statements of a context to the rows of one tenant; an empty name to those of none. Nil if
	// the database does not separate tenants.
	Confine func(ctx context.Context, tenant string) context.Context
	// Outdated refuses if a newer release has migrated the database. Nil if none can.
	Outdated func(ctx context.Context) error
	// Mounts are surfaces of other packages.
	Mounts []Mount
	// Home is the path to which / redirects browsers. Default: /docs.
	Home string
	// PublicURL is what the addresses of the server begin with, without a slash at its end. Empty if callers reach the
	// server directly.
	PublicURL string
	// Links is the path with which the addresses of items begin in digests. Default: /v1/knowledge/.
	Links string
	// Logger receives one line per request, and the cause of every answer of 500 and above.
	// Never what people wrote. Nil for no log.
	Logger *slog.Logger
	// Trace traces each request. Nil if nobody traces.
	Trace echo.MiddlewareFunc
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
	// MaxLine is the largest size of one item of a bulk request, in bytes. Default: 1 MiB. A valid item is smaller,
	// also if each of its characters is escaped.
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
	// ShutdownTimeout is how long shutdown waits for accepted requests. Default: 30 s.
	ShutdownTimeout time.Duration
}

// Validate names everything that is wrong with the configuration.
func (c Config) Validate() error {
	var errs []error
	refuse := func(is bool, format string, values ...any) {
		if is {
			errs = append(errs, fmt.Errorf(format, values...))
		}
	}
	refuse(c.Writer == nil, "Writer is required")
	refuse(c.Browser == nil, "Browser is required")
	refuse(c.Searcher == nil, "Searcher is required")
	refuse(c.Reader == nil, "Reader is required")
	refuse(c.Historian == nil, "Historian is required")
	refuse(c.Watcher == nil, "Watcher is required")
	refuse(c.Finder == nil, "Finder is required")
	for i, mount := range c.Mounts {
		refuse(len(mount.Paths) == 0, "Mounts[%d].Paths is required", i)
		refuse(mount.Handler == nil, "Mounts[%d].Handler is required", i)
	}
	n := len(c.Callers.SessionKey)
	refuse(n != 0 && n != keys.SessionKeyBytes, "Callers.SessionKey must have %d bytes", keys.SessionKeyBytes)
	refuse(c.MaxBody < 0, "MaxBody must not be negative")
	refuse(c.MaxLine < 0, "MaxLine must not be negative")
	refuse(c.MaxBulk < 0, "MaxBulk must not be negative")
	refuse(c.Timeout < 0, "Timeout must not be negative")
	refuse(c.Heartbeat < 0, "Heartbeat must not be negative")
	refuse(!(c.Rate >= 0), "Rate must not be negative")
	refuse(c.PreStopDelay < 0, "PreStopDelay must not be negative")
	refuse(c.ShutdownTimeout < 0, "ShutdownTimeout must not be negative")
	return errors.Join(errs...)
}

func (c Config) withDefaults() Config {
	c.Home, c.Links = cmp.Or(c.Home, "/docs"), cmp.Or(c.Links, "/v1/knowledge/")
	c.MaxBody = cmp.Or(c.MaxBody, 1<<20)
	c.MaxLine = cmp.Or(c.MaxLine, 1<<20)
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
	c.Callers.Now = c.Now
	return c
}

// Browser reads items as they are.
type Browser interface {
	visible.Reader
	// Live returns, by id, those of some items that are live and visible to a principal.
	Live(ctx context.Context, by domain.Principal, ids []string) (map[string]*domain.Knowledge, error)
	// Count counts the items that a principal may see and that pass a filter.
	Count(ctx context.Context, by domain.Principal, filter domain.Filter) (domain.Counts, error)
	// Feedback returns the newest 50 votes on an item.
	Feedback(ctx context.Context, reader domain.Principal, id string) (domain.Feedback, error)
}

// Searcher finds items as they are.
type Searcher interface {
	// SearchAll answers complete searches, in order. It embeds equal texts once.
	SearchAll(ctx context.Context, searches []domain.Search) ([]domain.Answer, error)
	// Similar finds items that equal, contradict or resemble an item, where its audience and the caller may read.
	Similar(ctx context.Context, by domain.Principal, item *domain.Knowledge) ([]domain.SimilarItem, error)
}

// Reader answers questions about the present and the past.
type Reader interface {
	visible.Progress
	// List returns the items that its principal may see, newest first.
	List(ctx context.Context, list domain.List) (domain.ListPage, error)
	// AsOf returns an item as it was at a position of the log, with all of its votes. An item that was not yet
	// remembered does not exist. The caller decides who may see it, by its present state.
	AsOf(ctx context.Context, tenant, id string, position int64) (*domain.Knowledge, error)
	// Search finds by meaning and by words. The search is complete (domain.Search.Complete).
	Search(ctx context.Context, search domain.Search) (domain.Answer, error)
	// Status returns the state of each projection of the tenant.
	Status(ctx context.Context, tenant string) ([]domain.ProjectionStatus, error)
}

// Room is a set of operations. Routes registers them; events are those that callers may see.
type Room interface {
	Routes(a *serve.API, events visible.Events)
}
