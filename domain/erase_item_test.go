package domain_test

import (
	"strings"
	"testing"

	. "github.com/annals-kb/annals/domain"
)

func erase(by Principal) Erase {
	return Erase{Target: on(by), ErasureReason: ErasureReason{
		ReasonCode: "gdpr-17", LegalBasis: "Art. 17(1)(b) GDPR", RequestedBy: "user:alice", Ticket: "DSR-1",
	}}
}

func erased(positions ...int64) Erased {
	fact := Erased{ReasonCode: "gdpr-17", LegalBasis: "Art. 17(1)(b) GDPR", RequestedBy: "user:alice", Ticket: "DSR-1"}
	for _, position := range positions {
		fact.Events = append(fact.Events, eventID(position))
	}
	return fact
}

func TestErasingNamesTheEventsThatLoseTheirText(t *testing.T) {
	t.Parallel()
	content := "another"
	given(t, remembered(), Revised{Content: &content}, Transferred{Owner: alice}).
		when(erase(as(alice))).then(erased(1, 2)).
		leaves("a tombstone", func(k *Knowledge) bool {
			return k.Status == IsErased && k.Text.Content == "" && k.Text.URI == "" && k.Owner == alice
		})
}

func TestWhatIsForgottenOrSupersededCanBeErased(t *testing.T) {
	t.Parallel()
	given(t, remembered(), Deleted{}).when(erase(as(alice))).then(erased(1))
	given(t, remembered(), Superseded{By: "k2"}).when(erase(as(alice))).then(erased(1))
}

func TestErasingAgainChangesNothing(t *testing.T) {
	t.Parallel()
	given(t, remembered()).when(erase(as(alice))).then(erased(1)).
		when(erase(as(alice))).thenNothing().
		when(erase(administrator())).thenNothing()
}

func TestOnlyTheOwnerInPersonAndAdminsErase(t *testing.T) {
	t.Parallel()
	theirs := remembered()
	theirs.Owner = project
	given(t, theirs).
		when(erase(as(alice, project))).refused(ErrForbidden). // mere membership
		when(erase(service())).refused(ErrForbidden).
		when(erase(administrator())).then(erased(1))
	story := given(t, remembered())
	story.when(erase(as(bob, project))).refused(ErrForbidden)
	story.when(erase(auditor())).refused(ErrForbidden)
	story.when(erase(onBehalfOf(as(bot), alice))).refused(ErrForbidden) // an agent for the owner
	story.when(erase(as(eve))).refused(ErrNotFound)
	story.when(Erase{Target: Target{By: as(alice), ID: itemID, Revisions: []int64{7}}}).refused(ErrPrecondition)
	story.when(Erase{Target: on(as(alice))}).
		then(Erased{ReasonCode: DefaultErasureReason, Events: []string{eventID(1)}})
}

func TestNobodyIsAskedToBeAProjectInPerson(t *testing.T) {
	t.Parallel()
	theirs := remembered()
	theirs.Owner = project
	story := given(t, theirs).when(erase(as(alice, project))).refused(ErrForbidden)
	if got, want := story.err.Error(), itemID+" may be erased by an admin"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	_, err := OrderErasure{By: as(alice, project), Of: string(project)}.Complete()
	if want := "what is " + string(project) + "'s may be erased by an admin"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestAnAgentErasesItsOwn(t *testing.T) {
	t.Parallel()
	own := remembered()
	own.Owner = bot
	given(t, own).when(erase(as(bot))).then(erased(1))
	given(t, own).when(erase(onBehalfOf(as(bot), alice))).refused(ErrForbidden)
}

func TestALegalHoldRefusesErasureAndSaysWhy(t *testing.T) {
	t.Parallel()
	hold := Hold{Target: on(administrator()), ReasonCode: "litigation", Ticket: "LEGAL-7"}
	held := Held{ReasonCode: "litigation", Ticket: "LEGAL-7"}
	story := given(t, remembered()).when(hold).then(held).when(hold).thenNothing()
	story.when(erase(administrator())).refused(ErrConflict)
	for _, want := range []string{"litigation", "LEGAL-7"} {
		if !strings.Contains(story.err.Error(), want) {
			t.Errorf("got %q, want it to say %s", story.err, want)
		}
	}
	story.when(Release{Target: on(administrator()), ReasonCode: "settled"}).then(Released{ReasonCode: "settled"}).
		leaves("free", func(k *Knowledge) bool { return !k.Held }).
		when(Release{Target: on(administrator()), ReasonCode: "settled"}).thenNothing().
		when(erase(as(alice))).then(erased(1))
	story.when(hold).refused(ErrErased)
}

func TestHoldsAreForAdmins(t *testing.T) {
	t.Parallel()
	story := given(t, remembered())
	story.when(Hold{Target: on(as(alice)), ReasonCode: "litigation"}).refused(ErrForbidden)
	story.when(Release{Target: on(as(alice)), ReasonCode: "settled"}).refused(ErrForbidden)
	story.when(Hold{Target: on(as(eve)), ReasonCode: "litigation"}).refused(ErrNotFound)
	story.when(Hold{Target: on(administrator())}).invalid("reason_code")
	story.when(Hold{Target: on(administrator()), ReasonCode: "a whole sentence", Ticket: "no no"}).invalid("reason_code", "ticket")
	given(t, remembered(), Deleted{}).
		when(Hold{Target: on(administrator()), ReasonCode: "litigation"}).then(Held{ReasonCode: "litigation"})
}

func TestGroundsAreWords(t *testing.T) {
	t.Parallel()
	bad := erase(as(alice))
	bad.ReasonCode, bad.LegalBasis, bad.RequestedBy = "two words", strings.Repeat("§", 201), strings.Repeat("x", 201)
	given(t, remembered()).when(bad).invalid("reason_code", "legal_basis", "requested_by")
}
