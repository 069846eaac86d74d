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

	"github.com/annals-kb/annals/http/operate"
	"github.com/annals-kb/annals/http/people"
	"github.com/annals-kb/annals/http/scrubbing"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/sessions"
)

// Server answers the HTTP API. It is safe for concurrent use.
type Server struct {
	cfg          Config
	echo         *echo.Echo
	api          *serve.API
	identities   identities
	authenticate authenticator // that of identities
	limiter      *limiter
	pings        *limiter // tests of webhooks
	metrics      *metrics
	pages        func() (pages, error)
	feeds        *feeds        // callers that follow the log
	exports      atomic.Int64  // callers that export the log
	closing      atomic.Bool   // shutdown has begun: /readyz fails
	leaving      chan struct{} // closed when the server accepts no more connections: streams end
	cut          chan struct{} // closed at half of ShutdownTimeout: requests without an end of their own end
}

// New makes a server of a configuration that [Config.Validate] accepts.
func New(cfg Config) *Server {
	cfg = cfg.withDefaults()
	s := &Server{
		cfg: cfg, echo: echo.New(), limiter: newLimiter(cfg.Rate, 2*cfg.Rate), pings: newLimiter(.1, 5), feeds: newFeeds(),
		metrics: newMetrics(cfg.Registry), leaving: make(chan struct{}), cut: make(chan struct{}),
	}
	s.identities = identities{cfg: cfg, throttle: newLoginThrottle(), sealer: newSealer(cfg.SessionKey)}
	s.authenticate = s.identities.identify
	s.echo.HideBanner, s.echo.HidePort = true, true
	s.echo.HTTPErrorHandler = func(err error, e echo.Context) {
		s.answerError(serve.CallOf(e.Request().Context()), e, err)
	}
	s.echo.Use(s.observe, protect())
	described := humaecho.New(s.echo, huma.Config{
		OpenAPI:       description(cfg.Version),
		Formats:       map[string]huma.Format{serve.JSONType: huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat},
		DefaultFormat: serve.JSONType,
	})
	s.api = &serve.API{
		Writer: cfg.Writer, Huma: described, MaxBody: cfg.MaxBody, Timeout: cfg.Timeout, Cut: s.cut, Admit: s.admit,
		GoesOn: s.identities.goesOn,
	}
	s.routes()
	describeMCP(described.OpenAPI())
	tidy(described.OpenAPI())
	s.pages = sync.OnceValues(func() (pages, error) { return render(described.OpenAPI()) })
	return s
}

// Handler answers every route of the API.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead || r.URL.RawPath != "" {
			r = plainly(r)
		}
		s.echo.ServeHTTP(w, r)
	})
}

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
	if c.Principal, err = s.authenticate(c.Request); err != nil {
		return err
	}
	c.Looked = time.Now()
	c.Request = c.Request.WithContext(s.cfg.Confine(c.Request.Context(), c.Principal.Tenant))
	if err := c.Headers(); err != nil {
		return err
	}
	return s.checkRate(c.Principal, c.Now)
}

// Routes in the order in which /docs shows them.
func (s *Server) routes() {
	s.knowledgeRoutes()
	s.feedbackRoutes()
	erasures{s}.eraseRoutes()
	erasures{s}.erasureRoutes()
	s.questionRoutes()
	people.Routes(s.api, s.cfg.Directory, s.cfg.Keys, s.cfg.Reader)
	merging{s}.mergeRoutes()
	verification{s}.verificationRoutes()
	past{s}.pastRoutes()
	subscriptions{s}.subscriptionRoutes()
	s.contextRoutes()
	sessions.Routes(s.api, s.cfg.Sessions)
	reports{s}.reportRoutes()
	proofs{s}.proofRoutes()
	s.projections().RebuildRoutes()
	access{s}.keyRoutes()
	access{s}.tenantRoutes()
	s.projections().QuarantineRoutes()
	scrubbing.Routes(s.api, s.cfg.Scrubbing, s.cfg.Recorded, s.cfg.Reader, s.cfg.Now)
	operations{s}.operatorRoutes()
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
	close(s.leaving)
	cut := time.AfterFunc(s.cfg.ShutdownTimeout/2, func() { close(s.cut) })
	defer cut.Stop()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.Join(fmt.Errorf("requests were not finished within %s", s.cfg.ShutdownTimeout), server.Close())
	}
	return err
}

func (s *Server) projections() operate.Projections {
	p := operate.Projections{
		API: s.api, Rebuilder: s.cfg.Rebuilder, Background: s.cfg.Background, Inline: s.cfg.Reader, Log: s.cfg.Finder,
		Confine: s.cfg.Confine,
	}
	if s.cfg.Prover != nil {
		p.Proof = s.cfg.Prover
	}
	return p
}
