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
	"time"

	"github.com/annals-kb/annals/domain"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/serve"
)

// Config configures a [Server].
type Config struct {
	// Writer writes commands to the log. Required.
	Writer Writer
	// Sessions answers questions about sessions and tasks. Required.
	Sessions Sessions
	// Browser reads items and directories. Required.
	Browser Browser
	// Reader answers questions. Required.
	Reader Reader
	// Directories holds a model's summaries of directories. Nil without a model.
	Directories Directories
	// Files stores files that are not text. Required.
	Files Files
	// Keys lists keys and tenants. Required to administer accounts.
	Keys Keyring
	// Members lists members of a kind after a member. Required with Keys.
	Members Members
	// NewKey makes a key: its prefix, the key itself, and the hash to store. Required with Keys.
	NewKey func() (prefix, key, hash string)
	// Eraser carries out erasure orders. Required to erase sessions and to remove accounts.
	Eraser Eraser
	// Closed means that callers need keys even before one is issued.
	Closed bool
	// FetchPrivate allows URLs of private networks and of this machine.
	FetchPrivate bool
	// HostPaths are the directories of this machine whose files callers may add.
	HostPaths []string
	// Documents reads the texts of documents. Nil to store them as bytes.
	Documents Documents
	// Recorder records answers. Nil for none.
	Recorder Recorder
	// Probes are asked by /ready, all at once.
	Probes []Probe
	// Version is shown by /health.
	Version string
	// PublicURL is what the addresses of the server begin with. Default: the address that the caller used.
	PublicURL string
}

// Server answers OpenViking's routes. It is safe for concurrent use.
type Server struct {
	mux *http.ServeMux
	all []string // patterns of the routes
}

// Routes are the patterns of the routes, such as "GET /api/v1/tasks/{id}".
func (s *Server) Routes() []string {
	return slices.DeleteFunc(slices.Clone(s.all), func(p string) bool { return p == "/" })
}

// New makes a server.
func New(cfg Config) *Server {
	s := &Server{mux: http.NewServeMux()}
	s.route("/", func(context.Context, *query) (any, error) { return nil, noRoute() })
	s.route("GET /api/v1/openapi.json", description(cfg.Version, cfg.PublicURL))
	for _, routes := range cfg.routes() {
		routes(s.route)
	}
	return s
}

// routes are the functions that register the routes of each part.
func (cfg Config) routes() []func(route) {
	var (
		reads   = tree{reader: cfg.Browser, directories: cfg.Directories, started: time.Now()}
		edits   = editor{tree: reads, writer: anonymous{cfg.Writer}}
		indexes = index{tree: reads, reader: cfg.Reader, sessions: cfg.Sessions}
		records = answers{cfg.Recorder}
		finds   = finder{tree: reads, reader: cfg.Reader, sessions: cfg.Sessions, answers: records}
		adds    = resources{
			tree: reads, editor: edits, index: indexes, files: cfg.Files, fetcher: fetcher(cfg.FetchPrivate),
			host: cfg.HostPaths, documents: cfg.Documents,
		}
		learns = tasks{sessions: cfg.Sessions, tree: reads}
	)
	return []func(route){
		learns.routes, sessions{cfg.Sessions, learns, reads, edits, cfg.Eraser}.routes,
		accounts{cfg.Keys, cfg.Members, cfg.NewKey, edits, cfg.Eraser}.routes,
		indexes.routes, finds.routes, adds.routes, patterns{reads}.routes, fileSystem{reads, edits}.routes,
		metadata{reads, edits}.routes, relations{reads, edits}.routes,
		contents{reads, edits, indexes, records, cfg.Files}.routes,
		skills{reads, edits, finds, indexes, records, adds}.routes,
		status{cfg.Keys, cfg.Closed, cfg.Version, cfg.Probes, cfg.Reader, cfg.Sessions}.routes,
		statistics{cfg.Browser}.routes,
	}
}

// Paths are the paths of all routes, and of those that need no key.
func Paths() (paths, public []string) {
	public = []string{"/health", "/ready", "/api/v1/openapi.json"}
	return append([]string{"/api/v1/"}, public...), public
}

// Mount mounts the routes at their usual paths.
func Mount(cfg Config) annalshttp.Mount {
	s := New(cfg)
	paths, public := Paths()
	return annalshttp.Mount{Paths: paths, Public: public, Handler: s.Answer, Refuse: s.Refuse, As: As, MaxBody: MaxBody}
}

// Answer answers a request whose context names the caller. The error is for Refuse.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request) error {
	a := &errorWriter{ResponseWriter: w, started: time.Now()}
	if r.URL.Path != path.Clean(r.URL.Path) { // http.ServeMux would redirect the caller
		return noRoute()
	}
	s.mux.ServeHTTP(a, r)
	return a.err
}

// errorWriter is a ResponseWriter on which handlers leave their error.
type errorWriter struct {
	http.ResponseWriter
	started time.Time
	err     error
}

// Unwrap is for [http.ResponseController].
func (a *errorWriter) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// handler returns a result for the envelope or a [rawAnswer].
type handler func(ctx context.Context, q *query) (any, error)

// route is a function that registers a route.
type route func(pattern string, handle handler)

// route registers a route with a pattern of http.ServeMux, such as "GET /api/v1/tasks/{id}".
func (s *Server) route(pattern string, handle handler) {
	s.all = append(s.all, pattern)
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		a := w.(*errorWriter)
		q := &query{request: r, caller: callerOf(r)}
		q.setReason(q.param("reason"))
		result, err := any(nil), q.found.Err()
		of := &outcome{removed: map[string]int{}}
		if err == nil {
			result, err = handle(context.WithValue(r.Context(), outcomeKey{}, of), q)
		}
		if len(of.removed) > 0 {
			w.Header().Set("Annals-Redacted", domain.Redactions(of.removed))
		}
		if of.proposed {
			w.Header().Set("Annals-Outcome", domain.Proposed)
		}
		if bad := q.found.Err(); bad != nil {
			err = bad
		}
		w.Header().Set(processTime, seconds(time.Since(a.started)))
		if a.err = err; err == nil {
			if q.receipt != "" {
				w.Header().Set(serve.ReceiptHeader, q.receipt)
			}
			answer(w, result, q.receipt)
		}
	})
}

const processTime = "X-Process-Time"

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 6, 64) }

var errRoute = errors.New("no such route")

func noRoute() error {
	return domain.Refuse(errRoute, "there is nothing at this path, or not with this method")
}

// envelope surrounds every answer except raw ones. Old clients expect Time; it has no meaning.
type envelope struct {
	Status string   `json:"status"` // ok, error
	Result any      `json:"result"`
	Error  *failure `json:"error"`
	Time   float64  `json:"time"`

	Receipt string `json:"receipt,omitempty"` // the id of the receipt of this answer
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

// answer writes a result with its receipt.
func answer(w http.ResponseWriter, result any, receipt string) {
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
	write(w, http.StatusOK, envelope{Status: "ok", Result: result, Receipt: receipt})
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(body) // likewise
}
