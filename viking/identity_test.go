package viking_test

import (
	"fmt"
	"net/http"
	"testing"
)

func TestInOpenModeCallersAreBelieved(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		if got := w.ask("GET", "/api/v1/system/status", nil).object()["user"]; got != "default" {
			t.Errorf("known as %v", got)
		}
		if got := w.ask("GET", "/api/v1/system/status", nil, "X-OpenViking-User: alice").object()["user"]; got != "alice" {
			t.Errorf("known as %v", got)
		}
		if said := w.ask("GET", "/api/v1/system/status", nil, "X-OpenViking-Account: nowhere").refused(http.StatusBadRequest, "INVALID_ARGUMENT"); said != "X-OpenViking-Account: there is no such tenant" {
			t.Errorf("an account that there is not: %s", said)
		}
		w.ask("GET", "/api/v1/system/status", nil, "X-OpenViking-User: a b").refused(http.StatusBadRequest, "INVALID_ARGUMENT")
		w.ask("GET", "/api/v1/nowhere", nil).refused(http.StatusNotFound, "NOT_FOUND")
		w.ask("PUT", "/api/v1/system/status", nil).refused(http.StatusNotFound, "NOT_FOUND")
		if got := w.ask("GET", "/health", nil).want(http.StatusOK).json(); got["status"] != "ok" || got["healthy"] != true || got["version"] != "test" {
			t.Errorf("health: %v", got)
		}
	})
}

func TestAKeySaysWhoIsCalling(t *testing.T) {
	each(t, keyed, func(t *testing.T, w *world) {
		w.ask("GET", "/api/v1/system/status", nil).refused(http.StatusUnauthorized, "UNAUTHENTICATED")
		w.ask("GET", "/api/v1/system/status", nil, as("wrong")).refused(http.StatusUnauthorized, "UNAUTHENTICATED")
		if said := w.ask("GET", "/api/v1/system/status", nil, as(rootKey), "X-OpenViking-Account: nowhere").refused(http.StatusBadRequest, "INVALID_ARGUMENT"); said != "X-OpenViking-Account: there is no such tenant" {
			t.Errorf("an account that there is not: %s", said)
		}
		w.ask("POST", "/v1/tenants", object{"name": "acme"}, as(rootKey)).want(http.StatusCreated)
		alice, _ := w.ask("POST", "/v1/keys", object{"subject": "user:alice"}, as(rootKey)).want(http.StatusCreated).json()["key"].(string)
		for _, c := range []struct {
			user    string
			headers []header
		}{
			{"default", []header{as(rootKey)}},
			{"default", []header{"Authorization: Bearer " + rootKey}},
			{"bob", []header{as(rootKey), "X-OpenViking-User: bob", "X-OpenViking-Account: acme"}},
			{"alice", []header{as(alice), "X-OpenViking-User: bob", "X-OpenViking-Account: acme"}},
			{"alice", []header{as(alice), "Authorization: Bearer " + rootKey}}, // X-API-Key wins
		} {
			if got := w.ask("GET", "/api/v1/system/status", nil, c.headers...).object()["user"]; got != c.user {
				t.Errorf("%v: known as %v, want %s", c.headers, got, c.user)
			}
		}
		for _, headers := range [][]header{{as(rootKey)}, {as(alice)}, {as(rootKey), "X-OpenViking-User: bob", "X-OpenViking-Account: acme"}} {
			here := w.ask("GET", "/api/v1/system/status", nil, headers...).object()["user"]
			there := w.ask("GET", "/v1/whoami", nil, headers...).want(http.StatusOK).json()
			who := there["on_behalf_of"]
			if who == nil {
				who = there["subject"]
			}
			if who != fmt.Sprintf("user:%v", here) {
				t.Errorf("%v: /api/v1 knows user %v, and /v1 %v", headers, here, who)
			}
		}
		for _, headers := range [][]header{nil, {as("wrong")}} { // a bad key does not make it fail
			if got := w.ask("GET", "/health", nil, headers...).want(http.StatusOK).json(); got["status"] != "ok" || got["user_id"] != nil {
				t.Errorf("health: %v", got)
			}
		}
		if got := w.ask("GET", "/health", nil, as(alice)).want(http.StatusOK).json(); got["account_id"] != "default" || got["user_id"] != "alice" || got["role"] != "user" {
			t.Errorf("health: %v", got)
		}
	})
}
