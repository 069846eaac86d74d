package http

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/annals-kb/annals/domain"
)

// unmatched is the route of requests that have none.
const unmatched = "unmatched"

// observe gives a request its id, answers for whatever went wrong with it, and notes once, when
// it is over, what became of it: by route, never by what people wrote.
func (s *Server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(e echo.Context) error {
		c := &call{request: e.Request(), response: e.Response(), id: requestID(e.Request()), now: s.cfg.Now()}
		c.request = c.request.WithContext(withCall(c.request.Context(), c))
		e.SetRequest(c.request)
		e.Response().Header().Set("X-Request-Id", c.id)
		s.metrics.inFlight.Inc()
		defer s.metrics.inFlight.Dec()
		defer s.note(c, e)
		if err := guard(e, next); err != nil {
			s.fail(c, e, err)
		}
		return nil
	}
}

// guard turns a panic into an error. A panic that is meant to cut the connection goes on.
func guard(e echo.Context, next echo.HandlerFunc) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			if cause == http.ErrAbortHandler { //nolint:errorlint // net/http compares it like this
				panic(cause)
			}
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return next(e)
}

// fail answers with a problem; if the answer has begun already, it cuts the connection so that
// half an answer is not taken for a whole one.
func (s *Server) fail(c *call, e echo.Context, err error) {
	err = fromEcho(err)
	c.err = err
	if e.Response().Committed {
		panic(http.ErrAbortHandler)
	}
	problemOf(err, c.instance()).write(e.Response())
}

// fromEcho gives Echo's own errors their place in the table.
func fromEcho(err error) error {
	own, ok := errors.AsType[*echo.HTTPError](err)
	if !ok {
		return err
	}
	switch own.Code {
	case http.StatusNotFound:
		return domain.Refuse(errRoute, "there is nothing at this path").WithFix("see /docs for what there is")
	case http.StatusMethodNotAllowed:
		return domain.Refuse(errMethod, "this path does not know that method").WithFix("see the header Allow")
	}
	return err
}

func (s *Server) note(c *call, e echo.Context) {
	route, status, took := cmp.Or(c.route, e.Path()), e.Response().Status, s.cfg.Now().Sub(c.now)
	if route == "" || errors.Is(c.err, errRoute) || errors.Is(c.err, errMethod) {
		route = unmatched
	}
	s.denied(c, e, route, status)
	s.metrics.answered(c.request.Method, route, status, took)
	level := levelOf(route, status, c.err)
	if !s.cfg.Logger.Enabled(c.request.Context(), level) {
		return
	}
	attributes := append(make([]slog.Attr, 0, 9),
		slog.String("method", c.request.Method), slog.String("route", route),
		slog.Int("status", status), slog.Int64("bytes", e.Response().Size),
		slog.Float64("ms", float64(took.Round(10*time.Microsecond))/float64(time.Millisecond)),
		slog.String("request_id", c.id),
	)
	if c.principal.Tenant != "" {
		attributes = append(attributes,
			slog.String("tenant", c.principal.Tenant), slog.String("actor", string(c.principal.Subject)))
	}
	if ours(c.err) {
		attributes = append(attributes, slog.Any("err", c.err))
	}
	s.cfg.Logger.LogAttrs(c.request.Context(), level, "answered", attributes...)
}

// levelOf keeps what asks every few seconds out of the way.
func levelOf(route string, status int, err error) slog.Level {
	switch {
	case route == "/healthz" || route == "/readyz" || route == "/metrics":
		return slog.LevelDebug
	case errors.Is(err, domain.ErrBusy): // as expected under load
		return slog.LevelWarn
	case status >= http.StatusInternalServerError || ours(err):
		return slog.LevelError
	}
	return slog.LevelInfo
}

// ours tells whether an error is the server's, not the caller's.
func ours(err error) bool {
	return err != nil && answerTo(err).status >= http.StatusInternalServerError
}
