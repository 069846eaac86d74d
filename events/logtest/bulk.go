package logtest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

func manyCommands(w *world) {
	commands, most := 5000, uint64(10) // 5,000 in pieces of 512
	if testing.Short() {
		commands, most = 1500, 3
	}
	registry := prometheus.NewRegistry()
	w.log = w.newLog(w.open(w.T, w.db), events.Options{Registerer: registry})
	var bulk []domain.Submission
	for i := range commands {
		bulk = append(bulk, w.submission(w.remember(numbered("k", i))))
	}
	bulk[1234] = bulk[1233] // one line that is refused
	for i, r := range w.log.SubmitAll(w.Context(), bulk) {
		want := int64(i + 1)
		if i > 1234 {
			want--
		}
		switch {
		case i == 1234:
			if !errors.Is(r.Err, domain.ErrTaken) {
				w.Errorf("the repeated line: got %v, want %v", r.Err, domain.ErrTaken)
			}
		case r.Err != nil || r.Receipt.Position != want || r.Receipt.Outcome != domain.Created:
			w.Fatalf("line %d: got %s at %d, %v", i, r.Receipt.Outcome, r.Receipt.Position, r.Err)
		}
	}
	if got := len(w.events()); got != commands-1 {
		w.Errorf("got %d events, want %d", got, commands-1)
	}
	if got := metric(w, registry, "annals_append_batch_size").GetHistogram().GetSampleCount(); got > most {
		w.Errorf("it took %d transactions, want %d at most", got, most)
	}
}

// Remember appends items to a tenant's log.
func Remember(t testing.TB, l *events.Log, tenant string, first, count int) {
	t.Helper()
	by := domain.OpenPrincipal()
	by.Tenant = tenant
	var submissions []domain.Submission
	for i := first; i < first+count; i++ {
		command, err := domain.Remember{By: by, ID: fmt.Sprint("k-", i), Knowledge: domain.Remembered{
			Class: domain.Class{Type: domain.Tool}, Scopes: []domain.Scope{"public"}, Text: domain.Text{Content: "knowledge"},
		}}.Complete()
		if err != nil {
			t.Fatal(err)
		}
		submissions = append(submissions, domain.Submission{By: by, Command: command})
	}
	for _, r := range l.SubmitAll(t.Context(), submissions) {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
}

// Vote submits votes for the first item, each with an idempotency key.
func Vote(t testing.TB, l *events.Log, votes int) {
	t.Helper()
	by := domain.OpenPrincipal()
	by.Tenant = "acme"
	var submissions []domain.Submission
	for i := range votes {
		key := fmt.Sprint(votes, "#", i)
		submissions = append(submissions, domain.Submission{
			By: by, Request: &domain.Request{Key: key},
			Command: domain.GiveFeedback{
				Target: domain.Target{By: by, ID: "k-0"}, Verdict: domain.Helpful, TraceID: key, Query: "?",
			},
		})
	}
	for _, r := range l.SubmitAll(t.Context(), submissions) {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
}
