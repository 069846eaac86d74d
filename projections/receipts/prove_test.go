package receipts_test

import (
	"errors"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/receipts"
)

func TestASealedReceiptIsProved(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.threeMinutes()
		prove := func(id string) (receipts.Proof, error) {
			r := w.find(id)
			return Must(w.Tree(t.Context(), r))(t).Prove(r)
		}
		for i, id := range []string{"r1-1", "r1-3", "r1-8"} {
			r, proof := w.find(id), Must(prove(id))(t)
			NoError(t, tlog.CheckRecord(proof.Path, proof.Seal.Count, tlog.Hash(proof.Seal.Root), proof.Index,
				tlog.RecordHash(r.Canonical())))
			Equal(t, proof.Index, []int64{0, 2, 3}[i], "the index of %s", id)
		}
		if _, err := w.Tree(t.Context(), w.find("r1-9")); domain.KindOf(err) != domain.KindOf(domain.ErrNotFound) {
			t.Errorf("one that is not sealed: %v", err)
		}
		NoError(t, w.Rewrite(t.Context(), 1, 5, func(all []*receipts.Receipt) []*receipts.Receipt {
			all[0].Status = 201
			return all
		}))
		if _, err := prove("r1-6"); !errors.Is(err, receipts.ErrUnproven) {
			t.Errorf("one beside a changed one: %v", err)
		}
	})
}

// A role that owns nothing of the log keeps receipts, and a caller reads those of one tenant.
func TestAServingRoleKeepsReceipts(t *testing.T) {
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		ctx := database.ForTenant(t.Context(), "default")
		now := day
		w := NewWorldWith(t, db, projections.Settings{}, events.Options{Clock: func() time.Time { return now }})
		r := receipts.New(t.Context(), receipts.Options{DB: db, Log: w.Log, Logger: databasetest.Log(t)})
		id := r.Give(domain.Given{Tenant: "default", At: now, Kind: domain.GivenUse, Status: 200, Caller: "user:ann", Asked: "?"})
		other := r.Give(domain.Given{Tenant: "acme", At: now, Kind: domain.GivenUse, Status: 200, Caller: "user:ann"})
		Equal(t, Must(r.Find(ctx, "default", id))(t).Question.Text, "?", "the question")
		if _, err := r.Find(ctx, "acme", other); domain.KindOf(err) != domain.KindOf(domain.ErrNotFound) && db.Engine == database.Postgres {
			t.Errorf("of another tenant: %v", err)
		}
		Equal(t, len(Must(r.List(ctx, receipts.Query{Tenant: "default"}))(t).Receipts), 1, "listed")
		now = now.Add(time.Hour)
		NoError(t, r.Seal(t.Context()))
		NoError(t, r.Sweep(t.Context()))
		NoError(t, r.Forget(ctx, "default", "user:ann"))
		Must(r.Size(t.Context()))(t)
		report := Must(r.Verify(ctx, receipts.Verification{Tenant: "default"}))(t)
		Equal(t, report.Faults, []receipts.Fault(nil), "faults")
	})
}
