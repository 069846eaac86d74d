package http_test

import (
	"net/http"
	"testing"
)

func TestWhatMayBeRedactedAndSweptIsAsDocumented(t *testing.T) {
	areDecided(t, "What may be redacted and swept", redactActions)
}

var redactActions = map[string]func(*world, caller) *answer{
	"findings": func(w *world, who caller) *answer { return w.ask("GET", "/v1/scrubbing/findings", nil, who.headers...) },
	"redact": func(w *world, who caller) *answer {
		return w.ask("POST", "/v1/scrubbing/redactions", nil, who.headers...)
	},
	"rules": func(w *world, who caller) *answer { return w.ask("GET", "/v1/scrubbing", nil, who.headers...) },
	"change rules": func(w *world, who caller) *answer {
		return w.ask("PUT", "/v1/scrubbing", object{"off": []string{"phone"}}, who.headers...)
	},
	"all of its own": func(w *world, who caller) *answer {
		return w.ask("POST", "/v1/erasures", object{"of": who.self}, who.headers...)
	},
	"all of another's": func(w *world, who caller) *answer {
		return w.ask("POST", "/v1/erasures", object{"of": stranger}, who.headers...)
	},
	"the tenant": func(w *world, who caller) *answer {
		return w.ask("POST", "/v1/erasures", object{"of": "tenant:default"}, who.headers...)
	},
	"status": func(w *world, who caller) *answer { return w.ask("GET", "/v1/erasures", nil, who.headers...) },
	"sweep":  func(w *world, who caller) *answer { return w.ask("POST", "/v1/erasures/sweep", nil, who.headers...) },
}

// Whoever ordered an erasure reads how far it is; nobody else learns that there is one.
func TestAnErasureIsForWhoeverOrderedIt(t *testing.T) {
	eachPeopled(t, func(_ *testing.T, w *world, people map[string]caller) {
		mia := people["member"]
		w.ask("POST", "/v1/knowledge", object{"id": "hers", "type": "strategy", "content": "x", "owner": mia.self, "scopes": []string{mia.self}}, mia.headers...).want(http.StatusCreated)
		order := w.ask("POST", "/v1/erasures", object{"of": "hers", "with_lineage": true}, mia.headers...).want(http.StatusAccepted)
		where := order.header.Get("Location")
		w.ask("GET", where, nil, mia.headers...).want(http.StatusOK)
		w.ask("GET", where, nil, people["service"].headers...).want(http.StatusNotFound)
	})
}
