package projections_test

import (
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/sessions"
)

func TestTheFirstKeyIsNoticedByWhoeverGaveItAtOnceAndSoonByOthers(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		here, elsewhere := newWorld(t, db, projections.Settings{}), newWorld(t, db, projections.Settings{})
		keys, others := sessions.NewKeys(db, here.log.Log), sessions.NewKeys(db, elsewhere.log.Log)
		given := func(k *sessions.Keys) bool {
			t.Helper()
			found := must(k.Any(t.Context()))(t)
			return found
		}
		for range 3 {
			if given(keys) || given(others) {
				t.Fatal("somebody was given a key")
			}
		}
		here.submit(domain.CreateKey{By: here.by, Prefix: "aaaaaaaaaa", Key: domain.KeyCreated{
			Hash: "00", Subject: "user:olga", Role: domain.Admin,
		}})
		if !given(keys) {
			t.Error("whoever gave the key has not noticed")
		}
		for !given(others) {
			if t.Context().Err() != nil {
				t.Fatal("another process never notices")
			}
			time.Sleep(time.Millisecond)
		}
	})
}
