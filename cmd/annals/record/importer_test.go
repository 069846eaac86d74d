package record

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/annals-kb/annals/http/servertest"
)

// numbered is an input of so many full batches.
func numbered(n int) *strings.Reader {
	var lines strings.Builder
	for i := range n * batchRecords {
		fmt.Fprintf(&lines, "{\"n\":%d}\n", i+1)
	}
	return strings.NewReader(lines.String())
}

func created(b Batch) []lineAnswer {
	answers := make([]lineAnswer, len(b.Records))
	for i := range answers {
		answers[i].Status = "created"
	}
	return answers
}

func TestAnswersComeInTheOrderOfTheInputHoweverLongEachTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var underway, most atomic.Int64
		m := &importer{parallel: 3, send: func(_ context.Context, b Batch) ([]lineAnswer, error) {
			most.Store(max(most.Load(), underway.Add(1)))
			defer underway.Add(-1)
			time.Sleep(time.Duration(7-b.Records[0].Number/batchRecords%3) * time.Second)
			return created(b), nil
		}}
		next := 1
		err := m.run(t.Context(), numbered(10), func(b Batch, answers []lineAnswer) error {
			for i := range answers {
				if b.Records[i].Number != next {
					t.Fatalf("answer to %d, want %d", b.Records[i].Number, next)
				}
				next++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		servertest.Same(t, next-1, 10*batchRecords)
		servertest.Same(t, most.Load(), 3)
	})
}

func TestAnInterruptedImportWaitsForWhatItSentAndReadsNoFurther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		var mu sync.Mutex
		sent, taken := 0, 0
		m := &importer{parallel: 2, send: func(_ context.Context, b Batch) ([]lineAnswer, error) {
			mu.Lock()
			sent += len(b.Records)
			mu.Unlock()
			time.Sleep(time.Second)
			interrupt()
			time.Sleep(time.Second)
			return created(b), nil
		}}
		err := m.run(ctx, numbered(10), func(_ Batch, answers []lineAnswer) error {
			taken += len(answers)
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that it was interrupted", err)
		}
		servertest.Same(t, []int{sent, taken}, []int{2 * batchRecords, 2 * batchRecords}, "sent and taken")
	})
}

func TestAnImportStopsAtTheFirstBatchThatCannotBeSent(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	m := &importer{parallel: 1, send: func(_ context.Context, b Batch) ([]lineAnswer, error) {
		if b.Records[0].Number > 2*batchRecords {
			return nil, down
		}
		return created(b), nil
	}}
	taken := 0
	err := m.run(t.Context(), numbered(5), func(_ Batch, answers []lineAnswer) error {
		taken += len(answers)
		return nil
	})
	if !errors.Is(err, down) || taken != 2*batchRecords {
		t.Errorf("%d lines, then %v; want %d, then %v", taken, err, 2*batchRecords, down)
	}
}
