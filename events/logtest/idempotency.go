package logtest

import (
	"bytes"
	"errors"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/domain"
)

// sameAnswer compares what a request was answered at first and again.
func (w *world) sameAnswer(first, again domain.Receipt) {
	w.Helper()
	if !again.Replayed || first.Replayed {
		w.Errorf("got replayed %v, then %v", first.Replayed, again.Replayed)
	}
	first.Replayed = true
	if diff := cmp.Diff(first, again, sameItem()); diff != "" {
		w.Errorf("(-first +again):\n%s", diff)
	}
}

func repeatedRequest(w *world) {
	created := w.must(w.keyed(w.remember("k"), "key-1", 1))
	voted := w.must(w.keyed(w.vote("k", "t"), "key-2", 2))
	w.do(w.revise("k", "Something else.")) // what comes later does not change the answer
	w.sameAnswer(created, w.must(w.keyed(w.remember("k"), "key-1", 1)))
	w.sameAnswer(voted, w.must(w.keyed(w.vote("k", "t"), "key-2", 2)))
	if created.Outcome != domain.Created || voted.Outcome != domain.Recorded {
		w.Errorf("got outcomes %s and %s", created.Outcome, voted.Outcome)
	}
	if got := len(w.events()); got != 3 {
		w.Errorf("got %d events, want 3", got)
	}
}

// repeatedAmongOthers submits two requests that record several events each about the same item in one transaction,
// and repeats both.
func repeatedAmongOthers(w *world) {
	w.do(w.remember("k"))
	change := func(i int, key string) domain.Submission {
		content := numbered("Edit", i)
		return w.keyed(domain.Revise{
			Target: domain.Target{By: w.by, ID: "k"}, Changes: domain.Revised{Content: &content},
			Owner: domain.Entity(numbered("team:pay", i)), URI: "viking://somewhere/" + key,
		}, key, 1)
	}
	submissions := []domain.Submission{
		change(1, "one"), change(2, "two"), change(1, "one"), w.keyed(w.vote("k", "t"), "three", 1),
	}
	results := w.log.SubmitAll(w.Context(), submissions)
	for _, r := range results {
		if r.Err != nil {
			w.Fatal(r.Err)
		}
	}
	w.sameAnswer(results[0].Receipt, results[2].Receipt) // within the transaction
	w.sameAnswer(results[0].Receipt, w.must(submissions[0]))
	w.sameAnswer(results[1].Receipt, w.must(submissions[1]))
	w.sameAnswer(results[3].Receipt, w.must(submissions[3]))
	if got, want := len(w.events()), 1+3+3+1; got != want {
		w.Errorf("got %d events, want %d", got, want)
	}
}

func keyReused(w *world) {
	w.must(w.keyed(w.remember("k"), "key", 1))
	results := w.log.SubmitAll(w.Context(), []domain.Submission{
		w.keyed(w.remember("l"), "key", 2), // the key is in the log
		w.keyed(w.remember("m"), "new", 1),
		w.keyed(w.remember("n"), "new", 2), // the key is in the same batch
	})
	for i, want := range []error{domain.ErrKeyReused, nil, domain.ErrKeyReused} {
		if got := results[i].Err; !errors.Is(got, want) {
			w.Errorf("%d: got %v, want %v", i, got, want)
		}
	}
	if got := len(w.events()); got != 2 {
		w.Errorf("got %d events, want 2", got)
	}
}

func racingRequests(w *world) {
	w.do(w.remember("k"))
	var same []domain.Submission
	for range 20 {
		same = append(same, w.keyed(w.vote("k", "t"), "key", 1))
	}
	first := 0
	for _, r := range w.atOnce(same) {
		if r.Err != nil {
			w.Fatal(r.Err)
		}
		if !r.Receipt.Replayed {
			first++
		}
		if r.Receipt.Position != 2 || len(r.Receipt.Events) != 1 {
			w.Errorf("got position %d and %d events, want 2 and 1", r.Receipt.Position, len(r.Receipt.Events))
		}
	}
	if got := len(w.events()); first != 1 || got != 2 {
		w.Errorf("%d were first, there are %d events, want 1 and 2", first, got)
	}
}

func repeatedNothing(w *world) {
	w.do(w.remember("k"))
	w.do(w.vote("k", "t"))
	nothing := w.must(w.keyed(w.vote("k", "t"), "key", 1))
	if nothing.Outcome != domain.Unchanged || len(nothing.Events) != 0 || nothing.Position != 2 {
		w.Errorf("got %s with %d events at %d, want nothing new", nothing.Outcome, len(nothing.Events), nothing.Position)
	}
	w.do(domain.RetractFeedback{Target: domain.Target{By: w.by, ID: "k"}, TraceID: "t"})
	w.sameAnswer(nothing, w.must(w.keyed(w.vote("k", "t"), "key", 1))) // although by now it would have an effect
	if got := len(w.events()); got != 3 {
		w.Errorf("got %d events, want 3", got)
	}
}

func refusedRequest(w *world) {
	again := w.keyed(w.vote("k", "t"), "key", 1)
	if _, err := w.log.Submit(w.Context(), again); !errors.Is(err, domain.ErrNotFound) {
		w.Fatalf("got %v, want %v", err, domain.ErrNotFound)
	}
	w.do(w.remember("k"))
	if got := w.must(again); got.Replayed || got.Outcome != domain.Recorded {
		w.Errorf("got %s, replayed %v: a refusal was remembered", got.Outcome, got.Replayed)
	}
}

func keysAreApart(w *world) {
	w.must(w.keyed(w.remember("k"), "key", 1))
	mine := w.by
	w.by.Subject = "user:other"
	if got := w.must(w.keyed(w.remember("l"), "key", 2)); got.Replayed {
		w.Error("another subject's key was recognised")
	}
	w.by = mine
	w.by.Tenant = "elsewhere"
	if got := w.must(w.keyed(w.remember("m"), "key", 3)); got.Replayed {
		w.Error("another tenant's key was recognised")
	}
}

func repeatedAfterErasure(w *world) {
	w.must(w.keyed(w.remember("k"), "key", 1))
	w.do(w.erase("k"))
	if _, err := w.log.Submit(w.Context(), w.keyed(w.remember("k"), "key", 2)); !errors.Is(err, domain.ErrErased) {
		w.Errorf("got %v, want %v", err, domain.ErrErased)
	}
	if _, err := w.log.Submit(w.Context(), w.keyed(w.remember("l"), "key", 1)); !errors.Is(err, domain.ErrKeyReused) {
		w.Errorf("about another item: got %v, want %v", err, domain.ErrKeyReused)
	}
	var kept []byte
	if err := w.db.NewRaw("SELECT fingerprint FROM requests").Scan(w.Context(), &kept); err != nil {
		w.Fatal(err)
	}
	if outline := domain.FingerprintOf([]string{"knowledge:k"}).Outline; !bytes.Equal(kept, outline[:]) {
		w.Errorf("kept %x of the request, want %x", kept, outline)
	}
	erasing := w.must(w.keyed(w.erase("k"), "erasing", 1))
	w.sameAnswer(erasing, w.must(w.keyed(w.erase("k"), "erasing", 1)))
	if _, err := w.log.Submit(w.Context(), w.keyed(w.remember("l"), "erasing", 1)); !errors.Is(err, domain.ErrKeyReused) {
		w.Errorf("a key that erased: got %v, want %v", err, domain.ErrKeyReused)
	}
}
