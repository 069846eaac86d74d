package receipts_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/receipts"
)

func TestTwentyCallersAtOnceGetNumbersWithoutAGap(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.fill(2)
		given := w.answer("", "a", "b")
		ctx, stop := context.WithCancel(t.Context())
		var writer, callers sync.WaitGroup
		writer.Go(func() { w.Run(ctx) })
		const each = 50
		ids := make([][]string, 20)
		for i := range ids {
			callers.Go(func() {
				for range each {
					ids[i] = append(ids[i], w.Give(given))
				}
			})
		}
		callers.Wait()
		stop()
		writer.Wait()
		all := slices.Concat(ids...)
		slices.Sort(all)
		if all = slices.Compact(all); len(all) != 20*each || slices.Contains(all, "") {
			t.Errorf("%d different ids, want %d", len(all), 20*each)
		}
		listed := w.ids(receipts.Query{Limit: 300})
		slices.Sort(listed)
		Equal(t, listed, all, "receipts (-got +want)")
		Equal(t, Must(w.Gaps(t.Context(), "default"))(t), []receipts.Gap(nil), "gaps")
		for _, number := range Must(w.Numbers(t.Context(), "default", "a", "b"))(t) {
			Equal(t, w.Number("SELECT uses FROM item_uses WHERE number = ?", number), 20*each, "uses of item %d", number)
		}
	})
}

func TestOnlyUsesCount(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.fill(3)
		for kind, ids := range map[domain.GivenKind][]string{
			domain.GivenUse: {"a", "b"}, domain.GivenLook: {"b", "c"}, domain.GivenDenial: {"c"},
		} {
			given := w.answer("", ids...)
			given.Kind = kind
			w.Give(given)
		}
		cut := w.answer("", "a", "c")
		cut.Items[1].Cut = true
		w.Give(cut)
		NoError(t, w.Flush(t.Context()))
		Equal(t, w.Table("SELECT number, uses FROM item_uses ORDER BY number"), []map[string]any{
			{"number": int64(1), "uses": int64(2)}, {"number": int64(2), "uses": int64(1)},
		}, "uses (-got +want)")
	})
}

// While nothing can be written, receipts wait. Those that find no room are dropped, and leave a gap.
func TestReceiptsThatFindNoRoomLeaveAGap(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.fill(1)
		databasetest.Tamper(t, w.DB, "ALTER TABLE receipt_pages RENAME TO away")
		for i := range receipts.MostWaiting + 7 {
			if id := w.Give(w.answer("")); (id == "") != (i >= receipts.MostWaiting) {
				t.Fatalf("answer %d has receipt %q", i, id)
			}
		}
		if err := w.Flush(t.Context()); err == nil {
			t.Error("a write without a table succeeded")
		}
		Equal(t, w.Give(w.answer("")), "", "the next one")
		databasetest.Tamper(t, w.DB, "ALTER TABLE away RENAME TO receipt_pages")
		NoError(t, w.Flush(t.Context()))
		*w.now = w.now.Add(time.Minute)
		last := w.Give(w.answer(""))
		Equal(t, last, fmt.Sprintf("r1-%d", receipts.MostWaiting+9), "the next one with room")
		gaps := Must(w.Gaps(t.Context(), "default"))(t)
		Equal(t, fmt.Sprint(gaps), fmt.Sprintf("[r1-%d to r1-%d were lost]", receipts.MostWaiting+1, receipts.MostWaiting+8), "gaps")
		*w.now = w.now.Add(3 * time.Minute)
		NoError(t, w.Seal(t.Context()))
		Equal(t, w.verify(), []string(nil), "faults")

		// A receipt that takes the place of a lost one is found.
		NoError(t, w.Rewrite(t.Context(), 1, receipts.MostWaiting+9, func(all []*receipts.Receipt) []*receipts.Receipt {
			forged := *all[0]
			forged.Sequence--
			return []*receipts.Receipt{&forged, all[0]}
		}))
		if found, forged := w.verify(), fmt.Sprintf("r1-%d added", receipts.MostWaiting+8); !slices.Contains(found, forged) {
			t.Errorf("found %q, want %q", found, forged)
		}
	})
}

func TestAClockThatIsSetBackDoesNotSetReceiptsBack(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		first := w.Give(w.answer(""))
		*w.now = w.now.Add(-time.Hour)
		second := w.Give(w.answer(""))
		Equal(t, w.find(second).At, w.find(first).At, "the time of the second one")
		Equal(t, w.ids(receipts.Query{}), []string{second, first}, "the order")
		Equal(t, w.verify(), []string(nil), "faults")
	})
}

func TestExpiredReceiptsAreDeletedAndTheirSealsStay(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w = w.begin(24 * time.Hour)
		w.fill(1)
		first := w.Give(w.answer(""))
		NoError(t, w.Flush(t.Context()))
		*w.now = w.now.Add(3 * time.Minute)
		NoError(t, w.Seal(t.Context()))
		*w.now = w.now.Add(23 * time.Hour)
		second := w.Give(w.answer(""))
		NoError(t, w.Sweep(t.Context()))
		Equal(t, w.ids(receipts.Query{}), []string{second, first}, "a day later")
		*w.now = w.now.Add(2 * time.Hour)
		NoError(t, w.Sweep(t.Context()))
		Equal(t, w.ids(receipts.Query{}), []string{second}, "two hours later")
		report := Must(w.Verify(t.Context(), receipts.Verification{Tenant: "default"}))(t)
		Equal(t, report, receipts.Report{Receipts: 1, Expired: 1}, "the report (-got +want)")
	})
}

// A server that is killed loses what it did not write yet. The next one says so.
func TestARunThatDidNotEndMayHaveLostReceipts(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Give(w.answer(""))
		w.Give(w.answer(""))
		NoError(t, w.Flush(t.Context()))
		w.Give(w.answer("")) // is not written
		*w.now = w.now.Add(time.Hour)
		again := w.begin(0)
		Equal(t, fmt.Sprint(Must(again.Gaps(t.Context(), "default"))(t)),
			"[receipts after r1-2 may be lost: the run did not end by itself]", "gaps")
		Equal(t, again.Give(w.answer("")), "r2-1", "the next receipt")
	})
}

// Receipts that only the log knows, such as after an import of the log alone, keep their numbers to themselves.
func TestARunCountsOnAfterThoseInTheLog(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		system := domain.SystemPrincipal()
		system.Tenant = "default"
		_, err := w.Log.Submit(t.Context(), domain.Submission{By: system, Command: domain.SealReceipts{
			By: system, Run: "41", Seal: domain.ReceiptsSealed{First: 1, Last: 1, Count: 1, Root: make([]byte, 32), Marks: []byte("abc")},
		}})
		NoError(t, err)
		Equal(t, w.begin(0).Give(w.answer("")), "r42-1", "the next receipt")
		_, err = w.Log.Submit(t.Context(), domain.Submission{By: w.By, Command: domain.SealReceipts{By: w.By, Run: "41"}})
		if domain.KindOf(err) != domain.KindOf(domain.ErrForbidden) {
			t.Errorf("an admin seals receipts: %v", err)
		}
	})
}

func TestOneInSoManyAnswersHasAReceipt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sampled := w.beginWith(receipts.Options{Retention: receipts.Retention{Sample: 10}})
		given, denied := 0, w.answer("")
		denied.Kind = domain.GivenDenial
		for range 1000 {
			if sampled.Give(w.answer("")) != "" {
				given++
			}
			if sampled.Give(denied) == "" {
				t.Fatal("a denial has no receipt")
			}
		}
		if given < 50 || given > 200 {
			t.Errorf("%d of 1,000 answers have a receipt, want about 100", given)
		}
		NoError(t, sampled.Flush(t.Context()))
		Equal(t, Must(sampled.Gaps(t.Context(), "default"))(t), []receipts.Gap(nil), "gaps")
	})
}

func TestATenantHasItsOwnReceipts(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w = w.beginWith(receipts.Options{
			Retention: receipts.Retention{Keep: time.Hour, Sample: -1},
			Tenants:   map[string]receipts.Retention{"kept": {Keep: time.Hour * 3, Sample: 1}, "always": {Sample: 1}},
		})
		given := w.answer("")
		Equal(t, w.Give(given), "", "a receipt of a tenant without a setting")
		for _, given.Tenant = range []string{"kept", "always"} {
			if w.Give(given) == "" {
				t.Errorf("an answer to %s has no receipt", given.Tenant)
			}
		}
		NoError(t, w.Flush(t.Context()))
		for _, want := range []int{2, 1, 1} {
			*w.now = w.now.Add(time.Hour * 2)
			NoError(t, w.Sweep(t.Context()))
			Equal(t, w.Number("SELECT count(*) FROM receipt_pages"), want, "pages that are kept")
		}
	})
}

// Receipts of a tenant without a log, or of nobody, are kept and expire. No seal begins a log.
func TestAnswersToNobodyBeginNoLog(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w = w.begin(time.Hour)
		for _, tenant := range []string{"", "nowhere"} {
			given := w.answer("")
			given.Tenant, given.Kind, given.Caller, given.OnBehalfOf = tenant, domain.GivenDenial, "", ""
			w.Give(given)
		}
		NoError(t, w.Flush(t.Context()))
		*w.now = w.now.Add(time.Minute * 10)
		NoError(t, w.Seal(t.Context()))
		Equal(t, Must(w.Log.Reader.Tenants(t.Context()))(t), []string(nil), "tenants")
		listed := Must(w.Receipts.List(t.Context(), receipts.Query{Tenant: domain.SystemTenant}))(t)
		Equal(t, len(listed.Receipts), 1, "receipts of nobody")
		*w.now = w.now.Add(time.Hour)
		NoError(t, w.Sweep(t.Context()))
		Equal(t, w.Number("SELECT count(*) FROM receipt_pages"), 0, "pages that have expired")
	})
}

func TestAServerThatGivesNoReceiptsReadsThem(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		id := w.Give(w.answer("?"))
		w.end()
		off := w.beginWith(receipts.Options{Retention: receipts.Retention{Sample: -1}})
		Equal(t, off.Give(w.answer("?")), "", "a receipt")
		Equal(t, Must(off.Receipts.Find(t.Context(), "default", id))(t).ID(), id, "an earlier one")
		ctx, stop := context.WithCancel(t.Context())
		stop()
		off.Run(ctx)
		Equal(t, w.Number("SELECT count(*) FROM receipt_runs"), 1, "runs")
	})
}

// The cost of an answer of ten hits: for its caller, and in the background.
func BenchmarkGive(b *testing.B) {
	db := databasetest.Open(b, databasetest.Migrated(b, database.SQLite))
	base := Must(projections.Open(b.Context(), db, projections.Settings{}))(b)
	log, _ := follow.NewLog(db, base.Projection, events.Options{Logger: databasetest.Log(b)})
	b.Cleanup(func() { NoError(b, log.Close(context.WithoutCancel(b.Context()))) })
	given := domain.Given{Tenant: "default", Kind: domain.GivenUse, Status: 200, Caller: "agent:coder", Asked: "how do we retry?"}
	by := domain.OpenPrincipal()
	for i := range 10 {
		c := Must(domain.Remember{By: by, ID: fmt.Sprint("i", i), Knowledge: domain.Remembered{
			Class: domain.Class{Type: domain.Strategy}, Text: domain.Text{Content: fmt.Sprint("what ", i, " says")},
		}}.Complete())(b)
		done := Must(log.Submit(b.Context(), domain.Submission{By: by, Command: c}))(b)
		given.Items = append(given.Items, domain.GivenItem{Item: done.Knowledge, Scope: "team:pay", Band: domain.Sure, Score: 0.5})
	}
	r := receipts.New(b.Context(), receipts.Options{DB: db, Log: log, Logger: databasetest.Log(b)})
	for _, background := range []bool{false, true} {
		b.Run(map[bool]string{false: "caller", true: "background"}[background], func(b *testing.B) {
			b.ReportAllocs()
			given.At = time.Now()
			for n := 0; n < b.N; {
				b.StopTimer()
				if !background {
					b.StartTimer()
				}
				for range min(b.N-n, 200) {
					r.Give(given)
					n++
				}
				if background {
					b.StartTimer()
				} else {
					b.StopTimer()
				}
				NoError(b, r.Flush(b.Context()))
			}
		})
	}
}
