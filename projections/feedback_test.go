package projections_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
)

func TestFeedbackIsTheNewestVoicesAndThenWhatCameWithTheItem(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		imported := domain.Use{
			Query: "before", TraceID: "t0", By: "user:bob",
			At: time.Date(2025, 1, 2, 3, 4, 5, 6000, time.UTC),
		}
		for _, id := range []string{"few", "many"} {
			w.know(id, domain.Remembered{
				Type: domain.Tool, Text: domain.Text{Content: id},
				Baseline: &domain.Eval{
					Helpful: 2, Harmful: 1, HelpfulHistory: []domain.Use{imported},
					HarmfulHistory: []domain.Use{imported},
				},
			})
		}
		vote := func(id, trace string, verdict domain.Verdict) domain.Receipt {
			return w.submit(domain.GiveFeedback{
				Target: domain.Target{By: w.by, ID: id}, Verdict: verdict, TraceID: trace, Query: "it's about " + trace,
				Outcome: "好",
			})
		}
		vote("few", "t1", domain.Helpful)
		vote("few", "t2", domain.Helpful)
		vote("few", "t3", domain.Harmful)
		vote("few", "t2", domain.Harmful) // takes the other's place
		gone := vote("few", "t4", domain.Helpful)
		w.submit(domain.RetractFeedback{Target: domain.Target{By: w.by, ID: "few"}, EventID: gone.Events[0].EventID})
		for i := range 60 {
			vote("many", fmt.Sprint("t", i), domain.Helpful)
		}

		got := must(w.base.Feedback(t.Context(), w.by.Tenant, "few"))(t)
		equal(t, footprint(got.Helpful), []string{"t1", "t0"}, "helpful (-got +want)")
		equal(t, footprint(got.Harmful), []string{"t2", "t3", "t0"}, "harmful (-got +want)")
		equal(t, got.Harmful[2], imported, "what came with the item (-got +want)")
		first := got.Helpful[0]
		if first.Query != "it's about t1" || first.Outcome != "好" || first.By != w.by.Subject || first.At.IsZero() {
			t.Errorf("a voice: %+v", first)
		}

		got = must(w.base.Feedback(t.Context(), w.by.Tenant, "many"))(t)
		if len(got.Helpful) != 50 || got.Helpful[0].TraceID != "t59" || got.Helpful[49].TraceID != "t10" ||
			len(got.Harmful) != 1 {
			t.Errorf("of many: %v and %v", footprint(got.Helpful), footprint(got.Harmful))
		}
		if _, err := w.base.Feedback(t.Context(), w.by.Tenant, "none"); !errors.Is(err, domain.ErrNotFound) {
			t.Errorf("of nothing: got %v, want not found", err)
		}
	})
}

func footprint(uses []domain.Use) []string {
	var ids []string
	for _, use := range uses {
		ids = append(ids, use.TraceID)
	}
	return ids
}
