package projections_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Whoever asks for a rebuild, or for its end, while the server takes no writes is told so, and can ask again.
func TestVersionsOfAServerThatIsReadOnlyStayAsTheyAre(t *testing.T) {
	t.Parallel()
	r, proxy, operator := newRebuildingAfar(t)
	address := must(url.Parse(proxy.URL))(t)
	readOnly := func(clause string) {
		t.Helper()
		must(operator.ExecContext(t.Context(), "ALTER DATABASE "+strings.TrimPrefix(address.Path,
			"/")+clause))(t)
		proxy.Down() // sessions keep the setting that they began with
		proxy.Up()
	}
	readOnly(" SET default_transaction_read_only = on")
	for name, change := range map[string]func() error{
		"rebuild":  func() error { _, err := r.Start(t.Context(), domain.RebuildOrder{}); return err },
		"rollback": func() error { _, err := r.base.Rollback(t.Context()); return err },
		"retire":   func() error { return r.base.Retire(t.Context()) },
	} {
		err := change()
		if told, is := errors.AsType[*domain.Refusal](err); !is || !errors.Is(err, domain.ErrUnavailable) ||
			!errors.Is(err, database.ErrReadOnly) {
			t.Errorf("%s: got %v, told %v", name, err, told)
		}
	}
	readOnly(" RESET default_transaction_read_only")
	r.isActive(r.run(), 3)
}
