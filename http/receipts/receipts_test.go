package receipts_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events/proof"
	"github.com/annals-kb/annals/http/api"
	. "github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/projections/receipts"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a server that keeps receipts, and a clock that sealing goes by.
type world struct {
	*World

	kept   *receipts.Receipts
	prover *proof.Prover
	now    func() time.Time
}

// each runs a test with a server of keys: of ann and bo, who belong to team:pay, of its maintainer, and of an auditor.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	var worlds sync.Map // of both engines
	configure := func(w *World, cfg *Config) {
		made := &world{World: w, now: time.Now}
		worlds.Store(w, made)
		Rooted(w, cfg)
		Rebuilding(w, cfg)
		made.kept = receipts.New(w.T.Context(), receipts.Options{
			DB: w.DB, Log: w.Log, Items: w.Knowledge.Browser, Ranking: "test-1", Logger: databasetest.Log(w.T),
			Clock: func() time.Time { return made.now() },
		})
		cfg.Recorder = made.kept
		made.prover = Prover(w.T, w.DB, w.Log, w.Followers, 10*time.Millisecond)
		Follow(w.T, made.prover.Follow)
		cfg.Receipts, cfg.Evidence = made.kept, made.prover
	}
	EachWith(t, configure, func(t *testing.T, w *World) {
		made, _ := worlds.Load(w)
		test(t, made.(*world))
	})
}

// as is a key for a subject that belongs to groups.
func (w *world) as(subject, role string, memberships ...string) Header {
	w.T.Helper()
	made := w.Ask("POST", "/v1/keys", Object{"subject": subject, "role": role, "memberships": memberships},
		Bearer(RootKey)).Want(http.StatusCreated).JSON()
	return Bearer(made["key"].(string))
}

func (w *world) remember(by Header, id, content string, scopes ...string) {
	w.T.Helper()
	w.Ask("POST", "/v1/knowledge", Object{
		"id": id, "type": "strategy", "task": "about " + id, "content": content, "scopes": scopes,
	}, by).Want(http.StatusCreated)
}

// search is the receipt of an answer to a question.
func (w *world) search(question string, headers ...Header) string {
	w.T.Helper()
	answer := w.Ask("POST", "/v1/search", Object{"query": question}, headers...).Want(http.StatusOK)
	id := answer.JSON()["receipt"].(string)
	Same(w.T, answer.Header.Get("Annals-Receipt"), id)
	return id
}

func (w *world) show(id string, headers ...Header) (shown api.ReceiptShown) {
	w.T.Helper()
	w.Ask("GET", "/v1/receipts/"+id, nil, headers...).Want(http.StatusOK).Into(&shown)
	return shown
}

// list are the ids of the receipts that a query selects.
func (w *world) list(query string, headers ...Header) (ids []string) {
	w.T.Helper()
	for cursor := ""; ; {
		var page api.Page[api.Receipt]
		w.Ask("GET", "/v1/receipts?"+query+cursor, nil, headers...).Want(http.StatusOK).Into(&page)
		for _, one := range page.Items {
			ids = append(ids, one.ID)
		}
		if page.NextCursor == "" {
			return ids
		}
		cursor = "&cursor=" + url.QueryEscape(page.NextCursor)
	}
}

func TestAnAnswerIsShownAsItWasGiven(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ann := w.as("user:ann", "member", "team:pay")
		w.remember(ann, "retry", "Retry payments five times, with jitter.", "team:pay")
		w.remember(ann, "leaks", "Retried payments leak <memory> & often restart.", "team:pay")
		id := w.search("retry payments how often, with jitter?", ann, "Annals-Session: s-1", "Annals-Host: codex/1")
		then := w.show(id, ann)
		Same(t, []string{then.Caller, then.Host, then.Session, then.Question, then.Items[0].Title, then.Given[0].Knowledge.Content}, []string{
			"user:ann", "codex/1", "s-1", "retry payments how often, with jitter?", "about retry", "Retry payments five times, with jitter.",
		})
		Same(t, then.Same && then.Items[0].Score > 0.4 && then.Items[0].Band == "sure", true)
		w.Ask("PATCH", "/v1/knowledge/retry", Object{"content": "Retry payments twice."}, ann,
			"Content-Type: application/merge-patch+json").Want(http.StatusOK)
		again := w.show(id, ann)
		Same(t, string(again.Answer), string(then.Answer), "another answer later")

		w.Ask("DELETE", "/v1/knowledge/retry?erase=true&reason_code=request", nil, Bearer(RootKey)).Want(http.StatusNoContent)
		erased := w.show(id, ann)
		Same(t, []any{erased.Same, erased.Given[0].State, erased.Given[0].Certificate != "", erased.Items[0].Title}, []any{
			true, "erased", true, "",
		})
		Like(t, string(erased.Answer), Lacking("five times"), Containing(erased.Given[0].Certificate))
		Same(t, erased.Given[1].State, "unchanged")
	})
}

func TestWhoSeesAReceipt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ann, bo := w.as("user:ann", "member", "team:pay"), w.as("user:bo", "member", "team:pay")
		carl, audit := w.as("user:carl", "member"), w.as("user:audit", "auditor")
		w.remember(ann, "retry", "Retry payments five times.", "team:pay")
		w.remember(bo, "diary", "I fear the retries of payments.", "user:bo")
		own := w.search("retries of payments", bo)
		var refused []string
		for _, hidden := range []string{own, "r1-99", "r9-1", "x"} {
			refused = append(refused, strings.ReplaceAll(w.Ask("GET", "/v1/receipts/"+hidden, nil, carl).
				Want(http.StatusNotFound).JSON()["detail"].(string), hidden, "R"))
		}
		for _, one := range refused {
			Same(t, one, refused[0], "an invisible receipt is told from one that is not there")
		}
		for name, of := range map[string]struct {
			by    Header
			items []string
			asked string
		}{
			"its caller":          {bo, []string{"diary", "retry"}, "retries of payments"},
			"an auditor":          {audit, []string{"diary", "retry"}, "retries of payments"},
			"an owner of an item": {ann, []string{"retry"}, ""},
		} {
			shown := w.show(own, of.by)
			var items []string
			for _, item := range shown.Items {
				if item.ID != "" {
					items = append(items, item.ID)
				}
			}
			Same(t, len(items), len(of.items), name, items)
			Same(t, shown.Question, of.asked, name)
			Same(t, strings.Contains(string(shown.Answer), "I fear"), len(of.items) == 2, name)
			Same(t, shown.Same, true, name)
			Same(t, w.list("item=retry", of.by), []string{own}, name)
		}
		Same(t, len(w.list("", ann)), 0)
		Same(t, w.list("", bo), []string{own})
		w.Ask("GET", "/v1/receipts?item=retry", nil, carl).Want(http.StatusNotFound)
		w.Ask("GET", "/v1/receipts/"+own+"?today=true", nil, ann).Want(http.StatusForbidden)
		w.Ask("GET", "/v1/receipts/verification", nil, bo).Want(http.StatusForbidden)
		w.Ask("GET", "/v1/receipts?kind=both&agent=x&since=never", nil, bo).Want(http.StatusUnprocessableEntity)
	})
}

func TestTodayIsComparedWithThen(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ann, audit := w.as("user:ann", "member", "team:pay"), w.as("user:audit", "auditor")
		for _, id := range []string{"stays", "changes", "goes", "leaves"} {
			w.remember(ann, id, "Retry payments when the "+id+" bank is down.", "team:pay")
		}
		id := w.search("retry payments when the bank is down", ann)
		w.Ask("PATCH", "/v1/knowledge/changes", Object{"content": "Never retry payments when the changes bank is down."}, ann,
			"Content-Type: application/merge-patch+json").Want(http.StatusOK)
		w.Ask("DELETE", "/v1/knowledge/goes", nil, ann).Want(http.StatusNoContent)
		w.Ask("PATCH", "/v1/knowledge/leaves", Object{"owner": "user:zoe", "scopes": []string{"user:zoe"}}, Bearer(RootKey),
			"Content-Type: application/merge-patch+json").Want(http.StatusOK)
		w.remember(ann, "comes", "Retry payments when the comes bank is down.", "team:pay")
		var shown api.ReceiptShown
		w.Ask("GET", "/v1/receipts/"+id+"?today=true", nil, audit).Want(http.StatusOK).Into(&shown)
		got := map[string]string{}
		for _, hit := range shown.Today.Items {
			var changes []string
			for _, change := range hit.Change {
				if change != "moved" {
					changes = append(changes, change)
				}
			}
			got[hit.ID] = strings.Join(changes, " ")
		}
		Same(t, fmt.Sprint(got), fmt.Sprint(map[string]string{
			"stays": "", "changes": "revised", "goes": "forgotten", "leaves": "out of reach", "comes": "new",
		}), shown.Today)
	})
}

func TestAReceiptIsProvenByItsSeal(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ann, audit := w.as("user:ann", "member"), w.as("user:audit", "auditor")
		w.remember(ann, "retry", "Retry payments five times.", "user:ann")
		var ids []string
		for range 7 {
			ids = append(ids, w.search("payments", ann))
		}
		Same(t, w.show(ids[3], ann).Proof == nil, true)
		NoError(t, w.kept.Flush(t.Context()))
		w.now = func() time.Time { return time.Now().Add(time.Hour) }
		NoError(t, w.kept.Seal(t.Context()))
		for _, id := range ids {
			p := w.show(id, ann).Proof
			var path tlog.RecordProof
			for _, hash := range p.Path {
				path = append(path, decode(t, hash))
			}
			leaf := tlog.RecordHash([]byte(p.Record))
			Same(t, leaf.String(), p.Leaf)
			NoError(t, tlog.CheckRecord(path, p.Count, decode(t, p.Root), p.Index, leaf))
			Like(t, p.Record, Containing(`"receipt":"`+id+`"`))
		}
		var found api.ReceiptVerification
		w.Ask("GET", "/v1/receipts/verification", nil, audit).Want(http.StatusOK).Into(&found)
		Same(t, found.Verified && found.Sealed == 7, true, found)
	})
}

func decode(t *testing.T, text string) tlog.Hash {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) != tlog.HashSize {
		t.Fatalf("%q is no hash: %v", text, err)
	}
	return tlog.Hash(raw)
}

func NoError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
