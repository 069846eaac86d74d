package main

import (
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/client"
)

// What a server asks while nothing happens does not grow with the tenants: here, one statement for each of them in a
// minute would be too many.
func TestAvailabilityOfManyTenantsAtRest(t *testing.T) {
	databasetest.Slow(t)
	t.Parallel()
	const tenants, most, windows, watched = 300, 5.0, 6, time.Minute
	address, data, root := databasetest.Postgres(t), t.TempDir(), strings.Repeat("k", 40)
	server := startServer(t, data, []string{
		"DATABASE_URL=" + address, "ANNALS_DATA=" + data, "ANNALS_LISTEN=127.0.0.1:0", "ANNALS_ROOT_KEY=" + root,
	})
	c, err := client.New(client.Config{Server: server, Key: root})
	if err != nil {
		t.Fatal(err)
	}
	for n := range tenants {
		tenant := fmt.Sprintf("tenant-%d", n)
		_, err := c.Do(t.Context(), client.Post(map[string]string{"name": tenant}, "v1", "tenants"), nil)
		if err == nil {
			_, err = c.With(http.Header{"Annals-Tenant": {tenant}}).Remember(t.Context(), client.Knowledge{
				Type: "strategy", Scopes: []string{"public"}, Content: "retry with jitter",
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("postgres", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	transactions := func() (n float64) {
		t.Helper()
		err := db.QueryRowContext(t.Context(),
			"SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()").Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for window := range windows { // until what was written is projected
		before := transactions()
		time.Sleep(watched)
		asked := (transactions() - before) / watched.Seconds()
		t.Logf("minute %d: %.1f transactions a second with %d tenants", window+1, asked, tenants)
		if asked <= most {
			return
		}
	}
	t.Errorf("got more than %.0f transactions a second in each of %d minutes", most, windows)
}
