package erasure_test

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
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestRedactingLeavesNoTraceOfTheWordInAnyTable(t *testing.T) {
	EachPast(t, func(t *testing.T, w PastWorld) {
		w.Remember("other", "retry with jitter", "team:pay")
		w.Leak("secret")
		knowAll(w)
		before := Must(w.Log.Reader.Records(t.Context(), w.By.Tenant, 0, 0))(t)
		receipt := w.Redact("secret")
		if got := len(receipt.Events); got != 4 {
			t.Errorf("%d redactions, want one of each text", got)
		}
		if strings.Contains(receipt.Knowledge.Text.Content, Canary) ||
			!strings.Contains(receipt.Knowledge.Text.Content, Mark) {
			t.Errorf("the receipt says %q", receipt.Knowledge.Text.Content)
		}
		for _, when := range []string{"at once", "after all was read"} {
			if got := w.Traces(saidInSecret()...); got != nil {
				t.Errorf("%s %v hold the canary", when, got)
			}
			Equal(t, Folded(w.Items()), w.Stored(), "%s: tables (-folded +stored)", when)
			knowAll(w)
		}
		after := Must(w.Log.Reader.Records(t.Context(), w.By.Tenant, 0, len(before)))(t)
		for i := range before {
			if !bytes.Equal(before[i].Hash, after[i].Hash) {
				t.Errorf("position %d is another record", before[i].Position)
			}
		}
		now := w.Items()["secret"]
		if now.Text.Content != "we call it "+Mark+" now" || now.Text.URI != "viking://resources/animals/secret" ||
			now.Stale.Reason != Mark+" moved" {
			t.Errorf("it is %+v", now.Text)
		}
		if again := w.Redact("secret"); len(again.Events) > 0 {
			t.Errorf("redacted again: %d", len(again.Events))
		}
		if got := w.Nearest("we call it now", Pay); !slices.Contains(got, "secret") {
			t.Errorf("by its meaning only %v are found", got)
		}
		if got := w.ItemsAt(3)["secret"].Text.Content; got != "the "+Mark+" was called something else before" {
			t.Errorf("then it said %q", got)
		}
	})
}

// What was known then is found by the words that are left of it, also by those of texts that were revised since.
func TestThePastIsFoundByWhatIsLeftOfIt(t *testing.T) {
	EachPast(t, func(t *testing.T, w PastWorld) {
		w.Leak("secret")
		knowAll(w)
		then := w.PastTables()
		w.Redact("secret")
		knowAll(w)
		question := Must(domain.Search{By: w.By, Text: "something else before", MinScore: new(float64), AsOf: 1}.Complete())(t)
		answer, err := w.Reader().Search(t.Context(), question)
		if err != nil || len(answer.Hits) != 1 ||
			answer.Hits[0].Knowledge.Text.Content != "the "+Mark+" was called something else before" {
			t.Errorf("found %+v, %v", answer.Hits, err)
		}
		retold := w.PastTables()
		if cmp.Equal(then, retold) {
			t.Error("nothing was told anew")
		}
		NoError(t, w.Past.BeginAnew(t.Context(), w.By.Tenant))
		w.ReadOn(2)
		Equal(t, retold, w.PastTables(), "the past (-told anew +read from the beginning)")
	})
}

// What was redacted can be redacted again, and erased.
func TestWhatIsLeftIsATextLikeAnyOther(t *testing.T) {
	EachLived(t, func(t *testing.T, r *Rebuilding) {
		r.Leak("secret")
		r.Redact("secret")
		second := r.Submit(domain.Redact{
			By: r.By, Of: domain.KnowledgeStream("secret"), To: 1 << 40,
			Scrub: func(text json.RawMessage) (json.RawMessage, map[string]int, error) {
				return bytes.ReplaceAll(text, []byte("called"), []byte("c…")),
					map[string]int{"animal": bytes.Count(text, []byte("called"))}, nil
			},
		})
		if got := second.Knowledge.Text.Content; got != "we call it "+Mark+" now" {
			t.Errorf("it says %q", got)
		}
		Equal(t, Folded(r.Items()), r.Stored(), "tables (-folded +stored)")
		r.Switches(domain.RebuildOrder{})
		r.Erase("secret")
		for id, k := range r.Items() {
			if id == "secret" && (k.Status != domain.IsErased || k.Text.Content != "") {
				t.Errorf("it is %+v", k)
			}
		}
		Equal(t, Folded(r.Items()), r.Stored(), "tables (-folded +stored)")
	})
}

func TestWhatIsUnderLegalHoldIsNotRedacted(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Leak("secret")
		w.Submit(domain.Hold{Target: domain.Target{By: w.By, ID: "secret"}, ReasonCode: "litigation"})
		_, err := w.Log.Submit(t.Context(), domain.Submission{By: w.By, Command: domain.Redact{
			By: w.By, Of: domain.KnowledgeStream("secret"), To: 1 << 40,
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
		w := NewWorldWith(t, db, projections.Settings{Policy: policy}, events.Options{Policy: policy})
		w.Remember("much", "retry with jitter", "team:pay")
		const votes = 150
		for i := range votes {
			w.Submit(domain.GiveFeedback{
				Target: domain.Target{By: w.By, ID: "much"}, Verdict: domain.Helpful, TraceID: fmt.Sprint(i),
				Query: "of the " + Canary,
			})
		}
		judged.Store(0)
		if got := len(w.Redact("much").Events); got != votes {
			t.Fatalf("%d redactions, want %d", got, votes)
		}
		if got := judged.Load(); got > 10*votes {
			t.Errorf("confidence was judged %d times for %d redactions", got, votes)
		}
	})
}
