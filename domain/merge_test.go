package domain_test

import (
	"testing"

	"pgregory.net/rapid"

	. "github.com/annals-kb/annals/domain"
)

func mergeOf(by Principal, items ...string) Merge {
	return Merge{Target: on(by), Items: items, Reason: "the same"}
}

func TestAMergeCarriesVotesVisibly(t *testing.T) {
	t.Parallel()
	merge := mergeOf(as(alice), "k2")
	merge.CarryVotes, merge.Changes = true, Revised{Content: new("Both.")}
	given(t, remembered()).
		and("k2", successor(), FoundHelpful{Ballot{Voter: bob, Key: "a"}}, FoundHarmful{Ballot{Voter: eve, Key: "b"}}).
		when(merge).then(
		Merged{Items: []string{"k2"}, Helpful: 1, Harmful: 1, Votes: []Vote{
			{EventID: eventID(3), Voter: bob, Ballot: "a", Verdict: Helpful, At: monday.Add(3e9)},
			{EventID: eventID(4), Voter: eve, Ballot: "b", Verdict: Harmful, At: monday.Add(4e9)},
		}, DerivedFrom: []string{eventID(4)}, Revises: true, Reason: "the same"},
		Revised{Content: new("Both.")},
	).leaves("with the votes of both", func(k *Knowledge) bool {
		return k.Helpful == 2 && k.Harmful == 1 && k.Revision == 3 && len(k.DerivedFrom) == 1
	})
}

// Items are merged, merges are undone and items restored in any order: no vote counts for two active items, and of a
// voter and a day no more count than may be given.
func TestAVoteCountsOnceWhereverItGoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s, items := given(t), []string{"k0", "k1", "k2", "k3"}
		for _, id := range items {
			s.and(id, successor())
		}
		for range rapid.IntRange(1, 60).Draw(rt, "commands") {
			target := Target{By: administrator(), ID: rapid.SampledFrom(items).Draw(rt, "item")}
			other := rapid.SampledFrom(items).Draw(rt, "other")
			commands := []Command{GiveFeedback{
				Target: Target{By: somebody.Draw(rt, "voter"), ID: target.ID}, Day: monday,
				Verdict: rapid.SampledFrom(Verdicts).Draw(rt, "verdict"), TraceID: rapid.StringMatching("[a-z]").Draw(rt, "trace"),
			}}
			switch rapid.IntRange(0, 7).Draw(rt, "command") {
			case 0, 1:
				merge := Merge{Target: target, Items: []string{other}, CarryVotes: rapid.Bool().Draw(rt, "carry")}
				commands = append([]Command{merge}, merge.Then(nil)...)
			case 2:
				undo, err := UndoMerge(target, s.events[target.ID], "")
				if err != nil {
					rt.Fatal(err)
				}
				commands = append([]Command{undo}, undo.Then()...)
			case 3:
				commands = []Command{Restore{Target: target}}
			case 4:
				commands = []Command{Supersede{Target: target, Successor: other}}
			}
			for i, command := range commands {
				if s.when(command); s.err != nil && i == 0 {
					break
				} else if s.err != nil {
					rt.Fatalf("%T is decided, and then %T refused: %v", commands[0], command, s.err)
				}
				s.and(s.about, s.facts...)
			}
			counted := map[string]string{}
			for _, id := range items {
				k, days := s.item(id), map[Entity]int{}
				for vote, v := range k.Votes {
					if days[v.Voter]++; days[v.Voter] > MostTraces {
						rt.Fatalf("%s has too many votes of %s", id, v.Voter)
					}
					if twice := counted[vote]; twice != "" && k.Status == Active {
						rt.Fatalf("%s counts for %s and %s", vote, id, twice)
					}
					if k.Status == Active {
						counted[vote] = id
					}
				}
				if k.Helpful+k.Harmful != 1+len(k.Votes) || k.Voices.Votes != len(k.Votes) {
					rt.Fatalf("%s: %d and %d votes are counted of %d", id, k.Helpful, k.Harmful, len(k.Votes))
				}
			}
		}
	})
}

func TestAMergeIsOfItemsThatHoldAndThatTheCallerMayChange(t *testing.T) {
	t.Parallel()
	theirs := remembered()
	theirs.Owner, theirs.Text.URI = bob, "viking://user/bob/k4.md"
	s := given(t, remembered()).and("k2", successor(), Superseded{By: itemID}).and("k3", Remembered{Owner: eve}).and("k4", theirs)
	s.when(mergeOf(as(alice, project), "k2")).refused(ErrConflict)
	s.when(mergeOf(as(alice, project), "k3", "k5")).invalid("items[0]", "items[1]")
	s.when(mergeOf(as(alice, project), "k4")).refused(ErrForbidden)
	s.when(mergeOf(auditor(), "k4")).refused(ErrForbidden)
	s.when(mergeOf(as(alice, project), itemID)).invalid("items")
	s.when(mergeOf(as(alice))).invalid("items")
	given(t, remembered(), Superseded{By: "k2"}).and("k2", successor()).and("k3", successor()).
		when(mergeOf(as(alice), "k3")).refused(ErrConflict)
}

func TestAMergeTakesNoItemThatWasChangedSinceItWasRead(t *testing.T) {
	t.Parallel()
	s := given(t, remembered()).and("k2", successor()).and("k3", successor(), Revised{Content: new("Newer.")})
	merge := mergeOf(as(alice), "k2", "k3")
	merge.Read = []int64{1, 1}
	s.when(merge).refused(ErrPrecondition)
	merge.Read = []int64{1}
	s.when(merge).invalid("revisions")
	merge.Read = []int64{1, 2}
	s.when(merge).then(Merged{Items: merge.Items, DerivedFrom: []string{eventID(2), eventID(4)}, Reason: "the same"})
}

func TestAProposalIsClosedOnce(t *testing.T) {
	t.Parallel()
	var p State = Proposal{}
	for i, fact := range []Fact{ReviewProposed{Kind: Duplicate, Items: []string{"a", "b"}}, ReviewClosed{Outcome: OutcomeDistinct}} {
		next, err := p.Evolve(fact, EventMetadata{Version: int64(i) + 1})
		if err != nil {
			t.Fatal(err)
		}
		p = next
		if _, err := p.Evolve(ReviewProposed{Kind: Duplicate}, EventMetadata{Version: 3}); err == nil {
			t.Error("it was proposed twice")
		}
	}
	if _, err := p.Evolve(ReviewClosed{Outcome: OutcomeDismissed}, EventMetadata{Version: 3}); err == nil {
		t.Error("it was closed twice")
	}
}

func TestStewardsMergeWithoutChangingTexts(t *testing.T) {
	t.Parallel()
	maintainer := as(bob, project)
	maintainer.Maintains = []Entity{project}
	begun := func() *story { return given(t, remembered()).and("k2", successor()) }
	begun().when(mergeOf(as(bob, project), "k2")).refused(ErrForbidden)
	begun().when(mergeOf(maintainer, "k2")).then(Merged{Items: []string{"k2"}, DerivedFrom: []string{eventID(2)}, Reason: "the same"})
	rewriting := mergeOf(maintainer, "k2")
	rewriting.Changes.Content = new("Mine.")
	begun().when(rewriting).refused(ErrForbidden)
	begun().when(Unmerge{Target: on(maintainer), Merge: "m", Changes: rewriting.Changes}).refused(ErrForbidden)
	private := successor()
	private.Owner, private.Scopes = bob, []Scope{bob.Scope()}
	away := Merge{Target: Target{By: maintainer, ID: "k2"}, Items: []string{itemID}}
	given(t, remembered()).and("k2", private).when(away).refused(ErrForbidden)
	undo := Unmerge{Target: on(as(alice)), Merge: "m", Merged: Merged{Items: []string{"k2"}}}
	given(t, remembered()).and("k2", private, Superseded{By: itemID}).
		when(undo).then(Unmerged{Merge: "m", Items: []string{"k2"}})
	s := given(t, remembered(), Superseded{By: "k2"}).and("k2", successor())
	s.when(Restore{Target: on(maintainer)}).refused(ErrForbidden)
	s.when(Restore{Target: on(maintainer), Successor: "k3"}).thenNothing()
	s.when(Restore{Target: on(maintainer), Successor: "k2"}).then(Restored{})
}
