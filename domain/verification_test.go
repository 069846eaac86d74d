package domain_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "github.com/annals-kb/annals/domain"
)

func policy(by Principal, scope Scope, of Type, days int, verifier Entity) SetPolicy {
	return SetPolicy{
		OfPolicy: OfPolicy{By: by, PolicyKey: PolicyKey{Scope: scope, Type: of}}, EveryDays: days, Verifier: verifier,
	}
}

func TestTheMostSpecificPolicyCounts(t *testing.T) {
	t.Parallel()
	b := payments(t).do(
		policy(administrator(), "", "", 400, ""), policy(administrator(), "", Plan, 300, ""),
		policy(administrator(), pay.Scope(), "", 200, alice), policy(administrator(), acme.Scope(), "", 90, ""),
		policy(administrator(), pay.Scope(), Plan, 500, ""),
	)
	v := StateOf[Verification](b, VerificationStream)
	for _, c := range []struct {
		scopes []Scope
		of     Type
		days   int
	}{
		{[]Scope{"public"}, Tool, 400},
		{[]Scope{"public"}, Plan, 300},
		{[]Scope{pay.Scope()}, Tool, 200},
		{[]Scope{pay.Scope(), acme.Scope()}, Tool, 90}, // the shortest of several scopes
		{[]Scope{acme.Scope(), pay.Scope()}, Plan, 500},
	} {
		if got, found := v.For(c.scopes, c.of); !found || got.EveryDays != c.days {
			t.Errorf("%v %s: %d days, want %d", c.scopes, c.of, got.EveryDays, c.days)
		}
	}
	b.do(RemovePolicy{OfPolicy{By: administrator()}})
	if _, found := StateOf[Verification](b, VerificationStream).For([]Scope{"public"}, Tool); found {
		t.Error("a removed policy counts")
	}
	if n, err := b.try(policy(administrator(), pay.Scope(), "", 200, alice)); n != 0 || err != nil {
		t.Errorf("the same policy again: %d facts, %v", n, err)
	}
	if _, err := b.try(RemovePolicy{OfPolicy{By: administrator()}}); !errors.Is(err, ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
}

func TestAVerifierReadsTheScope(t *testing.T) {
	t.Parallel()
	b := payments(t)
	for verifier, refused := range map[Entity]bool{
		alice: false, retries: false, pay: false, bob: true, acme: true, eve: true,
	} {
		_, err := b.try(policy(administrator(), pay.Scope(), "", 30, verifier))
		var invalid *Invalid
		if errors.As(err, &invalid) != refused || refused && len(invalid.Problems) != 1 {
			t.Errorf("%s: %v", verifier, err)
		}
	}
	_, err := b.try(policy(administrator(), "mars", "opinion", 0, "mia"))
	var invalid *Invalid
	if !errors.As(err, &invalid) || len(invalid.Problems) != 4 {
		t.Errorf("bad fields: %v", err)
	}
}

func TestMaintainersSetThePoliciesOfTheirGroupAlone(t *testing.T) {
	t.Parallel()
	b := payments(t).do(JoinGroup{OfDirectory: about(bob), Group: pay, Role: Maintainer})
	b.do(policy(as(bob), pay.Scope(), "", 30, ""))
	auditing := as(bob)
	auditing.Role = Auditor
	for _, c := range []Command{
		policy(auditing, pay.Scope(), "", 60, ""),
		JoinGroup{OfDirectory: OfDirectory{By: auditing, Member: alice}, Group: pay},
		LeaveGroup{OfDirectory: OfDirectory{By: auditing, Member: bob}, Group: pay},
		policy(as(bob), acme.Scope(), "", 30, ""), policy(as(bob), "", "", 30, ""), policy(as(bob), "public", "", 30, ""),
		policy(as(alice), pay.Scope(), "", 30, ""), policy(onBehalfOf(service(), bob), pay.Scope(), "", 30, ""),
		RemovePolicy{OfPolicy{By: as(alice), PolicyKey: PolicyKey{Scope: pay.Scope()}}},
	} {
		if _, err := b.try(c); !errors.Is(err, ErrForbidden) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	b.do(DeactivateMember{OfDirectory: about(pay)})
	if _, err := b.try(policy(as(bob), pay.Scope(), "", 90, "")); !errors.Is(err, ErrForbidden) {
		t.Errorf("of a deactivated group: %v", err)
	}
}

func TestStewardsConfirmAndSupersedeButDoNotRevise(t *testing.T) {
	t.Parallel()
	maintainer := as(bob, project)
	maintainer.Maintains = []Entity{project}
	verification, err := Verification{}.Evolve(PolicySet{Scope: project.Scope(), EveryDays: 30, Verifier: bot}, EventMetadata{})
	if err != nil {
		t.Fatal(err)
	}
	for verifier, steward := range map[Entity]Principal{"": maintainer, bot: as(bot, project)} {
		s := given(t, remembered()).and("k2", shared(project))
		s.policies = verification
		s.when(Confirm{Target: on(steward)}).then(Confirmed{Verifier: verifier}).
			when(supersede(steward, "k2")).then(Superseded{By: "k2", Reason: "newer"}).
			when(Delete{Target: on(steward)}).refused(ErrForbidden)
	}
	outsider := as(eve, project)
	auditing := auditor()
	auditing.Maintains = []Entity{project}
	for _, other := range []Principal{outsider, auditing} {
		s := given(t, remembered())
		s.policies = verification
		s.when(Confirm{Target: on(other)}).refused(ErrForbidden)
	}
	seen := shared(acme)
	seen.Scopes = append(seen.Scopes, project.Scope())
	left := given(t, seen) // the project, and still sees it
	left.policies = verification
	left.when(Confirm{Target: on(as(bot, acme))}).refused(ErrForbidden)
	outsider = as(bot) // the verifier, who does not see it
	s := given(t, remembered())
	s.policies = verification
	s.when(Confirm{Target: on(outsider)}).refused(ErrNotFound)
}

func shared(with Entity) Remembered {
	r := successor()
	r.Scopes = []Scope{alice.Scope(), with.Scope()}
	return r
}

func TestPoliciesAreKeptInOrder(t *testing.T) {
	t.Parallel()
	b := payments(t).do(policy(administrator(), pay.Scope(), "", 2, ""), policy(administrator(), "", Plan, 1, ""))
	var keys []PolicyKey
	for _, p := range StateOf[Verification](b, VerificationStream).Policies {
		keys = append(keys, p.PolicyKey)
	}
	if diff := cmp.Diff(keys, []PolicyKey{{Type: Plan}, {Scope: pay.Scope()}}); diff != "" {
		t.Error(diff)
	}
}
