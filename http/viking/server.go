package viking

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/annals-kb/annals/domain"
)

// Config configures a [Server].
type Config struct {
	// Writer writes commands to the log. Required.
	Writer Writer
	// Sessions answers questions about sessions and tasks. Nil for a server without sessions.
	Sessions Sessions
	// Reader answers questions. Required.
	Reader Reader
	// Directories holds a model's summaries of directories. Nil without a model.
	Directories Directories
	// Files stores files that are not text. Required.
	Files Files
	// Keys lists keys and tenants. Nil for a server that does not administer accounts.
	Keys Keyring
	// Members lists members of a kind after a member. Nil for a server without a directory.
	Members func(
		ctx context.Context, tenant, kind string, after domain.Entity, limit int,
	) ([]domain.DirectoryMember, error)
	// NewKey makes a key: its prefix, the key itself, and the hash to store. Required with Keys.
	NewKey func() (prefix, key, hash string)
	// Eraser carries out erasure orders. Nil for a server that does not remove accounts. Required with Sessions.
	Eraser Eraser
	// Closed means that callers need keys even before one is issued.
	Closed bool
	// FetchPrivate allows URLs of private networks and of this machine.
	FetchPrivate bool
	// HostPaths are the directories of this machine whose files callers may add.
	HostPaths []string
	// PDF reads the text of a PDF. The error matches document.ErrUnreadable or document.ErrTooMuch. Nil to store PDFs
	// as bytes.
	PDF func(ctx context.Context, content []byte) (string, error)
	// Recorder records accesses. Nil for none.
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

	document func() ([]byte, error) // the OpenAPI description, rendered on the first request
	tree
}

// Routes are the patterns of the routes, such as "GET /api/v1/tasks/{id}".
func (s *Server) Routes() []string {
	return slices.DeleteFunc(slices.Clone(s.all), func(p string) bool { return p == "/" })
}

// New makes a server.
func New(cfg Config) *Server {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Writer = anonymous{cfg.Writer}
	s := &Server{
		cfg: cfg, mux: http.NewServeMux(), fetcher: fetcher(cfg.FetchPrivate),
		document: sync.OnceValues(func() ([]byte, error) { return describe(cfg.Version) }),
		tree:     tree{reader: cfg.Reader, directories: cfg.Directories, started: cfg.Now(), begun: new(sync.Map)},
	}
	s.routes()
	return s
}

// Paths are the paths of all routes, and of those that need no key.
func Paths() (paths, public []string) {
	public = []string{"/health", "/ready", "/api/v1/openapi.json"}
	return append([]string{"/api/v1/"}, public...), public
}

// Answer answers a request whose context names the caller. The error is for Refuse.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request) error {
	a := &errorWriter{writer: w, started: s.cfg.Now()}
	if r.URL.Path != path.Clean(r.URL.Path) { // http.ServeMux would redirect the caller
		return noRoute()
	}
	s.mux.ServeHTTP(a, r)
	return a.err
}

// errorWriter is a ResponseWriter on which handlers leave their error.
type errorWriter struct {
	writer  http.ResponseWriter
	started time.Time
	err     error
}

func (a *errorWriter) Header() http.Header         { return a.writer.Header() }
func (a *errorWriter) Write(b []byte) (int, error) { return a.writer.Write(b) }
func (a *errorWriter) WriteHeader(status int)      { a.writer.WriteHeader(status) }

func (a *errorWriter) Unwrap() http.ResponseWriter { return a.writer }

// handler returns a result for the envelope or a [rawAnswer].
type handler func(ctx context.Context, q *query) (any, error)

// route registers a route with a pattern of http.ServeMux, such as "GET /api/v1/tasks/{id}".
func (s *Server) route(pattern string, handle handler) {
	s.all = append(s.all, pattern)
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		a := w.(*errorWriter)
		q := &query{request: r, caller: callerOf(r)}
		q.setReason(q.param("reason"))
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
	status{s}.healthRoutes()
	if s.cfg.Sessions != nil {
		sessions{s}.sessionRoutes()
	}
	if s.cfg.Keys != nil {
		accounts{s}.adminRoutes()
	}
	s.searchRoutes()
	s.fsRoutes()
	s.contentRoutes()
	relations{s}.relationRoutes()
	skills{s}.skillRoutes()
	resources{s}.resourceRoutes()
	status{s}.statsRoutes()
	status{s}.observerRoutes()
}

// envelope surrounds every answer except raw ones. Old clients expect Time; it has no meaning.
type envelope struct {
	Status string   `json:"status"` // ok, error
	Result any      `json:"result"`
	Error  *failure `json:"error"`
	Time   float64  `json:"time"`
}

// failure describes an error without the text of users.
type failure struct {
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Details map[string]any `json:"details,omitempty"`
}

// rawAnswer is an answer without an envelope.
type rawAnswer struct {
	status int
	header http.Header // added to the answer's
	body   any         // []byte is sent as it is, everything else as JSON
}

// answer writes a result.
func answer(w http.ResponseWriter, result any) {
	if b, is := result.(rawAnswer); is {
		maps.Copy(w.Header(), b.header)
		if raw, is := b.body.([]byte); is {
			w.WriteHeader(b.status)
			_, _ = w.Write(raw) // an error is ignored: the caller has left
			return
		}
		write(w, b.status, b.body)
		return
	}
	write(w, http.StatusOK, envelope{Status: "ok", Result: result})
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(body) // likewise
}

// recordAccess records that the caller was given items.
func (s *Server) recordAccess(q *query, kind string, count int, item func(i int) domain.Retrieved) {
	if s.cfg.Recorder == nil || count == 0 || !s.cfg.Recorder.Wants() {
		return
	}
	access := domain.AccessOf(q.caller.Principal, q.caller.origin, kind, http.StatusOK, s.cfg.Now())
	access.Items = make([]domain.Retrieved, count)
	for i := range access.Items {
		access.Items[i] = item(i)
	}
	s.cfg.Recorder.Record(access)
}

// recordGet records that the caller was given one item.
func (s *Server) recordGet(q *query, k *domain.Knowledge) {
	s.recordAccess(q, "get", 1, func(int) domain.Retrieved { return domain.Retrieved{ID: k.ID} })
}
