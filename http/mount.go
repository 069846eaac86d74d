package http

import (
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
)

// Mount is a surface of another package. It stands behind everything that the API's own routes stand
// behind: the caller is known and within the rate, the request has an id, is logged and counted, and
// what is too large or takes too long ends.
type Mount struct {
	// Paths is where it answers: at everything below a path that ends with a slash, else exactly there.
	Paths []string
	// Public are those of the paths that answer unknown callers, too.
	Public []string
	// Handler answers, or returns what went wrong before it has written anything. [domain.CallerOf] the
	// request's context tells who is calling: the zero Principal for an unknown caller.
	Handler func(w http.ResponseWriter, r *http.Request) error
	// Refuse answers what was refused, here or by Handler. Status is what the API's own routes would answer
	// with; the headers that go with it (Retry-After, Www-Authenticate) are set. Nil to answer as they do.
	Refuse func(w http.ResponseWriter, r *http.Request, status int, err error)
	// As adds to p, who is calling, what the mount's own headers say. Nil to leave it at p.
	As func(h http.Header, p domain.Principal) (domain.Principal, error)
	// MaxBody is the size of a request's body in bytes. 0 for Config.MaxBody.
	MaxBody int64
	// Endless lets an answer take as long as it takes, until the server shuts down.
	Endless bool
}

// Hosted is the mount of a handler that answers whatever reaches it. Refuse answers the rest: it is given the
// status and the problem that the API's own routes would answer with.
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
			refuse(w, r, status, Problem(err))
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
				s.mounted(callOf(e.Request().Context()), e.Response(), m, public)
				return nil
			})
		}
	}
}

// mounted lets a mount answer. Half an answer is cut off, so that it is not taken for a whole one.
func (s *Server) mounted(c *call, w *echo.Response, m Mount, public bool) {
	r, err := s.admitTo(c, m, public)
	if err == nil {
		var done func()
		r, done = s.lendRequest(c, m, r)
		defer done()
		err = contextError(r.Context(), m.Handler(w, r))
		_, c.route, _ = strings.Cut(r.Pattern, " ")
	}
	c.err = err
	switch {
	case err == nil:
	case w.Committed:
		panic(http.ErrAbortHandler)
	case m.Refuse == nil:
		problemOf(err, c.instance()).write(w)
	default:
		maps.Copy(w.Header(), problemOf(err, "").GetHeaders())
		if m.Refuse(
			w, r, answerTo(err).status, err,
		); w.Status >= http.StatusBadRequest && w.Status < http.StatusInternalServerError {
			c.err = nil // it was the caller's, and has its answer
		}
	}
}

// admitTo finds out who is calling a mount. Of two keys the one that is a key by its header counts: clients
// that send both mean that.
func (s *Server) admitTo(c *call, m Mount, public bool) (*http.Request, error) {
	r := c.request
	if r.Header.Get("X-API-Key") != "" && r.Header.Get("Authorization") != "" {
		r = r.Clone(r.Context())
		r.Header.Del("Authorization")
	}
	keyless := r.Header.Get("X-API-Key") == "" && r.Header.Get("Authorization") == ""
	if public && keyless {
		return r, nil
	}
	p, err := s.authenticate(r)
	if err == nil && m.As != nil {
		p, err = m.As(r.Header, p)
	}
	if err != nil {
		if public {
			err = nil
		}
		return r, err
	}
	c.principal = p
	if err := c.headers(); err != nil {
		return r, err
	}
	if err := c.found.Err(); err != nil {
		return r, err
	}
	return r, s.checkRate(p, c.now)
}

// lendRequest is the request as a mount gets it, and what to do when it has answered.
func (s *Server) lendRequest(c *call, m Mount, r *http.Request) (*http.Request, func()) {
	var ctx context.Context
	var cancel context.CancelFunc
	var watching sync.WaitGroup
	if m.Endless {
		ctx, cancel = context.WithCancel(r.Context())
		watching.Go(func() { s.cancelOnShutdown(ctx, cancel, r.Method) })
		_ = http.NewResponseController(c.response).SetWriteDeadline(time.Time{}) // not every writer has deadlines
	} else {
		ctx, cancel = context.WithTimeout(r.Context(), s.cfg.Timeout)
	}
	r = r.WithContext(domain.WithCaller(s.cfg.Confine(ctx, c.principal.Tenant), c.principal, c.origin))
	limit := m.MaxBody
	if limit == 0 {
		limit = s.cfg.MaxBody
	}
	r.Body = http.MaxBytesReader(c.response, r.Body, limit)
	return r, func() {
		cancel()
		watching.Wait()
	}
}

// cancelOnShutdown ends an answer without an end of its own when the server shuts down: one that only follows at once,
// one that does something when its time is over.
func (s *Server) cancelOnShutdown(ctx context.Context, cancel context.CancelFunc, method string) {
	end := s.cut
	if method == http.MethodGet {
		end = s.leaving
	}
	select {
	case <-end:
		cancel()
	case <-ctx.Done():
	}
}
