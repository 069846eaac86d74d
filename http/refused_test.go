package http_test

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	. "github.com/annals-kb/annals/http/servertest"
)

// PostgreSQL refuses whatever a route reads or writes for a reason that ends by itself, or that an operator ends. No
// answer says that the server is at fault, and the routes work as before when the reason ends.
func TestWhatPostgreSQLRefusesForNowIsAnsweredWith503(t *testing.T) {
	databasetest.Slow(t)
	EachPeopled(t, func(t *testing.T, w *World, people map[string]Caller) {
		if w.DB.Engine != database.Postgres {
			return
		}
		values := neighbourhood(w, people)
		var name string
		if err := w.DB.QueryRowContext(t.Context(), "SELECT current_database()").Scan(&name); err != nil {
			t.Fatal(err)
		}
		address, err := url.Parse(databasetest.Postgres(t))
		if err != nil {
			t.Fatal(err)
		}
		address.Path = "/" + name
		owner := databasetest.Open(t, address.String())
		trouble := func(what string) {
			Execute(t, owner, `
				CREATE OR REPLACE FUNCTION trouble() RETURNS boolean LANGUAGE plpgsql AS
				'BEGIN `+what+` END'`)
		}
		trouble("RETURN true;")
		Execute(t, owner, `DO $$
			DECLARE r record;
			BEGIN
				FOR r IN SELECT oid::regclass AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' LOOP
					EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', r.name);
					EXECUTE format('CREATE POLICY all_rows ON %s USING (true)', r.name);
					EXECUTE format('CREATE POLICY trouble ON %s AS RESTRICTIVE USING (trouble())', r.name);
				END LOOP;
			END $$`)
		for _, code := range []string{"25006", "40001", "40P01", "53200", "42P01"} {
			trouble("RAISE SQLSTATE ''" + code + "'';")
			random, doc, refused := rand.New(rand.NewPCG(1, 0)), w.Description().Doc, 0 //nolint:gosec // it is no secret
			for path, item := range doc.Paths.Map() {
				if strings.HasPrefix(path, "/v1/debug/") {
					continue // they take time
				}
				for method, operation := range item.Operations() {
					at, body := try{w, random, "1", method, path, operation}.request()
					fill := func(s string) string { return strings.ReplaceAll(s, slot, values[0].theirs) }
					var sent any
					if body != "" {
						sent = fill(body)
					}
					a := w.Ask(method, fill(at), sent, people["root"].Headers...)
					if a.Status == http.StatusServiceUnavailable {
						refused++
					}
					if a.Status == http.StatusInternalServerError {
						t.Errorf("%s: %s: got %d\n%.2000s", code, a.What, a.Status, a.Body)
					}
				}
			}
			if refused < 10 {
				t.Errorf("%s: only %d routes noticed", code, refused)
			}
		}
		trouble("RETURN true;")
		w.Ask("GET", "/v1/knowledge/"+values[0].theirs, nil, people["root"].Headers...).Want(http.StatusOK)
	})
}
