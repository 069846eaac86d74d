package follow_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/events/logtest"
)

func standing(t *testing.T, followers *follow.Followers) follow.Lag {
	t.Helper()
	s, err := followers.Lag(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func wantStanding(t *testing.T, followers *follow.Followers, want follow.Lag) {
	t.Helper()
	eventually(t, func() string {
		return cmp.Diff(want, standing(t, followers), cmpopts.IgnoreFields(follow.Lag{}, "Mine"))
	})
}

// What is said of all tenants is what is said of each, of the one that is worst off.
func TestAProjectionStandsAsItDoesForTheTenantThatIsWorstOff(t *testing.T) {
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
		l, followers := newLog(t, db, events.Options{Clock: func() time.Time { return now }})
		wantStanding(t, followers, follow.Lag{})
		logtest.Remember(t, l, "acme", 0, 3)
		now = now.Add(30 * time.Second)
		logtest.Remember(t, l, "globex", 0, 5)
		now = now.Add(10 * time.Second)
		wantStanding(t, followers, follow.Lag{LagEvents: 5, Lag: 40 * time.Second})
		for tenant, want := range map[string]follow.SubscriptionStatus{
			"acme": {Head: 3, Lag: 40 * time.Second}, "globex": {Head: 5, Lag: 10 * time.Second},
		} {
			got, err := followers.SubscriptionStatus(database.ForTenant(t.Context(), tenant), "p", tenant)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", tenant, err, diff)
			}
		}

		p := newPicky(t, db, map[string]func() error{"knowledge:k-1": always(errors.New("not this"))})
		stop := handle(t, followers, "p", func(ctx context.Context, tx bun.IDB, page follow.Page) error {
			if page.Tenant == "globex" {
				return database.ErrUnavailable
			}
			return p.handle(ctx, tx, page)
		})
		wantStanding(t, followers, follow.Lag{LagEvents: 5, Lag: 10 * time.Second, Stalled: 1, Quarantined: 1})
		if !standing(t, followers).Mine {
			t.Error("somebody else works on it")
		}
		stop()
		eventually(t, func() string {
			if standing(t, followers).Mine {
				return "it is worked on when nobody follows"
			}
			return ""
		})
	})
}
