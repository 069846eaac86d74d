package operate_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/http/operate"
	. "github.com/annals-kb/annals/http/servertest"
)

func TestTheServerIsReadyWithoutWhatStandsBesideIt(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.Migrated(t, database.SQLite))
	w := NewWorld(t, db, events.Options{}, func(_ *World, cfg *Config) {
		cfg.Probes = append(cfg.Probes, operate.Probe{Name: "tokens", Beside: true, Check: func(context.Context) error { return errors.New("away") }},
			operate.Probe{Name: "writes", Check: func(context.Context) error { return domain.Refuse(domain.ErrBusy, "slow") }})
	})
	ready := w.Ask("GET", "/readyz", nil).Want(http.StatusOK).JSON()
	checks, _ := ready["checks"].([]any)
	Like(t, checks, []any{
		Object{}, Object{"status": "degraded", "reason": "away"}, Object{"status": "degraded", "reason": "slow"},
	})
}

func TestAProbeThatPanicsHasFailed(t *testing.T) {
	t.Parallel()
	s := Config{Probes: []operate.Probe{{Name: "p", Check: func(context.Context) error { panic("no") }}}}.New()
	got := httptest.NewRecorder()
	s.Handler().ServeHTTP(got, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
	if got.Code != http.StatusServiceUnavailable || !strings.Contains(got.Body.String(), `"failed"`) {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}
