package console_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events/signing"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/console/browsertest"
)

// proving is a world in no-auth mode with one event, what was kept of it, and the page that proves it.
type proving struct {
	*world
	*browsertest.Page

	event string
	proof string
	note  string
}

// eachProving runs a test on both engines. The test may tamper with the database.
func eachProving(t *testing.T, test func(t *testing.T, p *proving)) {
	t.Helper()
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, "")
		p := &proving{world: w, Page: browsertest.Open(t, w.url)}
		p.event = w.remember(client.Knowledge{
			ID: "staging", Type: "definition", Task: "Where is staging?", Content: "In the cellar.",
		}).Events
		p.proof = p.fetched("log/proof/" + p.event)
		var checkpoint struct{ Note string }
		if err := json.Unmarshal([]byte(p.fetched("log/checkpoint")), &checkpoint); err != nil {
			t.Fatal(err)
		}
		p.note = checkpoint.Note
		test(t, p)
	})
}

// fetched is an answer of the API, as a script of the console gets it.
func (p *proving) fetched(path string) (body string) {
	p.Go("/console/proof")
	p.Eval(`fetch("/console/data/v1/`+path+`").then((answer) => answer.text())`, &body)
	return body
}

// open opens the page of the event with a remembered key.
func (p *proving) open() {
	p.Go("/console/proof")
	key := must(json.Marshal(p.key))(p.t)
	p.Eval(`localStorage.setItem("annals log key", `+string(key)+`)`, nil)
	p.Go("/console/proof?event=" + p.event)
	p.WaitFor("#verdict.badge")
}

// failed are the steps that failed, in order.
func (p *proving) failed() (steps string) {
	p.Eval(`[...document.querySelectorAll("ol:not([hidden]) > li:has(.badge.bad)")].map((li) => li.dataset.step).join(" ")`,
		&steps)
	return steps
}

// drop opens a file on the page.
func (p *proving) drop(content string) {
	p.Eval(`(() => {
		const files = new DataTransfer(), input = document.getElementById("file");
		files.items.add(new File([`+string(must(json.Marshal(content))(p.t))+`], "kept"));
		document.getElementById("verdict").className = "";
		input.files = files.files;
		input.dispatchEvent(new Event("change"));
	})()`, nil)
	p.WaitFor("#verdict.badge")
}

func TestThePageProvesAnEventAndNamesACharacterThatWasChanged(t *testing.T) {
	eachProving(t, func(t *testing.T, p *proving) {
		p.open()
		if got := p.Text("#verdict"); !strings.HasPrefix(got, "Verified") || p.failed() != "" {
			t.Errorf("got %q, failed: %s", got, p.failed())
		}
		p.Axe()
		databasetest.Tamper(t, p.db, "UPDATE events SET actor = replace(actor, 'default', 'defaulu') WHERE position = 1")
		p.open()
		if got := p.failed(); got != "record" {
			t.Errorf("failed: %s", got)
		}
		p.WaitFor("#found:not([hidden])")
		if got := p.Text("#field") + "=" + p.Text("#was"); got != "actor=user:default" {
			t.Errorf("found %q", got)
		}
		p.Axe()
	})
}

func TestThePageComparesWithAKeptProofAndAKeptCheckpoint(t *testing.T) {
	eachProving(t, func(t *testing.T, p *proving) {
		p.open()
		p.drop(p.note)
		if got := p.Text("#verdict"); !strings.Contains(got, "continues the checkpoint") {
			t.Errorf("got %q", got)
		}
		p.drop(strings.Replace(p.note, "/default", "/other", 1))
		if got := p.failed(); got != "earlier origin" {
			t.Errorf("failed: %s", got)
		}
		databasetest.Tamper(t, p.db, "UPDATE events SET actor = 'user:mallory', stream = 'knowledge:k-2' WHERE position = 1")
		p.open()
		p.drop(p.proof)
		p.WaitFor("#differs:not([hidden])")
		if got := p.Text("#differs code"); got != "stream actor" {
			t.Errorf("differs in %q", got)
		}
	})
}

func TestThePageSaysThatTheServerHasAnotherKeyThanTheRememberedOne(t *testing.T) {
	eachProving(t, func(t *testing.T, p *proving) {
		p.key = must(signing.NewKey(t.TempDir(), "annals.example"))(t).Public()
		p.open()
		p.WaitFor("#key-changed:not([hidden])")
		if got := p.failed(); !strings.HasSuffix(got, "signature") {
			t.Errorf("failed: %s", got)
		}
		p.Click("#own")
		p.WaitFor("#key-other:not([hidden])")
		p.Click("#verify")
		p.WaitFor("#verdict.good")
	})
}
