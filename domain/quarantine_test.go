package domain_test

import (
	"testing"

	. "github.com/annals-kb/annals/domain"
)

// maintains is a member that maintains the project of the item.
func maintains(subject Entity) Principal {
	p := as(subject, project)
	p.Maintains = []Entity{project}
	return p
}

func proposed() Remembered {
	r := remembered()
	r.Proposed = true
	return r
}

func TestOnlyStewardsSeeWhatIsWithheld(t *testing.T) {
	t.Parallel()
	quarantined := []Fact{remembered(), ItemQuarantined{Containment: "c", Was: Active}}
	for name, want := range map[string]struct {
		by                    Principal
		quarantined, proposed bool
	}{
		"an admin":              {administrator(), true, true},
		"an auditor":            {auditor(), true, true},
		"a maintainer":          {maintains(bob), true, true},
		"the owner":             {as(alice), false, true},
		"an agent of the owner": {onBehalfOf(as(bot), alice), false, true},
		"a reader":              {as(bob, project), false, false},
		"a service":             {service(), false, false},
		"an admin for a reader": {onBehalfOf(administrator(), bob), false, false},
		"an admin for herself":  {onBehalfOf(administrator(), alice), false, true},
	} {
		if got := want.by.MaySee(given(t, quarantined...).item(itemID)); got != want.quarantined {
			t.Errorf("%s sees a quarantined item: %t", name, got)
		}
		if got := want.by.MaySee(given(t, proposed()).item(itemID)); got != want.proposed {
			t.Errorf("%s sees a proposed item: %t", name, got)
		}
	}
}

func TestAGroupsProposalIsSeenByItsAuthor(t *testing.T) {
	t.Parallel()
	k := &Knowledge{ID: itemID}
	item := proposed()
	item.Owner = project
	if err := k.Evolve(item, EventMetadata{Version: 1, Actor: bot, OnBehalfOf: bob}, HalfDiscounted()); err != nil {
		t.Fatal(err)
	}
	for by, want := range map[Entity]bool{bot: true, bob: true, alice: false} {
		if as(by, project).MaySee(k) != want {
			t.Errorf("%s sees the project's proposal: %t", by, !want)
		}
	}
}

func TestAcceptanceEndsAProposal(t *testing.T) {
	t.Parallel()
	given(t, proposed()).leaves("proposed", func(k *Knowledge) bool { return k.Status == IsProposed }).
		and(itemID, Accepted{By: bob}).
		leaves("active, a revision later", func(k *Knowledge) bool { return k.Status == Active && k.Revision == 2 })
}

func TestAQuarantineEndsWithTheStatusFromBefore(t *testing.T) {
	t.Parallel()
	for status, before := range map[Status][]Fact{
		Active:       {remembered()},
		IsSuperseded: {remembered(), Superseded{By: "k2"}},
		IsDeleted:    {remembered(), Deleted{}},
		IsProposed:   {proposed()},
	} {
		given(t, before...).
			when(Quarantine{Target: on(administrator()), Containment: "c", Reason: "poisoned"}).
			then(ItemQuarantined{Containment: "c", Was: status, Reason: "poisoned"}).
			leaves("quarantined", func(k *Knowledge) bool { return k.Status == IsQuarantined }).
			when(Quarantine{Target: on(administrator()), Containment: "d"}).thenNothing().
			when(Readmit{Target: on(administrator()), Containment: "d"}).thenNothing().
			when(Readmit{Target: on(administrator()), Containment: "c"}).
			then(Readmitted{Containment: "c", Status: status}).
			leaves("as before", func(k *Knowledge) bool { return k.Status == status })
	}
}

func TestTheOwnerOfAQuarantinedItemCanDoNothing(t *testing.T) {
	t.Parallel()
	s := given(t, remembered(), ItemQuarantined{Containment: "c", Was: Active}).and("k2", successor())
	for _, by := range []Principal{as(alice), service()} {
		for _, command := range []Command{
			Readmit{Target: on(by), Containment: "c"},
			Restore{Target: on(by)},
			Delete{Target: on(by)},
			Confirm{Target: on(by)},
			supersede(by, "k2"),
		} {
			s.when(command).refused(ErrNotFound)
		}
	}
	given(t, remembered()).when(Quarantine{Target: on(as(alice)), Containment: "c"}).refused(ErrForbidden)
}

func TestAStewardSupersedesOrErasesAQuarantinedItem(t *testing.T) {
	t.Parallel()
	s := given(t, remembered(), ItemQuarantined{Containment: "c", Was: Active}).and("k2", successor())
	for _, command := range []Command{
		Restore{Target: on(administrator())}, Delete{Target: on(administrator())}, Confirm{Target: on(administrator())},
	} {
		s.when(command).refused(ErrConflict)
	}
	s.when(supersede(maintains(bob), "k2")).then(Superseded{By: "k2", Reason: "newer"}).
		leaves("still withheld", func(k *Knowledge) bool { return k.Status == IsQuarantined && k.SupersededBy == "k2" }).
		when(Readmit{Target: on(maintains(bob)), Containment: "c"}).then(Readmitted{Containment: "c", Status: Active}).
		leaves("superseded", func(k *Knowledge) bool { return k.Status == IsSuperseded })
}

func TestAReadmittedItemWhosePlaceIsTakenGetsOneBesideIt(t *testing.T) {
	t.Parallel()
	given(t, remembered(), ItemQuarantined{Containment: "c", Was: Active}).and("k2", remembered()).
		when(Readmit{Target: on(administrator()), Containment: "c"}).
		then(Moved{URI: "viking://user/alice/memories/preferences/profile_001@2.md"}, Readmitted{Containment: "c", Status: Active})
}
