package logtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	prom "github.com/prometheus/client_model/go"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// background submits without waiting for the answer.
func (w *world) background(ctx context.Context, log *events.Log, command domain.Command) <-chan error {
	answer := make(chan error, 1)
	go func() {
		_, err := log.Submit(ctx, w.submission(command))
		answer <- err
	}()
	return answer
}

// queued waits until so many commands of a log's queue wait.
func (w *world) queued(registry *prometheus.Registry, n float64) {
	w.Helper()
	databasetest.Until(w, fmt.Sprint(n, " commands wait"), func() bool {
		return metric(w, registry, "annals_append_queue").GetGauge().GetValue() == n
	})
}

// metric is the first one of this name; nil if there is none.
func metric(w *world, registry *prometheus.Registry, name string) *prom.Metric {
	families, err := registry.Gather()
	if err != nil {
		w.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			return family.GetMetric()[0]
		}
	}
	return nil
}

// full is a gated log with one command at work and a full queue.
func (w *world) full(queue int) (log *events.Log, gate *gate, answers []<-chan error) {
	w.Helper()
	registry := prometheus.NewRegistry()
	log, gate = w.gated(events.Options{Queue: queue, Registerer: registry})
	answers = append(answers, w.background(w.Context(), log, w.remember("k-0")))
	<-gate.arrived
	for i := range queue {
		answers = append(answers, w.background(w.Context(), log, w.remember(numbered("k", i+1))))
	}
	w.queued(registry, float64(queue))
	if got := metric(w, registry, "annals_append_oldest_seconds").GetGauge().GetValue(); got <= 0 {
		w.Errorf("the oldest command waits for %v s", got)
	}
	return log, gate, answers
}

func fullQueue(w *world) {
	log, gate, answers := w.full(4)
	soon, cancel := context.WithTimeout(w.Context(), 10*time.Second)
	defer cancel()
	if _, err := log.Submit(soon, w.submission(w.remember("late"))); !errors.Is(err, domain.ErrBusy) {
		w.Errorf("got %v, want %v", err, domain.ErrBusy)
	}
	// A bulk keeps its order: after a piece that found no room, the rest is not tried.
	var bulk []domain.Submission
	for i := range 10 {
		bulk = append(bulk, w.submission(w.remember(numbered("bulk", i))))
	}
	for i, r := range log.SubmitAll(soon, bulk) {
		if !errors.Is(r.Err, domain.ErrBusy) {
			w.Errorf("bulk %d: got %v, want %v", i, r.Err, domain.ErrBusy)
		}
	}
	gate.open()
	for i, answer := range answers {
		if err := <-answer; err != nil {
			w.Errorf("%d: %v", i, err)
		}
	}
	if got, want := len(w.events()), len(answers); got != want {
		w.Errorf("got %d events, want %d", got, want)
	}
}

func cancelledCaller(w *world) {
	registry := prometheus.NewRegistry()
	log, gate := w.gated(events.Options{Registerer: registry})
	taken, leave := context.WithCancel(w.Context())
	working := w.background(taken, log, w.remember("working"))
	<-gate.arrived

	waiting, giveUp := context.WithCancel(w.Context())
	waits := w.background(waiting, log, w.remember("waiting"))
	w.queued(registry, 1)
	giveUp()
	if err := <-waits; !errors.Is(err, context.Canceled) {
		w.Errorf("a caller who waits: got %v, want %v", err, context.Canceled)
	}
	leave() // too late: its command is being written
	gate.open()
	if err := <-working; err != nil {
		w.Errorf("a caller whose command was taken: %v", err)
	}
	if _, err := log.Submit(waiting, w.submission(w.remember("late"))); !errors.Is(err, context.Canceled) {
		w.Errorf("a caller who had gone before: got %v, want %v", err, context.Canceled)
	}
	got := w.events()
	if len(got) != 1 || got[0].Stream != domain.KnowledgeStream("working") {
		w.Errorf("got %d events, want the one that was taken", len(got))
	}
}

func closeDrains(w *world) {
	log, gate, answers := w.full(20)
	closed := make(chan error)
	go func() { closed <- log.Close(w.Context()) }()
	databasetest.Until(w, "the log is closing", func() bool {
		_, err := log.Submit(w.Context(), w.submission(w.remember("late")))
		if !errors.Is(err, domain.ErrUnavailable) && !errors.Is(err, domain.ErrBusy) {
			w.Fatalf("got %v, want %v", err, domain.ErrUnavailable)
		}
		return errors.Is(err, domain.ErrUnavailable)
	})
	gate.open()
	if err := <-closed; err != nil {
		w.Errorf("close: %v", err)
	}
	for i, answer := range answers {
		if err := <-answer; err != nil {
			w.Errorf("%d: %v", i, err)
		}
	}
	if got, want := len(w.events()), len(answers); got != want {
		w.Errorf("got %d events, want %d", got, want)
	}
}

func closeGivesUp(w *world) {
	log, _, answers := w.full(4)
	ctx, cancel := context.WithTimeout(w.Context(), 50*time.Millisecond)
	defer cancel()
	if err := log.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		w.Errorf("close: got %v, want %v", err, context.DeadlineExceeded)
	}
	for i, answer := range answers {
		if err := <-answer; !errors.Is(err, domain.ErrUnavailable) {
			w.Errorf("%d: got %v, want %v", i, err, domain.ErrUnavailable)
		}
	}
	if got := len(w.events()); got != 0 {
		w.Errorf("got %d events, want none", got)
	}
}
