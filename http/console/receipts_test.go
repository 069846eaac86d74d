package console_test

import (
	"net/http"
	"strings"
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

func TestReceiptsOfLongNamesFitAPhone(t *testing.T) {
	onOne(t, "", func(_ *testing.T, w *world) {
		w.endless()
		told := w.told()
		w.sealed()
		w.fits("receipts", "receipts/"+told)
	})
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

// From the answer that an agent was given, it takes three clicks to correct what was wrong in it.
func TestWhatAnAgentWasGivenIsCorrectedWhereItIsShown(t *testing.T) {
	onEachScreen(t, "", func(w *world, h *hand) {
		w.tell()
		w.told()
		if _, err := w.api.GiveFeedback(h.t.Context(), "staging", client.Vote{Verdict: "harmful", Outcome: "the wrong hour"}); err != nil {
			h.t.Fatal(err)
		}
		if err := w.receipts.Flush(h.t.Context()); err != nil {
			h.t.Fatal(err)
		}
		h.Go("/console/receipts")
		servertest.Same(h.t, h.Count("tbody tr"), 1) // what the console looked at is apart
		h.use("tbody a.entry")
		h.says("article.hit", "1 vote found it harmful.", "1 票认为有害。")
		h.use("article.hit details:has(form) summary")
		h.fill("#why-staging", "the agent was late")
		h.Eval(`document.getElementById("content-staging").value = "The staging database is rebuilt at six."`, nil)
		h.use("button[value=save]")
		h.took(3)
		h.WaitFor("#then")
		containsAll(h.t, h.Text("main"), "rebuilt at six.", "the agent was late")
	})
}

// An agent's run leads to the answers that it was given; a reader who may not correct an item reports it.
func TestARunLeadsToItsAnswers(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.remember(client.Knowledge{ID: "shared", Type: "tool", Content: "Where staging is.", Scopes: []string{"public"}})
		key, _ := w.given("user:mia")
		mia := w.as(key)
		if err := mia.Say(t.Context(), "planning", client.Message{Role: "user", Content: "Where is staging?"}); err != nil {
			t.Fatal(err)
		}
		asked := mia.With(http.Header{"Annals-Session": {"planning"}, "Annals-Host": {"coder/1"}})
		id := must(asked.Search(t.Context(), client.Search{Query: "where is staging?"}))(t).Receipt
		must(mia.Search(t.Context(), client.Search{Query: "another question"}))(t)
		if err := w.receipts.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		browser := w.login(key)
		_, session := w.visit(browser, "/console/sessions/planning")
		containsAll(t, session, `href="/console/receipts?session=planning"`)
		_, page := w.visit(browser, "/console/receipts?session=planning")
		if !strings.Contains(page, "/console/receipts/"+id) || strings.Contains(page, "another question") {
			t.Errorf("the answers of the run:\n%s", page)
		}
		_, page = w.visit(browser, "/console/receipts/"+id)
		containsAll(t, page, "/console/k/shared/act/stale", "It stands as it was.")
		if strings.Contains(page, "/act/revise") {
			t.Error("the reader is offered to revise what is not theirs")
		}
	})
}
