package domain_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	. "github.com/annals-kb/annals/domain"
)

// Random people do random things to three items; whatever they may do must keep these promises:
// the counters are what a naive recount of the facts gives, a revision is a change of the item,
// versions are dense, a command repeated records nothing new, and a decision made on the few
// rows that Reads names is the decision made on everything.
func TestFoldingKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := given(t)
		for range rapid.IntRange(1, 60).Draw(rt, "commands") {
			command, err := complete(anything(rt, s))
			if err != nil {
				if !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrForbidden) {
					rt.Fatalf("%T: %v is neither invalid nor forbidden", command, err)
				}
				continue
			}
			step(rt, s, command)
		}
		for id, k := range s.items {
			if diff := cmp.Diff(recount(s.events[id]), tallyOf(k)); diff != "" {
				rt.Fatalf("%s (-recounted +folded):\n%s", id, diff)
			}
			if got := s.policy.Rate(k, k.Stale.Reporters); k.Exists() && got != k.Confidence {
				rt.Fatalf("%s: confidence %v, want %v", id, k.Confidence, got)
			}
			ballots := map[[2]string]bool{}
			for _, v := range k.Votes {
				ballots[[2]string{string(v.Voter), v.Ballot}] = true
			}
			if len(ballots) != len(k.Votes) {
				rt.Fatalf("%s: somebody has two voices on one ballot: %v", id, k.Votes)
			}
		}
		chainsEnd(rt, s)
		urisAreUnique(rt, s)
	})
}

// step decides a command on everything and on what it reads, lets it happen, and repeats it.
func step(t *rapid.T, s *story, command Command) {
	now := s.now.Add(time.Second)
	few := s.reading(command)
	facts, err := command.Decide(s, now)
	factsOfFew, errOfFew := command.Decide(few, now)
	if diff := cmp.Diff(factsOfFew, facts, cmpopts.EquateEmpty()); diff != "" || fmt.Sprint(errOfFew) != fmt.Sprint(err) {
		t.Fatalf("%T: %v on what it reads, %v on everything (-few +all):\n%s", command, errOfFew, err, diff)
	}
	if err != nil {
		if len(facts) > 0 {
			t.Fatalf("%T: refused, and yet decided %v", command, facts)
		}
		return
	}
	id, _ := ItemOf(command.Stream())
	before := maps.Clone(s.item(id).Votes)
	for _, fact := range facts {
		s.and(id, fact)
		event := s.events[id][len(s.events[id])-1]
		if voter, needed := s.policy.VotesFor(few.Knowledge(id), fact); needed && voter == "" {
			few.Knowledge(id).Votes = before
		}
		if err := few.Knowledge(id).Evolve(fact, event.Metadata(), s.policy); err != nil {
			t.Fatalf("%T on what it reads: %v", command, err)
		}
	}
	if diff := cmp.Diff(row(few.Knowledge(id)), row(s.item(id))); diff != "" {
		t.Fatalf("%T (-few +all):\n%s", command, diff)
	}
	again, err := command.Decide(s, now)
	switch command.(type) {
	case Confirm: // each is news
	case Delete:
		if !errors.Is(err, ErrDeleted) && !errors.Is(err, ErrNotFound) {
			t.Fatalf("deleted again: %v, %v", again, err)
		}
	case RetractFeedback:
		if !errors.Is(err, ErrNotFound) {
			t.Fatalf("retracted again: %v, %v", again, err)
		}
	case Restore: // from having been forgotten, and then from having been superseded, if no revision is expected
		more := s.item(id).Status == IsSuperseded && !errors.Is(err, ErrPrecondition)
		if (len(again) > 0) != more {
			t.Fatalf("restored again: %v, %v", again, err)
		}
	default:
		if len(again) > 0 {
			t.Fatalf("%T decided %v, and repeated %v", command, facts, again)
		}
	}
}

// row is an item as a projection keeps it, without the votes and reports beside it.
func row(k *Knowledge) Knowledge {
	r := *k
	r.Votes, r.Reports = nil, nil
	return r
}

// reading is the story as a projection would load it: of each item that the command is about,
// its row, and of its votes and reports only those that Reads names.
func (s *story) reading(command Command) *story {
	reads := command.Reads()
	few := &story{t: s.t, policy: s.policy, items: map[string]*Knowledge{}, head: s.head, now: s.now}
	for id, k := range s.items {
		r := row(k)
		few.items[id] = &r
	}
	id, _ := ItemOf(command.Stream())
	k, loaded := s.item(id), few.item(id)
	for id, v := range k.Votes {
		if len(reads.VotesOf) > 0 || slices.Contains(reads.Voters, v.Voter) {
			if loaded.Votes == nil {
				loaded.Votes = map[string]Vote{}
			}
			loaded.Votes[id] = v
		}
	}
	if reads.Reports {
		loaded.Reports = maps.Clone(k.Reports)
	}
	return few
}

// tally is what can be counted by hand.
type tally struct {
	Helpful, Harmful, Reporters int
	Revision, Version           int64
}

func tallyOf(k *Knowledge) tally {
	return tally{k.Helpful, k.Harmful, k.Stale.Reporters, k.Revision, k.Version}
}

// recount counts naively: every voice that was neither replaced nor retracted, everybody who
// reported since the last confirmation, every event that changed the item itself.
func recount(events []Event) tally {
	var n tally
	gone, reporters := map[string]bool{}, map[Entity]bool{}
	for _, e := range events {
		switch f := e.Fact.(type) {
		case FoundHelpful:
			gone[f.Replaces] = true
		case FoundHarmful:
			gone[f.Replaces] = true
		case FeedbackRetracted:
			gone[f.Vote] = true
		case ReportedStale:
			reporters[f.Reporter] = true
		case Confirmed:
			clear(reporters)
		}
	}
	for i, e := range events {
		if n.Version++; e.Version != int64(i+1) {
			return tally{Version: -1}
		}
		switch f := e.Fact.(type) {
		case Remembered:
			n.Revision++
			if n.Helpful++; f.Baseline != nil {
				n.Helpful, n.Harmful = f.Baseline.Helpful, f.Baseline.Harmful
			}
		case FoundHelpful:
			if !gone[e.EventID] {
				n.Helpful++
			}
		case FoundHarmful:
			if !gone[e.EventID] {
				n.Harmful++
			}
		case FeedbackRetracted, ReportedStale, Confirmed:
		default:
			n.Revision++
		}
	}
	n.Reporters = len(reporters)
	return n
}

// chainsEnd follows every item's successors.
func chainsEnd(t *rapid.T, s *story) {
	for id := range s.items {
		for at, steps := id, 0; s.item(at).Status == IsSuperseded; at = s.item(at).SupersededBy {
			if steps++; steps > len(s.items) {
				t.Fatalf("the successors of %s lead in a circle", id)
			}
		}
	}
}

func urisAreUnique(t *rapid.T, s *story) {
	holders := map[string]string{}
	for id, k := range s.items {
		if !k.Exists() || Gone(k) != nil {
			continue
		}
		if other := holders[k.Text.URI]; other != "" {
			t.Fatalf("%s and %s both live at %s", id, other, k.Text.URI)
		}
		holders[k.Text.URI] = id
	}
}

var (
	somebody = rapid.SampledFrom([]Principal{
		as(alice, project), as(bob, project), as(eve), administrator(), auditor(), service(),
		onBehalfOf(as(bot, project), alice), onBehalfOf(service(), bob),
	})
	someItem   = rapid.SampledFrom([]string{"k1", "k2", "k3"})
	someURI    = rapid.SampledFrom([]string{"viking://a", "viking://b", ""})
	someWords  = rapid.SampledFrom([]string{"", "one", "two"})
	someTrace  = rapid.SampledFrom([]string{"", "t1", "t2"})
	someOwner  = rapid.SampledFrom([]Entity{"", alice, bob, project})
	someScopes = rapid.SampledFrom([][]Scope{nil, {"user:alice"}, {"project:456"}, {"user:alice", "project:456"}, {Public}})
	someday    = rapid.Custom(func(t *rapid.T) time.Time {
		return monday.AddDate(0, 0, rapid.IntRange(0, 1).Draw(t, "day"))
	})
)

// anything is a command that anybody might give.
func anything(t *rapid.T, s *story) Command {
	to := Target{By: somebody.Draw(t, "by"), ID: someItem.Draw(t, "item")}
	if rapid.IntRange(0, 9).Draw(t, "expects") == 0 {
		to.Revisions = []int64{s.item(to.ID).Revision}
	}
	words := someWords.Draw(t, "words")
	switch rapid.SampledFrom([]string{
		"remember", "remember", "revise", "vote", "vote", "vote", "retract", "report", "report", "confirm", "supersede", "delete", "restore",
	}).Draw(t, "command") {
	case "remember":
		c := Remember{By: to.By, ID: to.ID, Knowledge: Remembered{
			Class: Class{Type: Plan}, Owner: someOwner.Draw(t, "owner"), Scopes: someScopes.Draw(t, "scopes"),
			Text: Text{Content: "content " + words, URI: someURI.Draw(t, "uri")},
		}}
		c.OrSame = true
		c.OrRevise = rapid.Bool().Draw(t, "or_revise")
		if rapid.Bool().Draw(t, "baseline") {
			c.Knowledge.Baseline = &Eval{Helpful: 4, Harmful: 1, Confidence: 0.7}
		}
		return c
	case "revise":
		return Revise{
			Target: to, Changes: Revised{Task: &words}, Scopes: someScopes.Draw(t, "scopes"),
			Owner: someOwner.Draw(t, "owner"), URI: someURI.Draw(t, "uri"),
		}
	case "vote":
		return GiveFeedback{
			Target: to, Verdict: rapid.SampledFrom(Verdicts).Draw(t, "verdict"), Outcome: words,
			TraceID: someTrace.Draw(t, "trace"), Day: someday.Draw(t, "day"),
		}
	case "retract":
		c := RetractFeedback{Target: to, TraceID: someTrace.Draw(t, "trace"), Day: someday.Draw(t, "day")}
		if s.head > 0 && rapid.Bool().Draw(t, "by_event") {
			c.EventID = eventID(rapid.Int64Range(1, s.head).Draw(t, "event"))
		}
		return c
	case "report":
		return ReportStale{Target: to, Reason: words}
	case "confirm":
		return Confirm{Target: to, Reason: words}
	case "supersede":
		return Supersede{Target: to, Successor: someItem.Draw(t, "successor"), Reason: words}
	case "delete":
		return Delete{Target: to, Reason: words}
	default:
		return Restore{Target: to, Reason: words}
	}
}
