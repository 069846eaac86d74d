package logtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// turn adds an event to a stream of its own, any number of times.
func turn(name string, times int) domain.Command {
	return domain.RecordProjection{Projection: name, Facts: []domain.Fact{
		domain.ProjectionRolledBack{Version: 1 + times%2, From: 2 - times%2},
	}}
}

// mixed fills the log with streams of other kinds, whose names sort before and after those of knowledge.
func (w *world) mixed() {
	w.Helper()
	w.do(w.remember("k"))
	w.do(turn("p", 1))
	results := w.log.SubmitAll(w.Context(), []domain.Submission{
		w.submission(turn("p", 2)), w.submission(w.vote("k", "t")), w.submission(turn("q", 1)), w.submission(turn("p", 3)),
	})
	for _, r := range results {
		if r.Err != nil {
			w.Fatal(r.Err)
		}
	}
}

func otherStreams(w *world) {
	w.mixed()
	var got []string
	for _, event := range w.events() {
		got = append(got, event.Stream)
	}
	p, q := domain.ProjectionStream("p"), domain.ProjectionStream("q")
	if diff := cmp.Diff(got, []string{"knowledge:k", p, p, "knowledge:k", q, p}); diff != "" {
		w.Errorf("streams (-got +want):\n%s", diff)
	}
	want := domain.Stream{Name: p, Version: 3, Position: 6, State: domain.Projection{Active: 2, Kept: []int{1}}}
	if diff := cmp.Diff(w.state(p), want); diff != "" {
		w.Errorf("state (-got +want):\n%s", diff)
	}
	list, err := w.log.Reader.States(w.Context(), w.by.Tenant, domain.ProjectionStream(""), p, 10)
	if err != nil || len(list) != 1 || list[0].Name != q {
		w.Errorf("got the streams %v (%v), want the one after %s", list, err, p)
	}
	if never := w.state(domain.ProjectionStream("r")); never.Exists() {
		w.Errorf("got %+v of a stream without events", never)
	}
	receipt := w.do(turn("p", 3)) // known already
	if diff := cmp.Diff(receipt, domain.Receipt{Stream: want, Position: 6, Outcome: domain.Unchanged}); diff != "" {
		w.Errorf("receipt (-got +want):\n%s", diff)
	}
}

// state reads the state of a stream.
func (w *world) state(stream string) domain.Stream {
	w.Helper()
	state, err := w.log.Reader.State(w.Context(), w.by.Tenant, stream)
	if err != nil {
		w.Fatal(err)
	}
	return state
}

// checked are the streams whose stored states are wrong.
func (w *world) checked() (wrong []string) {
	w.Helper()
	err := w.db.RunInTx(w.Context(), nil, func(ctx context.Context, tx bun.Tx) (err error) {
		wrong, err = events.SnapshotOf(tx).CheckStates(ctx, w.by.Tenant)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return wrong
}

// statesAreFolds deletes or replaces stored states, and checks that they are computed again from the log.
func statesAreFolds(w *world) {
	w.mixed()
	p := domain.ProjectionStream("p")
	want := w.state(p)
	for name, spoil := range map[string]string{
		"none are kept":     "DELETE FROM streams",
		"of another form":   "UPDATE streams SET form = 0, state = '[]'",
		"of another time":   `UPDATE streams SET version = 1, position = 2, state = '{"version":0,"stage":0,"active":2,"kept":[1]}'`,
		"with other fields": `UPDATE streams SET state = '{"phase":"ready"}'`,
	} {
		w.exec(spoil)
		if diff := cmp.Diff(w.state(p), want); diff != "" {
			w.Errorf("%s: (-got +want):\n%s", name, diff)
		}
		w.do(turn("p", int(want.Version)+1))
		want = w.state(p)
		if slices.Contains(w.checked(), p) {
			w.Errorf("%s: %s is wrong after it was written", name, p)
		}
		w.do(turn("q", int(w.state(domain.ProjectionStream("q")).Version)+1))
	}
	if wrong := w.checked(); len(wrong) > 0 {
		w.Errorf("kept otherwise than folded: %v", wrong)
	}
	w.exec(`UPDATE streams SET state = '{"version":77,"stage":1}'`)
	if wrong := w.checked(); len(wrong) != 2 {
		w.Errorf("got %v, want both streams that were changed behind the log's back", wrong)
	}
	if err := w.log.RepairStates(w.Context(), w.by.Tenant, w.checked()); err != nil {
		w.Error(err)
	}
	if wrong := w.checked(); len(wrong) > 0 {
		w.Errorf("%v are wrong after they were mended", wrong)
	}
	if diff := cmp.Diff(w.state(p), want); diff != "" {
		w.Errorf("after it was mended (-got +want):\n%s", diff)
	}
}

// longStreams checks that a state, and so an append, does not grow with its stream.
func longStreams(w *world) {
	var submissions []domain.Submission
	for i := range 2000 {
		submissions = append(submissions, w.submission(turn("p", i)))
	}
	for _, r := range w.log.SubmitAll(w.Context(), submissions) {
		if r.Err != nil {
			w.Fatal(r.Err)
		}
	}
	if got := w.state(domain.ProjectionStream("p")).Version; got != 2000 {
		w.Errorf("got version %d, want 2000", got)
	}
	if wrong := w.checked(); len(wrong) > 0 {
		w.Errorf("kept otherwise than folded: %v", wrong)
	}
	var size int
	if err := w.db.NewRaw("SELECT max(length(CAST(state AS text))) FROM streams").Scan(w.Context(), &size); err != nil ||
		size > 100 {
		w.Errorf("a state takes %d bytes (%v) after 2,000 events", size, err)
	}
}

// textless checks that states contain no texts, and that a request is not answered again after an erasure.
func textless(w *world) {
	failing := domain.RecordProjection{Projection: "p", Facts: []domain.Fact{
		domain.ProjectionStarted{Version: 2}, domain.ProjectionFailed{Version: 2, Reason: "very secret"},
	}}
	first := w.must(w.keyed(failing, "key", 1))
	if text := string(first.Events[1].Text); !strings.Contains(text, "very secret") {
		w.Errorf("got text %s", text)
	}
	w.sameAnswer(first, w.must(w.keyed(failing, "key", 1)))
	w.do(turn("p", 1))
	w.sameAnswer(first, w.must(w.keyed(failing, "key", 1))) // what comes later does not change the answer
	var kept string
	if err := w.db.NewRaw("SELECT state FROM streams").Scan(w.Context(), &kept); err != nil ||
		strings.Contains(kept, "secret") {
		w.Errorf("kept %s (%v)", kept, err)
	}
	before := w.state(domain.ProjectionStream("p"))
	databasetest.Tamper(w, w.db, "DELETE FROM event_texts")
	w.exec("DELETE FROM streams")
	if diff := cmp.Diff(w.state(domain.ProjectionStream("p")), before); diff != "" {
		w.Errorf("without the text (-got +want):\n%s", diff)
	}
	if _, err := w.log.Submit(w.Context(), w.keyed(failing, "key", 1)); !errors.Is(err, domain.ErrErased) {
		w.Errorf("got %v, want %v", err, domain.ErrErased)
	}
}

// lookups lets a command read another stream and an item, with and without naming them in Reads.
func lookups(w *world) {
	w.mixed()
	for _, foreseen := range [][]string{nil, {domain.ProjectionStream("p")}} {
		var seen domain.Stream
		var item int64
		c := reading{turn("r", len(foreseen)), foreseen, func(book domain.DecisionContext) {
			seen, item = book.Stream(domain.ProjectionStream("p")), book.Knowledge("k").Version
		}}
		w.do(c)
		if seen.Version != 3 || item != 2 {
			w.Errorf("saw version %d of the stream and %d of the item, want 3 and 2", seen.Version, item)
		}
	}
}

// reading looks something up before it decides.
type reading struct {
	domain.Command
	streams []string
	look    func(domain.DecisionContext)
}

func (r reading) Reads() domain.Reads { return domain.Reads{Streams: r.streams, Items: []string{"k"}} }

func (r reading) Decide(book domain.DecisionContext, now time.Time) ([]domain.Fact, error) {
	r.look(book)
	return r.Command.Decide(book, now)
}

// strictStreams checks that facts that cannot follow, or are of another kind, are refused.
func strictStreams(w *world) {
	w.mixed()
	for name, c := range map[string]domain.Command{
		"a fact about knowledge":    recording{"projection:p", domain.Deleted{}},
		"a fact about a projection": recording{"knowledge:k", domain.ProjectionRetired{Version: 1}},
		"what cannot follow":        recording{"projection:p", domain.ProjectionRetired{Version: 9}},
		"a kind nobody knows":       recording{"dream:x", domain.ProjectionRetired{Version: 1}},
	} {
		if _, err := w.log.Submit(w.Context(), w.submission(c)); err == nil {
			w.Errorf("%s was recorded", name)
		}
	}
	if got := len(w.events()); got != 6 {
		w.Errorf("got %d events, want the 6 of before", got)
	}
}

// recording records a fact without a decision.
type recording struct {
	stream string
	fact   domain.Fact
}

func (s recording) Stream() string      { return s.stream }
func (s recording) Reads() domain.Reads { return domain.Reads{} }

func (s recording) Decide(domain.DecisionContext, time.Time) ([]domain.Fact, error) {
	return []domain.Fact{s.fact}, nil
}
