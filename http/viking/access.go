package viking

import (
	"net/http"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/serve"
)

// answers records what callers were given.
type answers struct {
	recorder Recorder // nil for none
}

// give records that the caller is given items, unless they only look at the answer, and keeps the receipt for the
// answer. Add adds what was asked, and the items.
func (s answers) give(q *query, add func(given *domain.Given)) {
	if s.recorder == nil {
		return
	}
	kind := serve.GivenIn(q.request.Context())
	given := domain.GivenTo(q.caller.Principal, q.caller.origin, kind, http.StatusOK, time.Now())
	given.Route = q.request.Pattern
	add(&given)
	q.receipt = s.recorder.Give(given)
}

// giveItems records that the caller is given a text of items.
func (s answers) giveItems(q *query, level domain.Level, items ...*domain.Knowledge) {
	s.give(q, func(given *domain.Given) {
		given.Items = domain.GivenWhole(items...)
		for i := range given.Items {
			given.Items[i].Level = level
		}
	})
}
