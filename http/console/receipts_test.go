package console_test

import (
	"testing"
	"time"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/servertest"
)

// told is the receipt of an answer about staging, which an agent was given.
func (w *world) told() string {
	w.t.Helper()
	answer := must(w.api.Search(w.t.Context(), client.Search{Query: "where is staging?"}))(w.t)
	return answer.Receipt
}

// sealed seals what was given.
func (w *world) sealed() {
	w.t.Helper()
	w.ahead.Store(int64(time.Hour))
	if err := w.receipts.Flush(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	if err := w.receipts.Seal(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// An auditor sees what was told before an item was revised, what it would be today, and that the receipt was sealed.
func TestAReceiptIsShownAndVerifiedInTheBrowser(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		id := w.told()
		if _, err := w.api.Revise(t.Context(), "staging", client.Knowledge{Content: "On the roof."}); err != nil {
			t.Fatal(err)
		}
		w.sealed()
		p := w.open("/console/k/staging/use")
		p.Click(`a[href*="receipts?item=staging"]`)
		p.WaitFor("table.list")
		p.Click(`a[href*="receipts/` + id + `"]`)
		p.WaitFor("#seal")
		containsAll(t, p.Text("main"), "as it was given", "rebuilt every morning", "Where is staging?")
		p.WaitFor("#verdict.warn") // no key is known
		p.Eval(`localStorage.setItem("annals log key", "`+w.key+`")`, nil)
		p.Go("/console/receipts/" + id)
		p.WaitFor("#verdict.badge")
		containsAll(t, p.Text("#seal"), "Verified: this receipt was sealed")
		servertest.Same(t, p.Count("#seal li .badge.good"), 5)
		p.Click(`a[href*="today=true"]`)
		p.WaitFor("#today")
		containsAll(t, p.Text("#today"), "revised", "Where is staging?")
		databasetest.Tamper(t, w.db, "UPDATE events SET actor = 'user:mallory' WHERE name = 'receipts.sealed'")
		p.Go("/console/receipts/" + id)
		p.WaitFor("#verdict.bad")
		containsAll(t, p.Text(`#seal li[data-step="inclusion"]`), "failed")
	})
}
