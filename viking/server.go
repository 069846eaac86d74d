package viking

import (
	"context"
	"errors"
	"net/http"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/annals-kb/annals/domain"
)

// Config is what a [Server] is made of.
type Config struct {
	// Writer takes commands to the log. Required.
	Writer Writer
	// Sessions answers questions about sessions and tasks. Without it there are none.
	Sessions Sessions
	// Reader answers questions. Required.
	Reader Reader
	// Directories knows what a model said of directories. Nil where no model is asked.
	Directories Directories
	// Files keeps bytes that are no text. Required.
	Files Files
	// Keys knows who was given keys. Without it accounts are not administered here.
	Keys Keyring
	// NewKey makes a key: what names it, the key itself, and what is kept of it. Required with Keys.
	NewKey func() (prefix, key, hash string)
	// Eraser carries out what is ordered to be erased. Without it accounts are not removed here. Required with
	// Sessions.
	Eraser Eraser
	// Closed tells that callers are asked for keys even while nobody was given one.
	Closed bool
	// FetchPrivate lets URLs lead into private networks, and to this machine.
	FetchPrivate bool
	// HostPaths are the directories of this machine whose files callers may name.
	HostPaths []string
	// PDF is what a PDF says; the error matches document.ErrUnreadable or document.ErrTooMuch. Nil to keep PDFs as
	// they are.
	PDF func(ctx context.Context, content []byte) (string, error)
	// Recorder keeps a log of accesses. Nil for none.
	Recorder Recorder
	// Probes are asked by /ready, all at once.
	Probes []Probe
	// Version is shown by /health.
	Version string
	// Now tells the time. Nil for time.Now.
	Now func() time.Time
}

// Server answers OpenViking's routes. It is safe for concurrent use.
type Server struct {
	cfg     Config
	mux     *http.ServeMux
	fetcher *http.Client
	all     []string // patterns of the routes
	started time.Time
	begun   sync.Map // by tenant, when it began
}

// Routes are the patterns of the routes there are, such as "GET /api/v1/tasks/{id}".
func (s *Server) Routes() []string {
	return slices.DeleteFunc(slices.Clone(s.all), func(p string) bool { return p == "/" })
}

// New makes a server.
func New(cfg Config) *Server {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Writer = anonymous{cfg.Writer}
	s := &Server{cfg: cfg, mux: http.NewServeMux(), fetcher: fetcher(cfg.FetchPrivate), started: cfg.Now()}
	s.routes()
	return s
}

// Paths are where it answers, and Public those of them that ask for no key.
func Paths() (paths, public []string) {
	public = []string{"/health", "/ready", "/api/v1/openapi.json"}
	return append([]string{"/api/v1/"}, public...), public
}

// Answer answers a request whose context says who is calling. The error is for Refuse.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request) error {
	a := &answering{writer: w, started: s.cfg.Now()}
	if r.URL.Path != path.Clean(r.URL.Path) { // http.ServeMux would send the caller to what it leads to
		return noRoute()
	}
	s.mux.ServeHTTP(a, r)
	return a.err
}

// answering is a ResponseWriter that handlers leave what went wrong with.
type answering struct {
	writer  http.ResponseWriter
	started time.Time
	err     error
}

func (a *answering) Header() http.Header         { return a.writer.Header() }
func (a *answering) Write(b []byte) (int, error) { return a.writer.Write(b) }
func (a *answering) WriteHeader(status int)      { a.writer.WriteHeader(status) }

// Unwrap is for http.ResponseController.
func (a *answering) Unwrap() http.ResponseWriter { return a.writer }

// handler binds, calls and answers with a result for the envelope, or with a [bare] answer.
type handler func(ctx context.Context, q *query) (any, error)

// route adds a route: pattern is one of http.ServeMux, such as "GET /api/v1/tasks/{id}".
func (s *Server) route(pattern string, handle handler) {
	s.all = append(s.all, pattern)
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		a := w.(*answering)
		q := &query{request: r, caller: callerOf(r)}
		q.because(q.text("reason"))
		result, err := any(nil), q.found.Err()
		if err == nil {
			result, err = handle(r.Context(), q)
		}
		if err == nil {
			err = q.found.Err()
		}
		w.Header().Set(processTime, seconds(s.cfg.Now().Sub(a.started)))
		if a.err = err; err == nil {
			answer(w, result)
		}
	})
}

const processTime = "X-Process-Time"

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 6, 64) }

var errRoute = errors.New("no such route")

func noRoute() error {
	return domain.Refuse(errRoute, "there is nothing at this path, or not with this method")
}

func (s *Server) routes() {
	s.route("/", func(context.Context, *query) (any, error) { return nil, noRoute() })
	s.route("GET /api/v1/openapi.json", s.description)
	s.healthRoutes()
	if s.cfg.Sessions != nil {
		s.sessionRoutes()
	}
	if s.cfg.Keys != nil {
		s.adminRoutes()
	}
	s.searchRoutes()
	s.fsRoutes()
	s.contentRoutes()
	s.relationRoutes()
	s.skillRoutes()
	s.resourceRoutes()
	s.statsRoutes()
	s.observerRoutes()
}
