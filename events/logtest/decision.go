package logtest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// decision is a command that does what a test wants.
type decision struct {
	id     string
	decide func(domain.DecisionContext) ([]domain.Fact, error)
}

var _ domain.Command = decision{}

func (d decision) Stream() string      { return domain.KnowledgeStream(d.id) }
func (d decision) Reads() domain.Reads { return domain.Reads{} }

func (d decision) Decide(book domain.DecisionContext, _ time.Time) ([]domain.Fact, error) {
	return d.decide(book)
}

func (w *world) erase(id string) domain.Command {
	return decision{id: id, decide: func(domain.DecisionContext) ([]domain.Fact, error) {
		return []domain.Fact{domain.Erased{ReasonCode: "gdpr-17"}}, nil
	}}
}

// gate is an inline projection that blocks every batch until it is opened.
type gate struct {
	events.Inline
	arrived chan struct{} // holds one token: a batch waits at the gate
	opened  chan struct{}
	once    sync.Once
}

func newGate(inline events.Inline) *gate {
	return &gate{Inline: inline, arrived: make(chan struct{}, 1), opened: make(chan struct{})}
}

func (g *gate) Load(
	ctx context.Context, tx bun.IDB, tenant string, commands []domain.Command, first database.Batch,
) (events.Stage, error) {
	select {
	case g.arrived <- struct{}{}:
	default:
	}
	select {
	case <-g.opened:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return g.Inline.Load(ctx, tx, tenant, commands, first)
}

func (g *gate) open() { g.once.Do(func() { close(g.opened) }) }

// gated is a log whose batches wait at a gate. The gate opens at the end of the test at the latest.
func (w *world) gated(options events.Options) (*events.Log, *gate) {
	w.Helper()
	g := newGate(w.open(w.T, w.db))
	log := w.newLog(g, options)
	w.Cleanup(g.open) // before the log closes
	return log, g
}

// takenPlace assigns one URI to two items of the same transaction.
func takenPlace(w *world) {
	second := w.remember("second").(domain.Remember)
	place := second.Knowledge.Text.URI
	first := w.remember("first").(domain.Remember)
	first.Knowledge.Text.URI = place
	first, err := first.Complete()
	if err != nil {
		w.Fatal(err)
	}
	results := w.log.SubmitAll(w.Context(), []domain.Submission{w.submission(first), w.submission(second)})
	for i, id := range []string{"first", "second"} {
		if results[i].Err != nil {
			w.Fatal(results[i].Err)
		}
		recorded, answered := w.at(id, 1).Text.URI, results[i].Receipt.Knowledge.Text.URI
		if recorded != answered || recorded == place != (id == "first") {
			w.Errorf("%s: got %s, answered with %s; the place that both want is %s", id, recorded, answered, place)
		}
	}
	w.events()
}

// together submits commands with later ones, of which some are refused, among others.
func together(w *world) {
	w.do(w.remember("k"))
	with := func(first domain.Command, key string, then ...domain.Command) domain.Submission {
		s := w.keyed(first, key, 1)
		s.Then = then
		return s
	}
	good := with(w.remember("good"), "good", w.vote("good", "t"), w.vote("k", "t"))
	submissions := []domain.Submission{
		w.submission(w.vote("k", "before")), good, with(w.remember("bad"), "bad", w.vote("k", "u"), w.vote("nowhere", "t")),
		w.submission(w.vote("k", "after")), good,
	}
	results := w.log.SubmitAll(w.Context(), submissions)
	for i, want := range []error{nil, nil, domain.ErrNotFound, nil, nil} {
		if got := results[i].Err; !errors.Is(got, want) {
			w.Errorf("%d: got %v, want %v", i, got, want)
		}
	}
	if got := len(w.events()); got != 6 {
		w.Errorf("got %d events, want 6", got)
	}
	first := results[1].Receipt
	for _, event := range w.events()[3:5] {
		if event.CausationID != first.Events[0].EventID {
			w.Errorf("%s: got the cause %q, want %s", event.Stream, event.CausationID, first.Events[0].EventID)
		}
	}
	if len(first.Events) != 1 || first.Position != 5 {
		w.Errorf("got %d events and position %d, want 1 and 5", len(first.Events), first.Position)
	}
	w.sameAnswer(first, results[4].Receipt)
	w.sameAnswer(first, w.must(good))
	if _, err := w.log.Submit(w.Context(), submissions[2]); !errors.Is(err, domain.ErrNotFound) {
		w.Errorf("alone: got %v, want %v", err, domain.ErrNotFound)
	}
	if got, want := w.count("events"), 6; got != want {
		w.Errorf("got %d events, want %d", got, want)
	}
}
