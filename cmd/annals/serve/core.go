package serve

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/events/signing"
	annalshttp "github.com/annals-kb/annals/http"
	annalsclient "github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/record"
	httpserve "github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/embedding"
	"github.com/annals-kb/annals/projections/erasure"
	"github.com/annals-kb/annals/projections/keys"
)

// core is what a part may use.
type core struct {
	cfg                Config
	primary            *core              // that of the primary in this process, for a standby beside it; nil for none
	embedder, previous embedding.Embedder // previous is nil for none

	db        *database.DB
	log       *events.Log
	followers *follow.Followers
	knowledge *projections.Knowledge
	key       signing.Key // from which secrets are derived
	keys      *keys.Keys
	eraser    *erasure.Eraser
	entrance  *events.ScrubbingWriter // the writer of background work
	writer    httpserve.Writer        // the writer of callers, as far as it is wrapped
	search    search                  // likewise
	reader    projections.Reader

	feeds    *record.Feeds
	parts    []part               // those that are open
	api      *annalshttp.Server   // nil until all parts are open
	inner    *annalsclient.Client // asks the API of this process
	registry *prometheus.Registry
	logger   *slog.Logger

	role    context.Context    //nolint:containedctx // ends when the database is no longer the primary, or standby, it was
	giveWay context.CancelFunc // ends role: another service takes over
}

// open opens the log and the parts. What is open when it fails is closed by the service.
func (c *core) open(ctx context.Context) (err error) {
	if c.key, err = c.cfg.signingKey(); err != nil {
		return err
	}
	c.knowledge, err = projections.Open(ctx, c.db,
		projections.Settings{
			Embedder: c.embedder, Previous: c.previous, Logger: c.logger,
			SketchMemory: int(min(c.cfg.SketchMemory, 1<<30)) << 20,
		})
	if err != nil {
		return fmt.Errorf("open the projections: %w", err)
	}
	c.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	options := events.Options{
		Policy: c.knowledge.Policy(), Selection: c.knowledge.Browser, Logger: c.logger, Registerer: c.registry,
	}
	for _, p := range parts() {
		if p.log != nil {
			if err := p.log(c, &options); err != nil {
				return err
			}
		}
	}
	c.log, c.followers = follow.NewLog(c.db, c.knowledge.Projection, options)
	past, err := projections.OpenPast(ctx, c.knowledge, c.log, c.followers)
	if err != nil {
		return err
	}
	c.reader = projections.Reader{Knowledge: c.knowledge, Past: past, Log: c.log, Followers: c.followers}
	c.entrance = events.NewScrubbingWriter(c.log, c.cfg.Scrub == "on")
	c.writer, c.search = c.entrance, c.reader.Search
	c.keys, c.eraser = keys.NewKeys(c.db, c.log), projections.NewEraser(c.knowledge, c.log, c.logger)
	c.inner, err = insideClient(func(w http.ResponseWriter, r *http.Request) { c.api.Handler().ServeHTTP(w, r) })
	if err != nil {
		return err
	}
	for _, p := range parts() {
		if p.open != nil {
			opened, err := p.open(ctx, c)
			if err != nil {
				return err
			}
			c.join(opened)
		}
	}
	return nil
}

// insideClient makes requests to the API of this process. They have the time limit of the outer request and are not
// repeated.
func insideClient(api http.HandlerFunc) (*annalsclient.Client, error) {
	return annalsclient.New(annalsclient.Config{Transport: annalsclient.Inside(api), Timeout: -1, Retries: -1})
}

// present answers questions about the present, with what parts add.
type present struct{ core *core }

func (r present) List(ctx context.Context, list domain.List) (domain.ListPage, error) {
	return r.core.reader.List(ctx, list)
}

func (r present) AsOf(ctx context.Context, tenant, id string, position int64) (*domain.Knowledge, error) {
	return r.core.reader.AsOf(ctx, tenant, id, position)
}

func (r present) Await(ctx context.Context, tenant string, position int64, search bool) error {
	return r.core.reader.Await(ctx, tenant, position, search)
}

func (r present) Search(ctx context.Context, s domain.Search) (domain.Answer, error) {
	return r.core.search(ctx, s)
}

func (r present) Status(ctx context.Context, tenant string) ([]domain.ProjectionStatus, error) {
	all, err := r.core.reader.Status(ctx, tenant)
	for _, p := range r.core.parts {
		for _, status := range p.status {
			if err != nil {
				return all, err
			}
			var own domain.ProjectionStatus
			own, err = status(ctx, tenant)
			all = append(all, own)
		}
	}
	return all, err
}

// join takes what a part hands over.
func (c *core) join(p part) {
	c.parts = append(c.parts, p)
	if p.writer != nil {
		c.writer = p.writer(c.writer)
	}
	if p.search != nil {
		c.search = p.search(c.search)
	}
}

// every repeats a step until ctx ends. It logs a failed step and repeats it.
func (c *core) every(
	interval time.Duration, name string, step func(context.Context) error,
) func(context.Context) {
	return func(ctx context.Context) {
		for ctx.Err() == nil {
			if err := step(ctx); err != nil && ctx.Err() == nil {
				c.logger.WarnContext(ctx, "a background step failed and will be repeated",
					"step", name, "error", err, "after", interval.String())
			}
			select {
			case <-time.After(interval):
			case <-ctx.Done():
			}
		}
	}
}
