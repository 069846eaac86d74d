package viking

import (
	"net/http"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// Recorder keeps a log of who was given which knowledge.
type Recorder interface {
	// Wants tells whether this retrieval is to be recorded.
	Wants() bool
	// Record takes an access. It never waits.
	Record(access domain.Access)
}

// retrieved records that the caller was given items.
func (s *Server) retrieved(q *query, kind string, count int, item func(i int) domain.Retrieved) {
	if s.cfg.Recorder == nil || count == 0 || !s.cfg.Recorder.Wants() {
		return
	}
	c := q.caller
	access := domain.Access{
		Tenant: c.Tenant, At: s.cfg.Now(), Kind: kind, Status: http.StatusOK,
		Actor: c.Subject, OnBehalfOf: c.OnBehalfOf, Authentication: c.Authentication,
		RequestID: c.origin.RequestID, CorrelationID: c.origin.CorrelationID, Items: make([]domain.Retrieved, count),
	}
	if parts := strings.Split(c.origin.Traceparent, "-"); len(parts) == 4 {
		access.TraceID = parts[1]
	}
	for i := range access.Items {
		access.Items[i] = item(i)
	}
	s.cfg.Recorder.Record(access)
}

// given records that the caller was given one item.
func (s *Server) given(q *query, k *domain.Knowledge) {
	s.retrieved(q, "get", 1, func(int) domain.Retrieved { return domain.Retrieved{ID: k.ID} })
}
