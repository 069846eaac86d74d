package http

import (
	"cmp"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/annals-kb/annals/domain"
)

// Recorder keeps a log of who was given which knowledge, and who was denied what.
type Recorder interface {
	// Wants tells whether this retrieval is to be recorded.
	Wants() bool
	// Record takes an access. It never waits.
	Record(access domain.Access)
}

// retrieved records that the caller was given items.
func (s *Server) retrieved(c *call, kind string, count int, item func(i int) domain.Retrieved) {
	if s.cfg.Recorder == nil || count == 0 || !s.cfg.Recorder.Wants() {
		return
	}
	access := c.access(kind, http.StatusOK)
	access.Items = make([]domain.Retrieved, count)
	for i := range access.Items {
		access.Items[i] = item(i)
	}
	s.cfg.Recorder.Record(access)
}

// denied records that the caller was refused.
func (s *Server) denied(c *call, e echo.Context, route string, status int) {
	if s.cfg.Recorder == nil || status != http.StatusForbidden && status != http.StatusUnauthorized {
		return
	}
	access := c.access(domain.Denied, status)
	access.Route = c.request.Method + " " + route
	if id := e.Param("id"); possible(id) {
		access.Items = []domain.Retrieved{{ID: id}}
	}
	s.cfg.Recorder.Record(access)
}

func (c *call) access(kind string, status int) domain.Access {
	access := domain.AccessOf(c.principal, c.origin, kind, status, c.now)
	access.Tenant, access.RequestID = cmp.Or(access.Tenant, domain.DefaultTenant), c.id
	return access
}
