package http

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/serve"
)

// Mount is a set of routes of another package. It shares authentication, rate limits, request ids, logs, metrics, and
// the limits of size and time with the API's own routes.
type Mount struct {
	// Paths are the paths of the mount. A path that ends with a slash includes everything below it.
	Paths []string
	// Public are those of the paths that also answer callers without a key.
	Public []string
	// Handler answers, or returns an error before it has written anything. [domain.CallerOf] returns the caller from
	// the request's context: the zero Principal without a key.
	Handler func(w http.ResponseWriter, r *http.Request) error
	// Refuse answers an error of the server or of Handler. Status is that of the API's own routes; the headers of the
	// problem (Retry-After, Www-Authenticate) are set. Nil to answer with a problem.
	Refuse func(w http.ResponseWriter, r *http.Request, status int, err error)
	// As applies the mount's own headers to p, the caller. Nil to leave p unchanged.
	As func(h http.Header, p domain.Principal) (domain.Principal, error)
	// MaxBody is the largest size of a request's body in bytes. Default: Config.MaxBody.
	MaxBody int64
	// Endless removes the time limit of answers. They end when the server shuts down.
	Endless bool
}

// Hosted makes a mount of a handler. Refuse receives the status and the problem that the API's own routes would
// answer with.
func Hosted(
	path string, handler http.Handler,
	refuse func(w http.ResponseWriter, r *http.Request, status int, problem json.RawMessage),
) Mount {
	return Mount{
		Paths: []string{path},
		Handler: func(w http.ResponseWriter, r *http.Request) error {
			handler.ServeHTTP(w, r)
			return nil
		},
		Refuse: func(w http.ResponseWriter, r *http.Request, status int, err error) {
			refuse(w, r, status, serve.Problem(err))
		},
	}
}

func (s *Server) mountRoutes() {
	for _, m := range s.cfg.Mounts {
		for _, path := range m.Paths {
			pattern := path
			if strings.HasSuffix(path, "/") {
				pattern += "*"
			}
			public := slices.Contains(m.Public, path)
			s.echo.Any(pattern, func(e echo.Context) error {
				s.mounted(serve.CallOf(e.Request().Context()), e.Response(), m, public)
				return nil
			})
		}
	}
}

// mounted lets a mount answer. It cuts an answer that fails halfway, so that the caller does not take it for a whole
// one.
func (s *Server) mounted(c *serve.Call, w *echo.Response, m Mount, public bool) {
	r, err := s.admitTo(c, m, public)
	if err == nil {
		var done func()
		r, done = s.lendRequest(c, m, r)
		defer done()
		err = s.api.Reason(r.Context(), m.Handler(w, r))
		_, c.Route, _ = strings.Cut(r.Pattern, " ")
	}
	c.Err = err
	switch {
	case err == nil:
	case w.Committed:
		panic(http.ErrAbortHandler)
	case m.Refuse == nil:
		serve.ProblemOf(err, c.Instance()).Write(w)
	default:
		maps.Copy(w.Header(), serve.ProblemOf(err, "").GetHeaders())
		if m.Refuse(
			w, r, serve.AnswerTo(err).Status, err,
		); w.Status >= http.StatusBadRequest && w.Status < http.StatusInternalServerError {
			c.Err = nil // the caller made the mistake and has the answer
		}
	}
}

// withOneKey is a request with one key. If it has both headers, X-API-Key counts: clients that send both mean that.
func withOneKey(r *http.Request) *http.Request {
	if r.Header.Get("X-API-Key") != "" && r.Header.Get("Authorization") != "" {
		r = r.Clone(r.Context())
		r.Header.Del("Authorization")
	}
	return r
}

// admitTo authenticates the caller of a mount.
func (s *Server) admitTo(c *serve.Call, m Mount, public bool) (*http.Request, error) {
	r := withOneKey(c.Request)
	keyless := r.Header.Get("X-API-Key") == "" && r.Header.Get("Authorization") == ""
	if public && keyless {
		return r, nil
	}
	p, err := s.api.Authenticate(r)
	if err == nil && m.As != nil {
		p, err = m.As(r.Header, p)
	}
	if err != nil {
		if c.Principal = p; public { // of a refused caller for the record
			c.Principal, err = domain.Principal{}, nil
		}
		return r, err
	}
	c.Principal = p
	if err := c.Headers(); err != nil {
		return r, err
	}
	if err := c.Found.Err(); err != nil {
		return r, err
	}
	return r, s.limiter.Check(p, c.Now)
}

// lendRequest is the request for a mount, and a function to call after the answer.
func (s *Server) lendRequest(c *serve.Call, m Mount, r *http.Request) (*http.Request, func()) {
	var ctx context.Context
	var cancel context.CancelFunc
	var watching sync.WaitGroup
	if m.Endless {
		ctx, cancel = context.WithCancel(r.Context())
		watching.Go(func() { s.cancelOnShutdown(ctx, cancel, r.Method) })
		_ = http.NewResponseController(c.Response).SetWriteDeadline(time.Time{}) // not every writer has deadlines
	} else {
		ctx, cancel = context.WithTimeout(r.Context(), s.cfg.Timeout)
	}
	r = r.WithContext(domain.WithCaller(s.cfg.Confine(ctx, c.Principal.Tenant), c.Principal, c.Origin))
	r.Body = http.MaxBytesReader(c.Response, r.Body, cmp.Or(m.MaxBody, s.cfg.MaxBody))
	return r, func() {
		cancel()
		watching.Wait()
	}
}

// cancelOnShutdown ends an endless answer when the server shuts down: a GET at once, any other request at half of
// Config.ShutdownTimeout.
func (s *Server) cancelOnShutdown(ctx context.Context, cancel context.CancelFunc, method string) {
	end := s.api.Cut
	if method == http.MethodGet {
		end = s.api.Leaving
	}
	select {
	case <-end:
		cancel()
	case <-ctx.Done():
	}
}
