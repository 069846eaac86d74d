package keys_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

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

// Servers that store the last use of the same keys at once do not wait for each other in a circle.
func TestServersNoteTheUseOfTheSameKeysAtOnce(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.Migrated(t, database.Postgres))
	log := NewWorld(t, db, projections.Settings{}).Log
	var writing sync.WaitGroup
	for range 2 {
		server := keys.NewKeys(db, log)
		writing.Go(func() {
			for round := range 20 {
				for n := range 40 {
					server.Used(domain.DefaultTenant, fmt.Sprintf("prefix%04d", n), time.Now().Add(time.Duration(round)*time.Second))
				}
				Report(t, server.Write(t.Context()))
			}
		})
	}
	writing.Wait()
}
