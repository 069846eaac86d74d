package keys_test

import (
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/keys"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestTheFirstKeyIsNoticedByWhoeverGaveItAtOnceAndSoonByOthers(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		here, elsewhere := NewWorld(t, db, projections.Settings{}), NewWorld(t, db, projections.Settings{})
		mine, others := keys.NewKeys(db, here.Log), keys.NewKeys(db, elsewhere.Log)
		given := func(k *keys.Keys) bool {
			t.Helper()
			found := Must(k.Any(t.Context()))(t)
			return found
		}
		for range 3 {
			if given(mine) || given(others) {
				t.Fatal("somebody was given a key")
			}
		}
		here.Submit(domain.CreateKey{By: here.By, Prefix: "aaaaaaaaaa", Key: domain.KeyCreated{
			Hash: "00", Subject: "user:olga", Role: domain.Admin,
		}})
		if !given(mine) {
			t.Error("whoever gave the key has not noticed")
		}
		databasetest.Until(t, "another process notices", func() bool { return given(others) })
	})
}
