package http

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/body"
)

// Server answers the HTTP API. It is safe for concurrent use.
type Server struct {
	cfg          Config
	echo         *echo.Echo
	api          huma.API
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
	s.echo.HTTPErrorHandler = func(err error, e echo.Context) { s.answerError(callOf(e.Request().Context()), e, err) }
	s.echo.Use(s.observe, protect())
	s.api = humaecho.New(s.echo, huma.Config{
		OpenAPI:       description(cfg.Version),
		Formats:       map[string]huma.Format{jsonType: huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat},
		DefaultFormat: jsonType,
	})
	s.routes()
	describeMCP(s.api.OpenAPI())
	tidy(s.api.OpenAPI())
	s.pages = sync.OnceValues(func() (pages, error) { return render(s.api.OpenAPI()) })
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

// operation answers a call. The error becomes a problem.
type operation[I, O any] func(ctx context.Context, c *call, in *I) (*O, error)

// handle registers an operation for authenticated callers within their rate and the time limit. huma documents the
// input and fills in its path and query fields. handle refuses unknown parameters; the operation validates their
// values.
func handle[I, O any](s *Server, op huma.Operation, do operation[I, O]) {
	form := onlyForm(&op)
	s.document(&op)
	body := op.RequestBody
	op.RequestBody = nil // huma would read and check a body that it knows; operations do that
	defer func() { s.documented(op).RequestBody = body }()
	parameters := queryNames(reflect.TypeFor[I]())
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		c, began := callOf(ctx), time.Now()
		err := s.admit(c)
		if err == nil && form != "" {
			_, err = c.accepts(form)
		}
		ctx, cancel := context.WithDeadline(c.request.Context(), began.Add(s.cfg.Timeout))
		defer cancel()
		if err == nil {
			c.known = parameters
			c.parameters(parameters)
			var out *O
			if out, err = do(domain.WithCaller(ctx, c.principal, c.origin), c, in); err == nil {
				return out, nil
			}
		}
		c.err = contextError(ctx, err)
		return nil, problemOf(c.err, c.instance())
	})
}

// output answers with a body alone.
type output[T any] struct{ Body T }

// lookup registers an operation that answers with a body alone. It parses no parameter values: bad parameters are
// refused before find runs.
func lookup[I, T any](s *Server, op huma.Operation, find func(ctx context.Context, c *call, in *I) (T, error)) {
	handle(s, op, func(ctx context.Context, c *call, in *I) (*output[T], error) {
		if err := c.found.Err(); err != nil {
			return nil, err
		}
		found, err := find(ctx, c, in)
		return &output[T]{found}, err
	})
}

// needing makes an operation of one that needs a part of the server. Part returns it, or refuses the call.
func needing[P, I, O any](
	part func(c *call) (P, error), do func(ctx context.Context, c *call, part P, in *I) (O, error),
) func(context.Context, *call, *I) (O, error) {
	return func(ctx context.Context, c *call, in *I) (out O, err error) {
		needed, err := part(c)
		if err != nil {
			return out, err
		}
		return do(ctx, c, needed, in)
	}
}

// submit submits a command, unless it or the request is invalid. The error names every bad field.
func (s *Server) submit(
	ctx context.Context, c *call, command domain.Command, invalid error, body []byte,
) (domain.Receipt, error) {
	if err := merge(c.found, invalid); err != nil {
		return domain.Receipt{}, err
	}
	return s.cfg.Writer.Submit(ctx, c.submission(command, body))
}

// admit authenticates the caller and checks their rate.
func (s *Server) admit(c *call) (err error) {
	if c.principal, err = s.authenticate(c.request); err != nil {
		return err
	}
	c.looked = time.Now()
	c.request = c.request.WithContext(s.cfg.Confine(c.request.Context(), c.principal.Tenant))
	if err := c.headers(); err != nil {
		return err
	}
	return s.checkRate(c.principal, c.now)
}

// contextError adds the context's error to errors that an expired context caused.
func contextError(ctx context.Context, err error) error {
	if ctx.Err() != nil && answerTo(err).to == nil {
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return err
}

// parameterForm tells how a parameter may be given. If a required one is missing, its operation says so.
type parameterForm struct{ repeatable, required bool }

// queryNames are the query parameters of an input.
func queryNames(input reflect.Type) map[string]parameterForm {
	names := map[string]parameterForm{}
	for _, field := range reflect.VisibleFields(input) {
		if name, _, _ := strings.Cut(field.Tag.Get("query"), ","); name != "" {
			names[name] = parameterForm{
				repeatable: field.Type.Kind() == reflect.Slice, required: field.Tag.Get("required") == "true",
			}
		}
	}
	return names
}

// mayBeEmpty are the parameters that accept an empty value.
var mayBeEmpty = []string{"reason", "legal_basis", "requested_by", "ticket"}

// parameters notes query parameters that are unknown, repeated or empty: a filter with a typing mistake, or from a
// variable that was not set, must not answer with everything. It also checks the cursor, so that the answer names all
// bad parameters.
func (c *call) parameters(known map[string]parameterForm) {
	if c.request.URL.RawQuery == "" {
		return
	}
	given, err := url.ParseQuery(c.request.URL.RawQuery)
	if err != nil { // a part that cannot be read counts as absent
		c.found.Add("?", "the parameters cannot be read: escape what is special, such as ; as %%3B")
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch form, is := known[name]; {
		case !is:
			c.found.Add(body.Shorten(name), "is not a parameter here")
		case len(given[name]) > 1 && !form.repeatable:
			c.found.Add(name, "is given twice")
		case !form.required && slices.Contains(given[name], "") && !slices.Contains(mayBeEmpty, name):
			c.found.Add(name, body.Empty)
		case name == "cursor" && !isCursor(given.Get(name)):
			c.found.Add(name, notItsCursor)
		}
	}
}

// Routes in the order in which /docs shows them.
func (s *Server) routes() {
	s.knowledgeRoutes()
	s.feedbackRoutes()
	erasures{s}.eraseRoutes()
	erasures{s}.erasureRoutes()
	s.questionRoutes()
	directory{s}.directoryRoutes()
	merging{s}.mergeRoutes()
	verification{s}.verificationRoutes()
	past{s}.pastRoutes()
	subscriptions{s}.subscriptionRoutes()
	s.contextRoutes()
	sessions{s}.sessionRoutes()
	reports{s}.reportRoutes()
	proofs{s}.proofRoutes()
	projections{s}.rebuildRoutes()
	access{s}.keyRoutes()
	access{s}.tenantRoutes()
	projections{s}.quarantineRoutes()
	scrubbings{s}.scrubbingRoutes()
	scrubbings{s}.redactionRoutes()
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
