package http_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestWhatMayBeDoneWithTheLogAndWithProjectionsIsAsDocumented(t *testing.T) {
	areDecided(t, "What may be done with the log and with projections", operateActions)
}

var operateActions = map[string]func(*world, caller) *answer{
	"log key":        reading("/v1/log/key"),
	"checkpoint":     reading("/v1/log/checkpoint"),
	"see quarantine": reading("/v1/projections/past/quarantine"),
	"see rebuild":    reading("/v1/projections/knowledge/rebuild"),
	"plan":           reading("/v1/projections/knowledge/rebuild/plan"),
	"replay":         doing("POST", "/v1/projections/past/quarantine/replay"),
	"skip":           doing("POST", "/v1/projections/past/quarantine/skip?all=true"),
	"replay all":     doing("POST", "/v1/projections/past/replay"),
	"cancel":         doing("DELETE", "/v1/projections/knowledge/rebuild"),
	"roll back":      doing("POST", "/v1/projections/knowledge/rollback"),
	"retire":         doing("POST", "/v1/projections/knowledge/retire"),
	"reports": func(w *world, who caller) *answer {
		for _, name := range []string{"changes?scope=public", "harm", "stale", "declining", "denials"} {
			w.ask("GET", "/v1/reports/"+name, nil, who.headers...).want(http.StatusOK)
		}
		w.ask("GET", "/v1/reviews", nil, who.headers...).want(http.StatusOK)
		return w.ask("GET", "/v1/reports/actor?actor=user:bob", nil, who.headers...)
	},
	"rotate": func(w *world, who caller) *answer {
		return w.ask("POST", "/v1/keys/"+w.prefix()+"/rotate", nil, who.headers...)
	},
	"revoke": func(w *world, who caller) *answer {
		return w.ask("DELETE", "/v1/keys/"+w.prefix(), nil, who.headers...)
	},
	"another's order": func(w *world, who caller) *answer {
		order := w.ask("POST", "/v1/erasures", object{"of": stranger}, bearer(rootKey)).want(http.StatusAccepted)
		return w.ask("GET", order.header.Get("Location"), nil, who.headers...)
	},
}

// prefix is that of a key that somebody has.
func (w *world) prefix() string {
	w.t.Helper()
	return strings.Split(w.given(rootKey, object{"subject": stranger}), "_")[1]
}

func reading(path string) func(*world, caller) *answer { return doing("GET", path) }

// doing sends a request about the server, of which nothing is hidden: who is told that there is nothing to do was
// allowed to.
func doing(method, path string) func(*world, caller) *answer {
	return func(w *world, who caller) *answer {
		a := w.ask(method, path, nil, who.headers...)
		if a.status == http.StatusConflict || a.status == http.StatusNotFound {
			a.status = http.StatusNoContent
		}
		return a
	}
}
