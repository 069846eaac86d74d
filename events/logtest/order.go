package logtest

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

func positionsAreDense(w *world) {
	const writers, each = 8, 25
	w.strict()
	var writing sync.WaitGroup
	for writer := range writers {
		writing.Go(func() {
			for i := range each {
				if _, err := w.log.Submit(w.Context(), w.submission(w.remember(numbered(numbered("k", writer), i)))); err != nil {
					w.Errorf("submit: %v", err)
				}
			}
		})
	}
	// Meanwhile a reader goes on from what it has seen. Read itself fails at a hole.
	var after int64
	for after < writers*each && !w.Failed() {
		if _, err := w.log.Watchers.AwaitHead(w.Context(), w.by.Tenant, after+1); err != nil {
			w.Fatal(err)
		}
		page, err := w.log.Reader.Read(w.Context(), w.by.Tenant, after, 7)
		if err != nil {
			w.Fatal(err)
		}
		after = page[len(page)-1].Position
	}
	writing.Wait()
	if got := len(w.events()); got != writers*each {
		w.Errorf("the log has %d events, want %d", got, writers*each)
	}
}

func readIsAnswered(w *world) {
	by := w.by
	by.OnBehalfOf = "agent:coder"
	s := domain.Submission{By: by, Command: w.remember("k"), Origin: domain.Origin{
		OccurredAt: time.Date(2025, 1, 2, 3, 4, 5, 678_999, time.FixedZone("CET", 3600)),
		RequestID:  "r'1", CorrelationID: "c?2", CausationID: `e\3`, Traceparent: "00-4", ReasonCode: "理由",
	}}
	answered := w.must(s).Events
	answered = append(answered, w.do(w.revise("k", "Retry twice.", 1)).Events...)
	if diff := cmp.Diff(answered, w.events()); diff != "" {
		w.Errorf("(-answered +read):\n%s", diff)
	}
	stream, err := w.log.Reader.Stream(w.Context(), by.Tenant, domain.KnowledgeStream("k"))
	if err != nil {
		w.Fatal(err)
	}
	if diff := cmp.Diff(answered, stream); diff != "" {
		w.Errorf("(-answered +stream):\n%s", diff)
	}
	position, id, err := w.log.Reader.Head(w.Context(), by.Tenant)
	if err != nil || position != 2 || id != answered[1].EventID {
		w.Errorf("got head %d %s, %v", position, id, err)
	}
	first := answered[0]
	if first.Actor != by.Subject || first.OnBehalfOf != "agent:coder" || first.Authentication != "open" ||
		!first.OccurredAt.Equal(s.Origin.OccurredAt.Truncate(time.Microsecond)) || first.ReasonCode != "理由" {
		w.Errorf("got envelope %+v", first)
	}
}

func timesNeverDecrease(w *world) {
	var minute atomic.Int64
	minute.Store(30)
	start := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	w.log = w.newLog(w.open(w.T, w.db), events.Options{
		Clock: func() time.Time { return start.Add(time.Duration(minute.Load()) * time.Minute) },
	})
	w.do(w.remember("a"))
	minute.Store(20) // the clock was set
	w.do(w.remember("b"))
	newest := w.events()[1].RecordedAt
	got, err := w.log.Finder.Resolve(w.Context(), w.by.Tenant, domain.AsOf{Time: newest})
	if err != nil || got.Position != 2 {
		w.Errorf("as of %v, when the newest was recorded: got position %d, %v, want 2", newest, got.Position, err)
	}
	got, err = w.log.Finder.Resolve(w.Context(), w.by.Tenant, domain.AsOf{Time: newest.Add(time.Microsecond)})
	if !errors.Is(err, domain.ErrInvalid) {
		w.Errorf("as of a moment after the newest, by a clock that was set back: got position %d, %v", got.Position, err)
	}
	minute.Store(40)
	w.do(w.remember("c"))
	var minutes []int
	for _, event := range w.events() {
		minutes = append(minutes, event.RecordedAt.Minute())
	}
	if diff := cmp.Diff([]int{30, 30, 40}, minutes); diff != "" {
		w.Errorf("minutes (-want +got):\n%s", diff)
	}
	for t, want := range map[time.Time]int64{
		start: 0, start.Add(30 * time.Minute): 2, start.Add(35 * time.Minute): 2, start.Add(time.Hour): 3,
	} {
		got, err := w.log.Finder.PositionAt(w.Context(), w.by.Tenant, t)
		if err != nil || got != want {
			w.Errorf("position at %v: got %d, %v, want %d", t, got, err, want)
		}
	}
}
