package domain_test

import (
	"testing"

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
		Merged{Items: []string{"k2"}, Helpful: 1, Harmful: 1, DerivedFrom: []string{eventID(4)}, Revises: true, Reason: "the same"},
		Revised{Content: new("Both."), Reason: "the same"},
	).leaves("with the votes of both", func(k *Knowledge) bool {
		return k.Helpful == 2 && k.Harmful == 1 && k.Revision == 3 && len(k.DerivedFrom) == 1
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
	s := given(t, remembered(), Superseded{By: "k2"}).and("k2", successor())
	s.when(Restore{Target: on(maintainer)}).refused(ErrForbidden)
	s.when(Restore{Target: on(maintainer), Successor: "k3"}).thenNothing()
	s.when(Restore{Target: on(maintainer), Successor: "k2"}).then(Restored{})
}
