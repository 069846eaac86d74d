package viking_test

import (
	"net/http"
	"testing"

	"github.com/annals-kb/annals/database"
)

const accounts = "/api/v1/admin/accounts"

// key is the key that an answer gives, which must be one.
func (a *answer) key() header {
	a.t.Helper()
	key, _ := a.object()["user_key"].(string)
	if key == "" {
		a.t.Fatalf("%s: gave no key: %.500s", a.what, a.body)
	}
	return as(key)
}

func TestARemovedAccountIsClosedAtOnceAndErased(t *testing.T) {
	each(t, keyed, func(t *testing.T, w *world) {
		ada := w.ask("POST", accounts, object{"account_id": "acme", "admin_user_id": "ada"}, as(rootKey)).key()
		w.ask("POST", "/api/v1/content/write", object{"uri": "viking://resources/all.md", "content": "for all of us", "mode": "create"}, ada).object()
		read := "/api/v1/content/read?uri=viking://resources/all.md"
		inside := []header{as(rootKey), "X-OpenViking-Account: acme"}
		w.ask("GET", read, nil, inside...).result()

		w.ask("DELETE", accounts+"/acme", nil, ada).forbidden()
		w.ask("DELETE", accounts+"/default", nil, as(rootKey)).refused(http.StatusPreconditionFailed, "FAILED_PRECONDITION")
		w.ask("DELETE", accounts+"/nowhere", nil, as(rootKey)).missing()
		w.ask("GET", "/api/v1/system/status", nil, ada).object()
		same(t, w.ask("DELETE", accounts+"/acme", nil, as(rootKey)).object()["deleted"], true)
		w.ask("GET", "/api/v1/system/status", nil, ada).refused(http.StatusUnauthorized, "UNAUTHENTICATED")

		if err := w.eraser.CarryOut(database.ForEveryTenant(t.Context())); err != nil {
			t.Fatal(err)
		}
		w.ask("GET", read, nil, inside...).missing()
		if list, _ := w.ask("GET", accounts, nil, as(rootKey)).result().([]any); len(list) != 1 {
			t.Errorf("accounts: %v", list)
		}
		w.ask("POST", accounts, object{"account_id": "acme", "admin_user_id": "eve"}, as(rootKey)).taken()
	})
}

func TestNobodyElseAdministersAnAccount(t *testing.T) {
	each(t, keyed, func(_ *testing.T, w *world) {
		ada := w.ask("POST", accounts, object{"account_id": "acme", "admin_user_id": "ada"}, as(rootKey)).key()
		bea := w.ask("POST", accounts, object{"account_id": "bell", "admin_user_id": "bea"}, as(rootKey)).key()
		bob := w.ask("POST", accounts+"/acme/users", object{"user_id": "bob"}, ada).key()
		for _, route := range []struct{ method, path string }{
			{"GET", accounts},
			{"POST", accounts},
			{"PUT", accounts + "/acme/users/bob/role"},
			{"PUT", accounts + "/bell/users/bea/role"},
			{"GET", accounts + "/bell/users"},
			{"POST", accounts + "/bell/users"},
			{"DELETE", accounts + "/bell/users/bea"},
			{"POST", accounts + "/bell/users/bea/key"},
			{"GET", accounts + "/nowhere/users"},
		} {
			body := object{"account_id": "mine", "admin_user_id": "x", "user_id": "x", "role": "admin"}
			w.ask(route.method, route.path, body, ada).forbidden()
			w.ask(route.method, route.path, body, bob).forbidden()
			w.ask(route.method, route.path, body).refused(http.StatusUnauthorized, "UNAUTHENTICATED")
		}
		w.ask("GET", accounts+"/acme/users", nil, bob).forbidden()
		w.ask("GET", accounts+"/acme/users", nil, bea).forbidden()
		w.ask("GET", accounts+"/acme/users", nil, as(rootKey), "Annals-On-Behalf-Of: user:bob").forbidden()
		w.ask("GET", accounts+"/nowhere/users", nil, as(rootKey)).missing()
		w.ask("GET", "/api/v1/system/status", nil, bea).object()
	})
}
