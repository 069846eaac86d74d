package http_test

import (
	"net/http"
	"strings"
	"testing"
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
			if !strings.Contains(got, line+"\n") {
				t.Errorf("missing: %s", line)
			}
		}
		if strings.Contains(got, "secret-id") {
			t.Error("an id is among the metrics")
		}
	})
}

func TestTheFrontDoorLeadsPeopleToTheDocs(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		if got := w.ask("GET", "/", nil).want(http.StatusOK).json(); got["docs"] != "/docs" {
			t.Errorf("%v", got)
		}
		led := w.ask("GET", "/", nil, "Accept: text/html,*/*").want(http.StatusFound)
		page := w.ask("GET", led.header.Get("Location"), nil).want(http.StatusOK)
		if !strings.HasPrefix(string(page.body), "<!doctype html>") {
			t.Errorf("%.100s", page.body)
		}
		if !strings.Contains(string(page.body), "curl -X POST "+w.url+"/v1/knowledge") || strings.Contains(string(page.body), "annals.invalid") {
			t.Error("its examples are for another server")
		}
		if behind := w.ask("GET", "/docs", nil, "X-Forwarded-Proto: https"); !strings.Contains(string(behind.body), strings.Replace(w.url, "http:", "https:", 1)+"/v1/search") {
			t.Error("its examples go past the proxy")
		}
		w.ask("GET", "/openapi.json", nil).want(http.StatusOK)
		id := w.ask("GET", "/healthz", nil, "X-Request-Id: mine").header.Get("X-Request-Id")
		made := w.ask("GET", "/healthz", nil, "X-Request-Id: not fit").header.Get("X-Request-Id")
		if id != "mine" || len(made) != 36 {
			t.Errorf("request ids are %q and %q", id, made)
		}
	})
}
