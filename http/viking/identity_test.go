package viking_test

import (
	"fmt"
	"net/http"
	"testing"
)

func TestAKeySaysWhoIsCalling(t *testing.T) {
	each(t, keyed, func(t *testing.T, w *world) {
		w.ask("GET", "/api/v1/system/status", nil).refused(http.StatusUnauthorized, "UNAUTHENTICATED")
		w.ask("GET", "/api/v1/system/status", nil, as("wrong")).refused(http.StatusUnauthorized, "UNAUTHENTICATED")
		same(t, w.ask("GET", "/api/v1/system/status", nil, as(rootKey), "X-OpenViking-Account: nowhere").invalid(),
			"X-OpenViking-Account: there is no such tenant", "an account that there is not")
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
			same[any](t, w.ask("GET", "/api/v1/system/status", nil, c.headers...).object()["user"], c.user, c.headers)
		}
		for _, headers := range [][]header{{as(rootKey)}, {as(alice)}, {as(rootKey), "X-OpenViking-User: bob", "X-OpenViking-Account: acme"}} {
			here := w.ask("GET", "/api/v1/system/status", nil, headers...).object()["user"]
			there := w.ask("GET", "/v1/whoami", nil, headers...).want(http.StatusOK).json()
			who := there["on_behalf_of"]
			if who == nil {
				who = there["subject"]
			}
			same[any](t, who, fmt.Sprintf("user:%v", here), headers, here)
		}
		for _, headers := range [][]header{nil, {as("wrong")}} { // a bad key does not make it fail
			like(t, w.ask("GET", "/health", nil, headers...).want(http.StatusOK).json(), object{"status": "ok", "user_id": nil})
		}
		like(t, w.ask("GET", "/health", nil, as(alice)).want(http.StatusOK).json(),
			object{"account_id": "default", "user_id": "alice", "role": "user"})
	})
}
