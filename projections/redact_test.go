package projections_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
)

// mark is what the canary becomes. It is longer.
const mark = "[REDACTED_ANIMAL]"

// leak is an item that says the canary in every way but in its URI.
func (w *world) leak(id string) { w.tell(id, "viking://resources/animals/"+id) }

// redact takes the canary out of everything that was recorded about an item.
func (w *world) redact(id string) domain.Receipt {
	w.t.Helper()
	return w.submit(domain.Redact{
		By: w.by, Of: domain.KnowledgeStream(id), To: 1 << 40,
		Scrub: func(text json.RawMessage) (json.RawMessage, map[string]int, error) {
			n := bytes.Count(text, []byte(canary))
			if n == 0 {
				return text, nil, nil
			}
			return bytes.ReplaceAll(text, []byte(canary), []byte(mark)), map[string]int{"animal": n}, nil
		},
	})
}

func TestRedactingLeavesNoTraceOfTheWordInAnyTable(t *testing.T) {
	eachPast(t, func(t *testing.T, w pastWorld) {
		w.remember("other", "retry with jitter", "team:pay")
		w.leak("secret")
		w.knowAll()
		before := must(w.log.Reader.Records(t.Context(), w.by.Tenant, 0, 0))(t)
		receipt := w.redact("secret")
		if got := len(receipt.Events); got != 4 {
			t.Errorf("%d redactions, want one of each text", got)
		}
		if strings.Contains(receipt.Knowledge.Text.Content, canary) ||
			!strings.Contains(receipt.Knowledge.Text.Content, mark) {
			t.Errorf("the receipt says %q", receipt.Knowledge.Text.Content)
		}
		for _, when := range []string{"at once", "after all was read"} {
			if got := w.traces(saidInSecret()...); got != nil {
				t.Errorf("%s %v hold the canary", when, got)
			}
			equal(t, folded(w.items()), w.stored(), "%s: tables (-folded +stored)", when)
			w.knowAll()
		}
		after := must(w.log.Reader.Records(t.Context(), w.by.Tenant, 0, len(before)))(t)
		for i := range before {
			if !bytes.Equal(before[i].Hash, after[i].Hash) {
				t.Errorf("position %d is another record", before[i].Position)
			}
		}
		now := w.items()["secret"]
		if now.Text.Content != "we call it "+mark+" now" || now.Text.URI != "viking://resources/animals/secret" ||
			now.Stale.Reason != mark+" moved" {
			t.Errorf("it is %+v", now.Text)
		}
		if again := w.redact("secret"); len(again.Events) > 0 {
			t.Errorf("redacted again: %d", len(again.Events))
		}
		if got := w.nearest("we call it now", pay); !slices.Contains(got, "secret") {
			t.Errorf("by its meaning only %v are found", got)
		}
		if got := w.itemsAt(3)["secret"].Text.Content; got != "the "+mark+" was called something else before" {
			t.Errorf("then it said %q", got)
		}
	})
}

// What was known then is found by the words that are left of it, also by those of texts that were revised since.
func TestThePastIsFoundByWhatIsLeftOfIt(t *testing.T) {
	eachPast(t, func(t *testing.T, w pastWorld) {
		w.leak("secret")
		w.knowAll()
		then := w.pastTables()
		w.redact("secret")
		w.knowAll()
		question, err := domain.Search{By: w.by, Text: "something else before", MinScore: new(float64), AsOf: 1}.Complete()
		if err != nil {
			t.Fatal(err)
		}
		answer, err := w.reader().Search(t.Context(), question)
		if err != nil || len(answer.Hits) != 1 ||
			answer.Hits[0].Knowledge.Text.Content != "the "+mark+" was called something else before" {
			t.Errorf("found %+v, %v", answer.Hits, err)
		}
		retold := w.pastTables()
		if cmp.Equal(then, retold) {
			t.Error("nothing was told anew")
		}
		noError(t, w.past.BeginAnew(t.Context(), w.by.Tenant))
		w.readOn(2)
		equal(t, retold, w.pastTables(), "the past (-told anew +read from the beginning)")
	})
}

// What was redacted can be redacted again, and erased.
func TestWhatIsLeftIsATextLikeAnyOther(t *testing.T) {
	eachLived(t, func(t *testing.T, r *rebuilding) {
		r.leak("secret")
		r.redact("secret")
		second := r.submit(domain.Redact{
			By: r.by, Of: domain.KnowledgeStream("secret"), To: 1 << 40,
			Scrub: func(text json.RawMessage) (json.RawMessage, map[string]int, error) {
				return bytes.ReplaceAll(text, []byte("called"), []byte("c…")),
					map[string]int{"animal": bytes.Count(text, []byte("called"))}, nil
			},
		})
		if got := second.Knowledge.Text.Content; got != "we call it "+mark+" now" {
			t.Errorf("it says %q", got)
		}
		equal(t, folded(r.items()), r.stored(), "tables (-folded +stored)")
		r.switches(domain.RebuildOrder{})
		r.erase("secret")
		for id, k := range r.items() {
			if id == "secret" && (k.Status != domain.IsErased || k.Text.Content != "") {
				t.Errorf("it is %+v", k)
			}
		}
		equal(t, folded(r.items()), r.stored(), "tables (-folded +stored)")
	})
}

func TestWhatIsUnderLegalHoldIsNotRedacted(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.leak("secret")
		w.submit(domain.Hold{Target: domain.Target{By: w.by, ID: "secret"}, ReasonCode: "litigation"})
		_, err := w.log.Submit(t.Context(), domain.Submission{By: w.by, Command: domain.Redact{
			By: w.by, Of: domain.KnowledgeStream("secret"), To: 1 << 40,
			Scrub: func(json.RawMessage) (json.RawMessage, map[string]int, error) {
				return []byte(`{}`), map[string]int{"x": 1}, nil
			},
		}})
		if err == nil || !strings.Contains(err.Error(), "under legal hold") {
			t.Errorf("got %v", err)
		}
	})
}

// What has many texts is folded anew once for all of those that are redacted together.
func TestRedactingManyTextsFoldsTheItemOnce(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		var judged atomic.Int64
		policy := domain.DefaultConfidence()
		confidence := policy.Confidence
		policy.Confidence = func(helpful, harmful, reporters int) float64 {
			judged.Add(1)
			return confidence(helpful, harmful, reporters)
		}
		w := newWorldWith(t, db, projections.Settings{Policy: policy}, events.Options{Policy: policy})
		w.remember("much", "retry with jitter", "team:pay")
		const votes = 150
		for i := range votes {
			w.submit(domain.GiveFeedback{
				Target: domain.Target{By: w.by, ID: "much"}, Verdict: domain.Helpful, TraceID: fmt.Sprint(i),
				Query: "of the " + canary,
			})
		}
		judged.Store(0)
		if got := len(w.redact("much").Events); got != votes {
			t.Fatalf("%d redactions, want %d", got, votes)
		}
		if got := judged.Load(); got > 10*votes {
			t.Errorf("confidence was judged %d times for %d redactions", got, votes)
		}
	})
}
