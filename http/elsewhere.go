package http

import (
	"github.com/labstack/echo/v4"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/serve"
)

// elsewhere lets another server answer the requests that [Config.Elsewhere] sends there. Their callers are
// authenticated here, too, so that this server slows down who guesses at keys.
func (s *Server) elsewhere(next echo.HandlerFunc) echo.HandlerFunc {
	return func(e echo.Context) error {
		c, w := serve.CallOf(e.Request().Context()), e.Response()
		r := c.Request
		other, err := s.cfg.Elsewhere(r)
		if err != nil {
			return err
		}
		if other == nil {
			return next(e)
		}
		c.Request = withOneKey(r) // as for a mount
		if err := s.admit(c); err != nil {
			return err
		}
		r = r.Clone(domain.WithCaller(c.Request.Context(), c.Principal, c.Origin))
		r.Header.Set("X-Request-Id", c.ID)
		clear(w.Header()) // the other server sends the same
		other.ServeHTTP(w, r)
		return nil
	}
}
