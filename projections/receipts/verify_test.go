package receipts_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/receipts"
)

func (w *world) verify() (faults []string) {
	w.T.Helper()
	report := Must(w.Verify(w.T.Context(), receipts.Verification{Tenant: w.By.Tenant}))(w.T)
	for _, f := range report.Faults {
		faults = append(faults, f.Receipt+" "+f.Kind)
	}
	return faults
}

// threeMinutes gives twelve receipts in three minutes, of which two are sealed.
func (w *world) threeMinutes() {
	w.T.Helper()
	ids := w.fill(5)
	for i := range 12 {
		if i%4 == 0 {
			*w.now = w.now.Truncate(time.Minute).Add(time.Minute)
		}
		*w.now = w.now.Add(time.Second)
		w.Give(w.answer(fmt.Sprint("question ", i), ids[i%5], ids[(i+1)%5]))
		if i%2 == 1 {
			NoError(w.T, w.Flush(w.T.Context()))
		}
	}
	NoError(w.T, w.Flush(w.T.Context()))
	*w.now = w.now.Truncate(time.Minute).Add(time.Minute)
	NoError(w.T, w.Seal(w.T.Context()))
	Equal(w.T, w.Number("SELECT count(*) FROM receipt_pages WHERE sealed IS NOT NULL"), 2, "sealed pages")
}

func TestReceiptsMatchTheirSealsAndTheLog(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.threeMinutes()
		report := Must(w.Verify(t.Context(), receipts.Verification{Tenant: w.By.Tenant}))(t)
		Equal(t, report, receipts.Report{Receipts: 12, Sealed: 8}, "(-got +want)")
		NoError(t, w.Seal(t.Context()))
		Equal(t, w.Number("SELECT count(*) FROM events WHERE name = 'receipts.sealed'"), 2, "seals: none twice")
		w.Submit(domain.Erase{Target: domain.Target{By: w.By, ID: "a"}, ErasureReason: domain.ErasureReason{ReasonCode: "x"}})
		w.Submit(domain.GiveFeedback{Target: domain.Target{By: w.By, ID: "b"}, Verdict: domain.Harmful, TraceID: "t"})
		Equal(t, w.verify(), []string(nil), "after an erasure and a vote")
		w.end()
		*w.now = w.now.Add(time.Hour)
		again := w.begin(0)
		NoError(t, again.Seal(t.Context()))
		Equal(t, w.Number("SELECT count(*) FROM receipt_pages WHERE sealed IS NULL"), 0, "pages of an ended run without a seal")
		Equal(t, again.verify(), []string(nil), "of another server")
		Equal(t, len(again.ids(receipts.Query{})), 12, "receipts")
	})
}

// Of servers that seal the same receipts at once, one succeeds. A question that is erased meanwhile does not come back.
func TestReceiptsAreSealedOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.threeMinutes()
		w.end()
		*w.now = w.now.Add(time.Hour)
		var servers sync.WaitGroup
		for range 4 {
			again := w.begin(0)
			servers.Go(func() { Report(t, again.Seal(t.Context())) })
			servers.Go(func() { Report(t, again.Forget(t.Context(), "default", "user:ann")) })
		}
		servers.Wait()
		Equal(t, w.Number("SELECT count(*) FROM events WHERE name = 'receipts.sealed'"), 3, "seals")
		Equal(t, w.Number("SELECT count(*) FROM receipt_pages WHERE sealed IS NULL OR texts IS NOT NULL"), 0,
			"pages without a seal, or with a question")
		Equal(t, w.begin(0).verify(), []string(nil), "faults")
	})
}

// tampering is something that somebody does to receipts 1 to 4 and 5 to 8, which are sealed, and to 9 to 12, which are
// not: 9, 10 and 11, 12 are pages of their own.
type tampering struct {
	name   string
	change func(all []*receipts.Receipt) []*receipts.Receipt // of the page that begins with 1
	open   bool                                              // of the page that begins with 9 instead
	sql    []string
	want   []string // one of the faults that are found
}

func tamperings() []tampering {
	each := func(change func(r *receipts.Receipt)) func([]*receipts.Receipt) []*receipts.Receipt {
		return func(all []*receipts.Receipt) []*receipts.Receipt { change(all[1]); return all }
	}
	const page = " WHERE tenant = 'default' AND first = "
	return []tampering{
		{name: "another caller", change: each(func(r *receipts.Receipt) { r.Caller = "agent:other" }), want: []string{"r1-2 changed"}},
		{name: "another host", change: each(func(r *receipts.Receipt) { r.Host = "codex/1" }), want: []string{"r1-2 changed"}},
		{name: "another time", change: each(func(r *receipts.Receipt) { r.At = r.At.Add(time.Microsecond) }), want: []string{"r1-2 changed"}},
		{name: "another kind", change: each(func(r *receipts.Receipt) { r.Kind = domain.GivenLook }), want: []string{"r1-2 changed"}},
		{name: "another item", change: each(func(r *receipts.Receipt) { r.Items[0].Number = 1 }), want: []string{"r1-2 changed"}},
		{name: "another version", change: each(func(r *receipts.Receipt) { r.Items[0].Version = 2 }), want: []string{"r1-2 changed"}},
		{name: "another score", change: each(func(r *receipts.Receipt) { r.Items[0].Score = 0.1 }), want: []string{"r1-2 changed"}},
		{name: "an item less", change: each(func(r *receipts.Receipt) { r.Items = r.Items[:1] }), want: []string{"r1-2 changed"}},
		{name: "another order", change: each(func(r *receipts.Receipt) { slices.Reverse(r.Items) }), want: []string{"r1-2 changed"}},
		{name: "a cut that was none", change: each(func(r *receipts.Receipt) { r.Items[0].Cut = true }), want: []string{"r1-2 changed"}},
		{name: "another question", change: each(func(r *receipts.Receipt) { r.Question.Text = "another one" }), want: []string{"r1-2 asked"}},
		{
			name: "a receipt is removed", want: []string{"r1-2 missing"},
			change: func(all []*receipts.Receipt) []*receipts.Receipt { return slices.Delete(all, 1, 2) },
		},
		{
			name: "the last receipt is removed", want: []string{"r1-4 missing"},
			change: func(all []*receipts.Receipt) []*receipts.Receipt { return all[:3] },
		},
		{
			name: "two receipts change their places", want: []string{"r1-2 changed", "r1-3 changed"},
			change: func(all []*receipts.Receipt) []*receipts.Receipt {
				all[1].Items, all[2].Items = all[2].Items, all[1].Items
				return all
			},
		},
		{name: "a page is deleted", sql: []string{"DELETE FROM receipt_pages" + page + "5"}, want: []string{"r1-5 missing", "r1-8 missing"}},
		{
			name: "a page is added between the sealed ones", want: []string{"r1-8 unsealed", "r1-9 added"},
			sql: []string{
				"INSERT INTO receipt_pages (tenant, run, first, last, receipts, from_at, to_at, keys, data) SELECT tenant, run, 8, 8, 1, " +
					"from_at, from_at, keys, data FROM receipt_pages" + page + "9",
			},
		},
		{
			name: "a receipt is added to a sealed page", want: []string{"r1-4 added"},
			change: func(all []*receipts.Receipt) []*receipts.Receipt { return append(all, all[3]) },
		},
		{
			name: "a page is moved to another run", want: []string{"r1-5 missing", "r2-5 unsealed"},
			sql: []string{"UPDATE receipt_pages SET run = 2" + page + "5"},
		},
		{name: "the page cannot be read", sql: []string{"UPDATE receipt_pages SET data = keys" + page + "5"}, want: []string{"r1-5 damaged"}},
		{name: "lists do not find it", sql: []string{"UPDATE receipt_pages SET keys = texts" + page + "5"}, want: []string{"r1-5 indexed"}},
		{
			name: "its time is another one for lists", want: []string{"r1-5 indexed"},
			sql: []string{"UPDATE receipt_pages SET to_at = '2020-01-01T00:00:00.000000Z'" + page + "5"},
		},
		{name: "the page is unsealed", sql: []string{"UPDATE receipt_pages SET sealed = NULL" + page + "5"}, want: []string{"r1-5 unsealed"}},
		{name: "the seal is gone", sql: []string{"DELETE FROM events WHERE name = 'receipts.sealed'"}, want: []string{"r1-1 unsealed", "r1-5 unsealed"}},
		{
			name: "the first seal is gone", want: []string{"r1-1 unsealed"},
			sql: []string{"DELETE FROM events WHERE name = 'receipts.sealed' AND version = 1"},
		},
		{
			name: "the seal is changed", want: []string{"r1-1 unsealed"},
			sql: []string{"UPDATE events SET actor = 'user:eve' WHERE name = 'receipts.sealed' AND version = 1"},
		},
		{
			name: "what the item said is changed", want: []string{"r1-1 answered", "r1-6 answered", "r1-11 answered"},
			sql: []string{"UPDATE event_texts SET text = '{\"content\":\"poison\"}' WHERE position = 1"},
		},
		{
			name: "the event of the item is changed with its hash", want: []string{"r1-1 answered"},
			sql: []string{"UPDATE events SET hash = (SELECT hash FROM events WHERE position = 2) WHERE position = 1"},
		},
		{
			name: "an answer that is not sealed yet", open: true, want: []string{"r1-10 answered"},
			change: each(func(r *receipts.Receipt) { r.Items[0].Score = 0.1 }),
		},
	}
}

func TestEveryTamperingIsNamed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.threeMinutes()
		pages := w.Table("SELECT * FROM receipt_pages")
		if len(pages) != 4 {
			t.Fatalf("got %d pages, want 4", len(pages))
		}
		databasetest.Tamper(t, w.DB,
			"CREATE TABLE kept_pages AS SELECT * FROM receipt_pages", "CREATE TABLE kept_events AS SELECT * FROM events",
			"CREATE TABLE kept_texts AS SELECT * FROM event_texts")
		for _, one := range tamperings() {
			if one.change != nil {
				first := int64(1)
				if one.open {
					first = 9
				}
				NoError(t, w.Rewrite(t.Context(), 1, first, one.change))
			}
			databasetest.Tamper(t, w.DB, one.sql...)
			found := w.verify()
			for _, fault := range one.want {
				if !slices.Contains(found, fault) {
					t.Errorf("%s: found %q, want %q", one.name, found, fault)
				}
			}
			databasetest.Tamper(t, w.DB, "DELETE FROM receipt_pages", "INSERT INTO receipt_pages SELECT * FROM kept_pages",
				"DELETE FROM event_texts", "DELETE FROM events",
				"INSERT INTO events SELECT * FROM kept_events", "INSERT INTO event_texts SELECT * FROM kept_texts")
			if found := w.verify(); found != nil {
				t.Fatalf("%s: put back, found %q", one.name, found)
			}
		}
	})
}

func TestAnErasedTextCannotBeGuessedFromAReceipt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.fill(1)
		w.Give(w.answer("does mia have asthma?", "a"))
		NoError(t, w.Flush(t.Context()))
		NoError(t, w.Forget(t.Context(), "default", "user:ann"))
		r := w.find("r1-1")
		if r.Question.Text != "" || r.Question.Salt != nil || r.Question.Digest == (receipts.Digest{}) {
			t.Errorf("got %+v, want only the digest of the question", r.Question)
		}
		for _, row := range w.Table("SELECT keys, data, texts FROM receipt_pages") {
			for column, value := range row {
				if text := fmt.Sprint(value); strings.Contains(text, "asthma") || column == "texts" && value != nil {
					t.Errorf("%s still holds %q", column, text)
				}
			}
		}
		Equal(t, w.verify(), []string(nil), "faults")
	})
}

func TestQuestionsAreErasedWithThePersonOnly(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.fill(1)
		for i, caller := range []domain.Entity{"user:ann", "user:bo", "user:ann"} {
			given := w.answer(fmt.Sprint("question ", i), "a")
			given.Caller, given.OnBehalfOf = caller, ""
			w.Give(given)
		}
		*w.now = w.now.Add(3 * time.Minute)
		NoError(t, w.Seal(t.Context()))
		w.Give(w.answer("question 3", "a"))
		NoError(t, w.Flush(t.Context()))
		NoError(t, w.Seal(t.Context()))
		NoError(t, w.Forget(t.Context(), "default", "user:ann"))
		var asked []string
		for n := range 4 {
			asked = append(asked, w.find(fmt.Sprint("r1-", n+1)).Question.Text)
		}
		Equal(t, asked, []string{"", "question 1", "", ""}, "questions (-got +want)")
		Equal(t, w.verify(), []string(nil), "faults")
		NoError(t, w.Forget(t.Context(), "default", "tenant:default"))
		Equal(t, w.Number("SELECT count(*) FROM receipt_pages")+w.Number("SELECT count(*) FROM item_uses"), 0, "rows of an erased tenant")
	})
}
