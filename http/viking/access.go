package viking

import (
	"net/http"
	"time"

	"github.com/annals-kb/annals/domain"
)

// accesses records what callers were given.
type accesses struct {
	recorder Recorder // nil for none
}

// recordAccess records that the caller was given items.
func (s accesses) recordAccess(q *query, kind string, count int, item func(i int) domain.Retrieved) {
	if s.recorder == nil || count == 0 || !s.recorder.Wants() {
		return
	}
	access := domain.AccessOf(q.caller.Principal, q.caller.origin, kind, http.StatusOK, time.Now())
	access.Items = make([]domain.Retrieved, count)
	for i := range access.Items {
		access.Items[i] = item(i)
	}
	s.recorder.Record(access)
}

// recordGet records that the caller was given one item.
func (s accesses) recordGet(q *query, k *domain.Knowledge) {
	s.recordAccess(q, "get", 1, func(int) domain.Retrieved { return domain.Retrieved{ID: k.ID} })
}
