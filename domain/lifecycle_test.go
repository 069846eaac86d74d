package domain_test

import (
	"errors"
	"strings"
	"testing"

	. "github.com/annals-kb/annals/domain"
)

func supersede(by Principal, successor string) Supersede {
	return Supersede{Target: on(by), Successor: successor, Reason: "newer"}
}

func successor() Remembered {
	r := remembered()
	r.Text.URI = "viking://user/alice/memories/preferences/k2.md"
	return r
}

func TestAnotherItemTakesItsPlace(t *testing.T) {
	t.Parallel()
	given(t, remembered()).and("k2", successor()).
		when(supersede(as(alice), "k2")).then(Superseded{By: "k2", Reason: "newer"}).
		leaves("superseded, a revision later", func(k *Knowledge) bool {
			return k.Status == IsSuperseded && k.SupersededBy == "k2" && k.Revision == 2
		}).
		when(supersede(as(alice), "k2")).thenNothing()
}

func TestWhatWasForgottenTakesNoPlaceAgain(t *testing.T) {
	t.Parallel()
	given(t, remembered(), Superseded{By: "k2"}).and("k2", successor(), Deleted{}).
		when(supersede(as(alice), "k2")).invalid("by")
}

func TestAnItemDoesNotSupersedeItself(t *testing.T) {
	t.Parallel()
	given(t, remembered()).when(supersede(as(alice), itemID)).invalid("by")
	given(t, remembered()).when(supersede(as(alice), "")).invalid("by")
}

func TestFollowingSuccessorsEnds(t *testing.T) {
	t.Parallel()
	given(t, remembered()).and("k2", successor(), Superseded{By: itemID}).
		when(supersede(as(alice), "k2")).refused(ErrConflict)
	// Longer circles are cut off as well: a successor must hold itself.
	given(t, remembered()).and("k2", successor(), Superseded{By: "k3"}).and("k3", successor(), Superseded{By: itemID}).
		when(supersede(as(alice), "k2")).refused(ErrConflict).
		when(supersede(as(alice), "k3")).refused(ErrConflict)
}

func TestASuccessorMayBeExchanged(t *testing.T) {
	t.Parallel()
	given(t, remembered(), Superseded{By: "k2"}).and("k2", successor(), Superseded{By: "k3"}).and("k3", successor()).
		when(supersede(as(alice), "k2")).thenNothing().
		when(supersede(as(alice), "k3")).then(Superseded{By: "k3", Reason: "newer"})
}

func TestASuccessorMustBeThere(t *testing.T) {
	t.Parallel()
	bobs := successor()
	bobs.Owner, bobs.Scopes = bob, []Scope{bob.Scope()}
	missing := given(t, remembered()).when(supersede(as(alice), "k2")).invalid("by").err
	invisible := given(t, remembered()).and("k2", bobs).when(supersede(as(alice), "k2")).invalid("by").err
	if missing.Error() != invisible.Error() {
		t.Errorf("got %q and %q, want the same sentence", missing, invisible)
	}
}

func TestOnlyWhoMaySeeThatASuccessorIsGoneIsToldSo(t *testing.T) {
	t.Parallel()
	shared := successor()
	shared.Owner, shared.Scopes = bob, []Scope{bob.Scope(), alice.Scope()}
	for what, story := range map[string]*story{
		"was forgotten":     given(t, remembered()).and("k2", successor(), Deleted{}),
		"was erased":        given(t, remembered()).and("k2", successor(), Erased{}),
		"no such knowledge": given(t, remembered()).and("k2", shared, Deleted{}),
	} {
		err := story.when(supersede(as(alice), "k2")).invalid("by").err
		if !strings.Contains(err.Error(), what) {
			t.Errorf("got %q, want that it says %q", err, what)
		}
		if invalid, is := errors.AsType[*Invalid](err); !is || !invalid.Problems[0].Missing {
			t.Errorf("%q does not say that it is missing", err)
		}
	}
}

func TestOnlyTheOwnerAndAdminsSupersedeDeleteAndRestore(t *testing.T) {
	t.Parallel()
	for _, command := range []func(Target) Command{
		func(to Target) Command { return Supersede{Target: to, Successor: "k2"} },
		func(to Target) Command { return Delete{Target: to} },
		func(to Target) Command { return Restore{Target: to} },
	} {
		story := given(t, remembered()).and("k2", successor())
		story.when(command(on(as(bob, project)))).refused(ErrForbidden)
		story.when(command(on(auditor()))).refused(ErrForbidden)
		story.when(command(on(as(eve)))).refused(ErrNotFound)
		story.when(command(Target{By: as(alice), ID: itemID, Revisions: []int64{7}})).refused(ErrPrecondition)
		if story.when(command(on(administrator()))); story.err != nil {
			t.Errorf("%T by an admin: %v", command(Target{}), story.err)
		}
	}
}

func TestForgettingHidesAndRestoringBringsBack(t *testing.T) {
	t.Parallel()
	given(t, remembered()).
		when(Restore{Target: on(as(alice))}).thenNothing().
		when(Delete{Target: on(as(alice)), Reason: "wrong"}).then(Deleted{Reason: "wrong"}).
		leaves("deleted", func(k *Knowledge) bool { return k.Status == IsDeleted && k.Revision == 2 }).
		when(Restore{Target: on(as(alice)), Reason: "right"}).then(Restored{Reason: "right"}).
		leaves("as before", func(k *Knowledge) bool {
			return k.Status == Active && k.Text.Content == remembered().Text.Content && k.Revision == 3
		})
}

func TestRestoringEndsASupersession(t *testing.T) {
	t.Parallel()
	given(t, remembered(), Superseded{By: "k2"}).
		when(Restore{Target: on(as(alice))}).then(Restored{}).
		leaves("active", func(k *Knowledge) bool { return k.Status == Active && k.SupersededBy == "" })
}

func TestWhatWasSupersededComesBackSupersededFromForgetting(t *testing.T) {
	t.Parallel()
	given(t, remembered(), Superseded{By: "k2"}, Deleted{}).
		when(Restore{Target: on(as(alice))}).then(Restored{}).
		leaves("superseded", func(k *Knowledge) bool {
			return k.Status == IsSuperseded && k.SupersededBy == "k2" && k.Revision == 4
		}).
		when(Restore{Target: on(as(alice))}).then(Restored{}).
		leaves("active", func(k *Knowledge) bool { return k.Status == Active && k.SupersededBy == "" })
	given(t, remembered(), Superseded{By: "k2"}, Restored{}, Deleted{}).
		when(Restore{Target: on(as(alice))}).then(Restored{}).
		leaves("active", func(k *Knowledge) bool { return k.Status == Active && k.SupersededBy == "" })
}

func TestAnItemWhoseURIWasTakenMeanwhileCannotComeBack(t *testing.T) {
	t.Parallel()
	squatter := successor()
	squatter.Text.URI = remembered().Text.URI
	given(t, remembered(), Deleted{}).and("k2", squatter).
		when(Restore{Target: on(as(alice))}).refused(ErrTaken)
	given(t, remembered(), Deleted{}).and("k2", squatter, Deleted{}).
		when(Restore{Target: on(as(alice))}).then(Restored{})
}

// everyChange is a command of each kind about the item.
func everyChange(by Principal) []Command {
	return []Command{
		Revise{Target: on(by), Changes: Revised{Task: new("x")}},
		vote(by, Helpful, "t"),
		RetractFeedback{Target: on(by), EventID: eventID(2)},
		stale(by, ""),
		Confirm{Target: on(by)},
		supersede(by, "k2"),
		Delete{Target: on(by)},
	}
}

func TestForgottenItemsAnswerGone(t *testing.T) {
	t.Parallel()
	story := given(t, remembered(), FoundHelpful{onTrace(alice, "t")}, Deleted{}).and("k2", successor())
	for _, command := range everyChange(as(alice)) {
		story.when(command).refused(ErrDeleted)
	}
	for _, command := range everyChange(as(bob, project)) {
		story.when(command).refused(ErrNotFound) // forgotten is for those who own it to know
	}
}

func TestErasedItemsAnswerErased(t *testing.T) {
	t.Parallel()
	story := given(t, remembered(), FoundHelpful{onTrace(alice, "t")}, Deleted{}, Erased{}).and("k2", successor())
	for _, command := range append(everyChange(as(alice)), Restore{Target: on(as(alice))}) {
		story.when(command).refused(ErrErased)
	}
	story.when(Restore{Target: on(as(bob, project))}).refused(ErrNotFound)
}

func TestAuditorsChangeNothing(t *testing.T) {
	t.Parallel()
	story := given(t, remembered(), FoundHelpful{onTrace("user:audit", "t")}).and("k2", successor())
	for _, command := range append(everyChange(auditor()), Restore{Target: on(auditor())}) {
		story.when(command).refused(ErrForbidden)
	}
	own := given(t, remembered(), FoundHelpful{onTrace("user:audit", "t")}, Transferred{Owner: "user:audit"}).and("k2", successor())
	for _, command := range everyChange(auditor()) {
		own.when(command).refused(ErrForbidden) // not even what is theirs
	}
}

func TestALegalHoldIsNotedAndDoesNotHinderForgetting(t *testing.T) {
	t.Parallel()
	given(t, remembered(), Held{ReasonCode: "litigation", Ticket: "L-1"}).
		leaves("held", func(k *Knowledge) bool { return k.Held }).
		when(Delete{Target: on(as(alice))}).then(Deleted{}).
		leaves("held", func(k *Knowledge) bool { return k.Held }).
		and(itemID, Released{}).
		leaves("released", func(k *Knowledge) bool { return !k.Held })
}

func TestErasingLeavesATombstone(t *testing.T) {
	t.Parallel()
	said := remembered()
	said.Source = Source{Name: "a blog", URLs: []string{"https://example.org/post"}, AgentID: "bot", TraceID: "t"}
	said.Text.Meta, said.Text.Abstract, said.Text.Overview = []byte(`{"a":1}`), "short", "long"
	said.Baseline = &Eval{Helpful: 3, HelpfulHistory: []Use{{Query: "secret"}}, HarmfulHistory: []Use{{Outcome: "secret"}}}
	voice := onTrace(bob, "t")
	voice.Query, voice.Outcome = "secret", "secret"
	given(t, said, FoundHelpful{voice}, ReportedStale{Reporter: bob, Reason: "secret"}, Erased{ReasonCode: "gdpr"}).
		leaves("without a word of anybody's", func(k *Knowledge) bool {
			empty := k.Text.Task+k.Text.Content+k.Text.Abstract+k.Text.Overview+k.Text.URI+k.Source.Name+k.Stale.Reason == "" &&
				k.Text.Tags == nil && k.Text.Meta == nil && k.Source.URLs == nil &&
				k.Baseline.HelpfulHistory == nil && k.Baseline.HarmfulHistory == nil
			for _, v := range k.Votes {
				empty = empty && v.Query == "" && v.Outcome == ""
			}
			for _, r := range k.Reports {
				empty = empty && r.Reason == ""
			}
			return empty
		}).
		leaves("with who, when and how often", func(k *Knowledge) bool {
			return k.Status == IsErased && k.Owner == alice && k.Helpful == 4 && k.Stale.Reporters == 1 &&
				k.Source.AgentID == "bot" && len(k.Votes) == 1 && k.Revision == 2
		})
	if said.Source.Name == "" || said.Baseline.HelpfulHistory == nil {
		t.Error("erasing the state must not touch the fact")
	}
}
