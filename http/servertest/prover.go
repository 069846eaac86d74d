package servertest

import (
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/events/proof"
	"github.com/annals-kb/annals/events/signing"
)

// Prover makes a prover with a key of its own, which signs this often; 0 for the default.
func Prover(
	t *testing.T, db *database.DB, log *events.Log, followers *follow.Followers, every time.Duration,
) *proof.Prover {
	t.Helper()
	key, err := signing.NewKey(t.TempDir(), "annals.example")
	if err != nil {
		t.Fatal(err)
	}
	return proof.NewProver(db, log, followers, key, proof.Options{Every: every, Logger: databasetest.Log(t)})
}
