package catalogue_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// Whoever asks for a rebuild, or for its end, while the server takes no writes is told so, and can ask again.
func TestVersionsOfAServerThatIsReadOnlyStayAsTheyAre(t *testing.T) {
	t.Parallel()
	r, proxy, operator := newRebuildingAfar(t)
	address := Must(url.Parse(proxy.URL))(t)
	readOnly := func(clause string) {
		t.Helper()
		Must(operator.ExecContext(t.Context(), "ALTER DATABASE "+strings.TrimPrefix(address.Path,
			"/")+clause))(t)
		proxy.Down() // sessions keep the setting that they began with
		proxy.Up()
	}
	readOnly(" SET default_transaction_read_only = on")
	for name, change := range map[string]func() error{
		"rebuild":  func() error { _, err := r.Rebuilder.Start(t.Context(), domain.RebuildOrder{}); return err },
		"rollback": func() error { _, err := r.Base.Versions.Rollback(t.Context()); return err },
		"retire":   func() error { return r.Base.Versions.Retire(t.Context()) },
	} {
		err := change()
		if told, is := errors.AsType[*domain.Refusal](err); !is || !errors.Is(err, domain.ErrUnavailable) ||
			!errors.Is(err, database.ErrReadOnly) {
			t.Errorf("%s: got %v, told %v", name, err, told)
		}
	}
	readOnly(" RESET default_transaction_read_only")
	r.IsActive(r.Run(), 3)
}

// newRebuildingAfar is a rebuilding on PostgreSQL that has rebuilt an item once, behind a proxy, and the operator's
// own way to it.
func newRebuildingAfar(t *testing.T) (r *Rebuilding, proxy *databasetest.Proxy, operator *database.DB) {
	t.Helper()
	server := databasetest.Migrated(t, database.Postgres)
	proxy, operator = databasetest.NewProxy(t, server), databasetest.Open(t, server)
	db := databasetest.Open(t, proxy.URL)
	r = NewRebuilding(t, db, projections.Settings{})
	r.Remember("item", "retry with backoff", "team:pay")
	r.Switches(domain.RebuildOrder{})
	return r, proxy, operator
}
