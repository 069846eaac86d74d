package http_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/operate"
	"github.com/annals-kb/annals/http/servertest"
)

func TestMetricsCountByRouteNotByWhatWasAsked(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("secret-id", "x")
		w.ask("GET", "/v1/knowledge/secret-id", nil).want(http.StatusOK)
		w.ask("GET", "/nowhere/secret-id", nil).want(http.StatusNotFound)
		w.ask("POST", "/v1/knowledge", []object{item("a", "x"), item("a", "y")}).want(http.StatusOK)
		got := string(w.ask("GET", "/metrics", nil).want(http.StatusOK).body)
		for _, line := range []string{
			`annals_http_requests_total{method="GET",route="/v1/knowledge/:id",status="200"} 1`,
			`annals_http_requests_total{method="POST",route="/v1/knowledge",status="201"} 1`,
			`annals_http_requests_total{method="",route="unmatched",status="404"} 1`,
			`annals_http_bulk_records_total{status="created"} 1`,
			`annals_http_bulk_records_total{status="error"} 1`,
			`annals_http_requests_in_flight 1`,
		} {
			like(t, got, containing(line+"\n"), line)
		}
		like(t, got, lacking("secret-id"), "an id is among the metrics")
	})
}

func TestTheFrontDoorLeadsPeopleToTheDocs(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		like(t, w.ask("GET", "/", nil).want(http.StatusOK).json(), object{"docs": "/docs"})
		led := w.ask("GET", "/", nil, "Accept: text/html,*/*").want(http.StatusSeeOther)
		page := w.ask("GET", led.header.Get("Location"), nil).want(http.StatusOK)
		like(t, string(page.body), beginning("<!doctype html>"))
		like(t, string(page.body), containing("curl -X POST "+w.url+"/v1/knowledge"), "its examples are for another server")
		like(t, string(page.body), lacking("annals.invalid"), "its examples are for another server")
		like(t, string(w.ask("GET", "/docs", nil, "X-Forwarded-Proto: https").body),
			containing(strings.Replace(w.url, "http:", "https:", 1)+"/v1/search"), "its examples go past the proxy")
		w.ask("GET", "/openapi.json", nil).want(http.StatusOK)
		id := w.ask("GET", "/healthz", nil, "X-Request-Id: mine").header.Get("X-Request-Id")
		made := w.ask("GET", "/healthz", nil, "X-Request-Id: not fit").header.Get("X-Request-Id")
		same(t, id, "mine", "request ids are")
		same(t, len(made), 36, "request ids are")
	})
}

func TestATestOfTheSettingsSaysWhichModelAnswers(t *testing.T) {
	configure := func(cfg *servertest.Config) {
		model := func(name string, try func(context.Context) (int, error)) operate.Model {
			return operate.Model{Model: api.Model{Name: name, Model: "some " + name}, Try: try}
		}
		cfg.Settings = api.Settings{File: "annals.yaml", Items: []api.Setting{
			{Name: "rate", Value: "7", Origin: "ANNALS_RATE", Variable: "ANNALS_RATE", Group: "limits", Help: "Requests a second."},
		}}
		cfg.Models = []operate.Model{
			model("embedding", func(context.Context) (int, error) { return 384, nil }),
			model("embedding-previous", func(context.Context) (int, error) { return 0, errors.New("no such host") }),
			model("llm", nil),
		}
	}
	eachWith(t, configure, func(t *testing.T, w *world) {
		shown := w.ask("GET", "/v1/settings", nil).want(http.StatusOK)
		like(t, shown.json(), object{"file": "annals.yaml", "items": []any{
			object{"name": "rate", "value": "7", "origin": "ANNALS_RATE", "help": "Requests a second.", "group": "limits"},
			object{"name": "learned-for", "value": "shared", "origin": "default"},
		}, "models": []any{object{"name": "embedding", "model": "some embedding"}, object{"name": "embedding-previous"}, object{"name": "llm"}}})
		tested := w.ask("POST", "/v1/settings/test", nil).want(http.StatusOK)
		like(t, tested.json(), object{"items": []any{
			object{"name": "embedding", "ok": true, "dims": 384.0}, object{"ok": false, "error": "no such host"}, object{"name": "llm", "ok": true},
		}})
	})
}
