package http

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"github.com/annals-kb/annals/http/keys"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

// Server answers the HTTP API. It is safe for concurrent use.
type Server struct {
	cfg   Config
	echo  *echo.Echo
	outer http.Handler // what [Server.Handler] returns
	api   *serve.API
	items visible.Items
	log   visible.Events
	// Callers identifies callers, and opens their sessions.
	Callers keys.Identities
	limiter *serve.Limiter
	metrics *metrics
	pages   func() (pages, error)
	closing atomic.Bool // shutdown has begun: /readyz fails
}

// New makes a server of a configuration that [Config.Validate] accepts.
func New(cfg Config) *Server {
	cfg = cfg.withDefaults()
	s := &Server{
		cfg: cfg, echo: echo.New(), limiter: serve.NewLimiter(cfg.Rate, 2*cfg.Rate), metrics: newMetrics(cfg.Registry),
	}
	s.Callers = keys.New(cfg.Callers)
	s.echo.HideBanner, s.echo.HidePort = true, true
	s.echo.HTTPErrorHandler = func(err error, e echo.Context) {
		s.answerError(serve.CallOf(e.Request().Context()), e, err)
	}
	if cfg.Trace != nil {
		s.echo.Use(cfg.Trace)
	}
	s.echo.Use(s.observe, protect())
	if cfg.Elsewhere != nil {
		s.echo.Use(s.elsewhere)
	}
	described := humaecho.New(s.echo, huma.Config{
		OpenAPI:       description(cfg.Version),
		Formats:       map[string]huma.Format{serve.JSONType: huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat},
		DefaultFormat: serve.JSONType,
	})
	s.api = &serve.API{
		Writer: visible.Writer{Writer: cfg.Writer, Reader: cfg.Browser}, Huma: described, MaxBody: cfg.MaxBody,
		Timeout: cfg.Timeout, Leaving: make(chan struct{}), Cut: make(chan struct{}),
		Admit: s.admit, Authenticate: s.Callers.Identify, Confine: cfg.Confine, Outdated: cfg.Outdated,
		Closing:   s.closing.Load,
		Heartbeat: cfg.Heartbeat, Links: cfg.PublicURL + cfg.Links, Version: cfg.Version, Now: cfg.Now,
		Registry: cfg.Registry,
		Policy:   cfg.Policy,
	}
	s.items = visible.Items{
		Reader: cfg.Browser, Policies: cfg.Policies, Recorder: cfg.Recorder, Progress: cfg.Reader,
	}
	s.log = visible.Events{Log: cfg.Historian, Watcher: cfg.Watcher, Finder: cfg.Finder, Items: s.items}
	s.routes()
	tidy(described.OpenAPI())
	s.pages = sync.OnceValues(func() (pages, error) { return render(described.OpenAPI()) })
	s.outer = behind(cfg.PublicURL, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead || r.URL.RawPath != "" {
			r = plainly(r)
		}
		s.echo.ServeHTTP(w, r)
	}))
	return s
}

// Handler answers every route of the API.
func (s *Server) Handler() http.Handler { return s.outer }

// slashes escapes the escapes of slashes, so that unescaping a path keeps them.
var slashes = strings.NewReplacer("%2F", "%252F", "%2f", "%252F")

// plainly normalises a request for the routes. HEAD becomes GET, since the connection omits the body. Escaped letters
// of a path are unescaped, but not slashes, which would split a name.
func plainly(r *http.Request) *http.Request {
	r = r.Clone(r.Context())
	if path, err := url.PathUnescape(slashes.Replace(r.URL.RawPath)); err == nil && path != "" {
		r.URL.Path = path
	}
	r.URL.RawPath = ""
	if r.Method == http.MethodHead {
		r.Method = http.MethodGet
		r.Header.Del("Accept") // a HEAD request must not start an endless answer
	}
	return r
}

// admit authenticates the caller and checks their rate.
func (s *Server) admit(c *serve.Call) (err error) {
	if c.Principal, err = s.api.Authenticate(c.Request); err != nil {
		return err
	}
	c.Looked = time.Now()
	c.Request = c.Request.WithContext(s.cfg.Confine(c.Request.Context(), c.Principal.Tenant))
	if err := c.Headers(); err != nil {
		return err
	}
	return s.limiter.Check(c.Principal, c.Now)
}

func (s *Server) routes() {
	s.knowledgeRoutes()
	s.feedbackRoutes()
	s.searchRoute()
	s.contextRoutes()
	keys.Routes(s.api, s.cfg.Callers)
	for _, room := range s.cfg.Rooms {
		room.Routes(s.api, s.log)
	}
	s.pageRoutes()
	s.mountRoutes()
}

// Serve answers requests on l until ctx ends, and then shuts down. /readyz answers 503 at once. After
// Config.PreStopDelay the server refuses new connections. Within Config.ShutdownTimeout it answers every accepted
// request; after half of that it cuts bulk requests short, and their answer says so. Serve closes l. The error means
// that the listener failed, or that requests were not finished.
//
// The end of ctx ends no request. What requests use must stay open until Serve returns.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	const header, carryThrough, idle, headerBytes = 10 * time.Second, time.Minute, 2 * time.Minute, 64 << 10
	server := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: min(header, s.cfg.Timeout),
		ReadTimeout:       s.cfg.Timeout,
		WriteTimeout:      s.cfg.Timeout + carryThrough, // the log finishes a write that it began
		IdleTimeout:       idle,
		MaxHeaderBytes:    headerBytes,
		BaseContext:       func(net.Listener) context.Context { return s.cfg.Confine(context.WithoutCancel(ctx), "") },
		ErrorLog:          slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelDebug),
	}
	broken := make(chan error, 1)
	var serving sync.WaitGroup
	serving.Go(func() { broken <- server.Serve(l) })
	defer serving.Wait()
	select {
	case err := <-broken:
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	s.closing.Store(true)
	time.Sleep(s.cfg.PreStopDelay)
	return s.shutDown(context.WithoutCancel(ctx), server)
}

func (s *Server) shutDown(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.ShutdownTimeout)
	defer cancel()
	close(s.api.Leaving)
	cut := time.AfterFunc(s.cfg.ShutdownTimeout/2, func() { close(s.api.Cut) })
	defer cut.Stop()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.Join(fmt.Errorf("requests were not finished within %s", s.cfg.ShutdownTimeout), server.Close())
	}
	return err
}
