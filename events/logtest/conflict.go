package logtest

import (
	"errors"
	"math/rand/v2"
	"sync"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/annals-kb/annals/domain"
)

// atOnce submits all at the same time, one by one.
func (w *world) atOnce(submissions []domain.Submission) []domain.Result {
	results := make([]domain.Result, len(submissions))
	var submitting sync.WaitGroup
	for i, s := range submissions {
		submitting.Go(func() {
			results[i].Receipt, results[i].Err = w.log.Submit(w.Context(), s)
		})
	}
	submitting.Wait()
	return results
}

func oneEditWins(w *world) {
	w.do(w.remember("k"))
	var edits []domain.Submission
	for i := range 20 {
		edits = append(edits, w.submission(w.revise("k", numbered("Edit", i), 1)))
	}
	won := 0
	for _, r := range w.atOnce(edits) {
		switch {
		case r.Err == nil:
			won++
		case !errors.Is(r.Err, domain.ErrPrecondition):
			w.Errorf("got %v, want %v", r.Err, domain.ErrPrecondition)
		}
	}
	if got := len(w.events()); won != 1 || got != 2 {
		w.Errorf("got %d winners and %d events, want 1 and 2", won, got)
	}
}

func votesAllCount(w *world) {
	const voters = 200
	w.do(w.remember("k"))
	var votes []domain.Submission
	for i := range voters {
		by := w.member(numbered("voter", i))
		votes = append(votes, domain.Submission{By: by, Command: domain.GiveFeedback{
			Target: domain.Target{By: by, ID: "k"}, Verdict: domain.Helpful, TraceID: "t",
		}})
	}
	positions := map[int64]bool{}
	for _, r := range w.atOnce(votes) {
		if r.Err != nil {
			w.Fatal(r.Err)
		}
		positions[r.Receipt.Position] = true
	}
	last := w.do(w.vote("k", "last"))
	if got, want := last.Knowledge.Helpful, 1+voters+1; got != want || len(positions) != voters {
		w.Errorf("got %d voices at %d positions, want %d at %d", got, len(positions), want, voters)
	}
	if got, want := w.at("k", 1000).Helpful, 1+voters+1; got != want {
		w.Errorf("a replay counts %d voices, want %d", got, want)
	}
	w.events()
}

// receiptsAreReplays submits random commands in batches, and compares each receipt with a replay of the stream.
func receiptsAreReplays(w *world) {
	random := rand.New(rand.NewPCG(1, 2))
	item := func() string { return numbered("k", random.IntN(4)) }
	var commands []domain.Submission
	for range 120 {
		commands = append(commands, w.submission(w.anything(random, item(), item())))
	}
	for len(commands) > 0 {
		n := min(len(commands), 1+random.IntN(12))
		for _, r := range w.log.SubmitAll(w.Context(), commands[:n]) {
			if r.Err != nil {
				if kind := new(domain.Refusal); !errors.As(r.Err, &kind) && !errors.Is(r.Err, domain.ErrInvalid) {
					w.Fatal(r.Err)
				}
				continue
			}
			k := r.Receipt.Knowledge
			if diff := cmp.Diff(w.at(k.ID, k.Version), k, sameItem()); diff != "" {
				w.Errorf("%s at version %d (-replayed +answered):\n%s", k.ID, k.Version, diff)
			}
		}
		commands = commands[n:]
	}
	w.events()
}

// sameItem compares everything but votes and reports: a projection loads only those that it needs.
func sameItem() cmp.Option {
	return cmp.Options{
		cmpopts.IgnoreFields(domain.Knowledge{}, "Votes", "Reports"), cmpopts.EquateEmpty(),
	}
}

func (w *world) anything(random *rand.Rand, id, other string) domain.Command {
	target := domain.Target{By: w.by, ID: id}
	switch random.IntN(12) {
	case 0, 1, 2:
		return w.remember(id)
	case 3:
		return w.revise(id, numbered("Edit", random.IntN(3)))
	case 4:
		return domain.Revise{
			Target: target, Owner: "team:pay", Scopes: []domain.Scope{"team:pay"},
			URI: "viking://somewhere/" + numbered("else", random.IntN(3)),
		}
	case 5, 6:
		return w.vote(id, numbered("t", random.IntN(3)))
	case 7:
		return domain.RetractFeedback{Target: target, TraceID: numbered("t", random.IntN(3))}
	case 8:
		return domain.ReportStale{Target: target, Reason: numbered("moved", random.IntN(2))}
	case 9:
		return domain.Confirm{Target: target, Reason: "tried"}
	case 10:
		return domain.Supersede{Target: target, Successor: other}
	default:
		if random.IntN(2) == 0 {
			return domain.Delete{Target: target, Reason: "wrong"}
		}
		return domain.Restore{Target: target}
	}
}
