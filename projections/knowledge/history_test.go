package knowledge_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestRebuiltEqualsLive(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		var stories atomic.Int64
		rapid.Check(t, func(rt *rapid.T) {
			n := stories.Add(1)
			batched, single := &Telling{World: w.In(fmt.Sprint("batched-", n))}, &Telling{World: w.In(fmt.Sprint("single-", n))}
			s := Story{T: rt, By: w.By}
			for range rapid.IntRange(1, 4).Draw(rt, "batches") {
				batch := s.Batch()
				outcomes := batched.Outcomes(w.Log.SubmitAll(t.Context(), batched.Bound(batch)))
				for i, submission := range batch {
					receipt, err := w.Log.Submit(t.Context(), single.Bound([]domain.Submission{submission})[0])
					want := single.Outcomes([]domain.Result{{Receipt: receipt, Err: err}})[0]
					if outcomes[i] != want {
						rt.Fatalf("command %d, %T: %q in a batch, %q alone", i, submission.Command, outcomes[i], want)
					}
				}
				s.Votes = len(batched.Votes)
			}
			batched.EqualsRebuilt(rt)
			single.EqualsRebuilt(rt)
		})
	})
}
