package domain_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "github.com/annals-kb/annals/domain"
)

// known is an item of an owner with these scopes.
func known(owner Entity, scopes ...Scope) *Knowledge {
	return &Knowledge{ID: "k", Version: 1, Standing: Standing{Status: Active}, Owner: owner, Scopes: scopes}
}

func TestWhoSeesWhat(t *testing.T) {
	t.Parallel()
	private := known(alice, "user:alice")
	shared := known(alice, "user:alice", "project:456")
	public := known(alice, Public)
	for _, c := range []struct {
		who                     string
		p                       Principal
		private, shared, public bool
	}{
		{"the owner", as(alice), true, true, true},
		{"a colleague", as(bob, project), false, true, true},
		{"a stranger", as(eve), false, false, true},
		{"an auditor", auditor(), true, true, true},
		{"an admin", administrator(), true, true, true},
		{"a service", service(), true, true, true},
		{"an agent for the owner", onBehalfOf(as(bot), alice), true, true, true},
		{"an agent of the project for a stranger", onBehalfOf(as(bot, project), eve), false, true, true},
		{"a service for the owner", onBehalfOf(service(), alice), true, true, true},
		{"a service for somebody else", onBehalfOf(service(), eve), false, true, true},
		{"an admin for somebody else", onBehalfOf(administrator(), eve), false, true, true},
		{"an auditor for somebody else", onBehalfOf(auditor(), eve), false, false, true},
	} {
		got := []bool{c.p.MaySee(private), c.p.MaySee(shared), c.p.MaySee(public)}
		if diff := cmp.Diff(got, []bool{c.private, c.shared, c.public}); diff != "" {
			t.Errorf("%s sees private, shared, public (-got +want):\n%s", c.who, diff)
		}
	}
	if administrator().MaySee(&Knowledge{ID: "never"}) {
		t.Error("an admin sees what was never remembered")
	}
}

func TestForgottenItemsAreSeenByOwnersAuditorsAndAdmins(t *testing.T) {
	t.Parallel()
	for _, status := range []Status{IsDeleted, IsErased} {
		k := known(alice, "user:alice", "project:456", Public)
		k.Status = status
		for _, p := range []Principal{as(alice), auditor(), administrator(), onBehalfOf(as(bot), alice)} {
			if !p.MaySee(k) {
				t.Errorf("%s: hidden from %s %s", status, p.Role, p.EffectiveSubject())
			}
		}
		for _, p := range []Principal{as(bob, project), as(eve), onBehalfOf(administrator(), eve)} {
			if p.MaySee(k) {
				t.Errorf("%s: shown to %s %s", status, p.Role, p.EffectiveSubject())
			}
		}
	}
}

func TestAnAgentKeepsItsOwnExperienceWhomeverItServes(t *testing.T) {
	t.Parallel()
	serving := onBehalfOf(as(bot, project), alice)
	if diff := cmp.Diff(serving.Entities(), []Entity{bot, project, alice}); diff != "" {
		t.Errorf("an agent for Alice (-got +want):\n%s", diff)
	}
	impersonating := onBehalfOf(as(bob, project), alice)
	if diff := cmp.Diff(impersonating.Entities(), []Entity{project, alice}); diff != "" {
		t.Errorf("Bob for Alice (-got +want):\n%s", diff)
	}
	if !serving.Entitled(bot) || impersonating.Entitled(bob) {
		t.Error("an agent stays itself on somebody's behalf, a user does not")
	}
	if diff := cmp.Diff(as(alice, alice, project).Entities(), []Entity{project, alice}); diff != "" {
		t.Errorf("duplicates (-got +want):\n%s", diff)
	}
}

func TestOnSomebodysBehalfOneIsToldWhomOneMayName(t *testing.T) {
	t.Parallel()
	open := OpenPrincipal()
	open.Subject, open.OnBehalfOf = "agent:coder", "user:alice"
	keyed := open
	keyed.Role, keyed.Authentication = Member, "key:abc"
	for want, by := range map[string]Principal{
		"name no other user than user:alice": open,
		"name only user:alice and what the key belongs to that acts: what user:alice belongs to by other keys does not count": keyed,
	} {
		said := Remembered{Class: Class{Type: Strategy}, Scopes: []Scope{"user:bob"}, Text: Text{Content: "x"}}
		_, err := Remember{By: by, ID: "a", Knowledge: said}.Complete()
		refused, is := errors.AsType[*Refusal](err)
		if !is || refused.Fix != want {
			t.Errorf("got %+v, want %s", refused, want)
		}
	}
}

func TestRolesReachNoFurtherThanTheyShould(t *testing.T) {
	t.Parallel()
	root := Principal{Subject: "user:r", Role: Root}
	for _, c := range []struct {
		p                       Principal
		administers, all, bobOK bool
	}{
		{as(alice), false, false, false},
		{service(), false, false, true},
		{auditor(), false, true, false},
		{administrator(), true, true, true},
		{root, true, true, true},
		{OpenPrincipal(), true, true, true},
	} {
		if got := c.p.Administers(); got != c.administers {
			t.Errorf("%s administers: %t", c.p.Role, got)
		}
		if got := c.p.SeesAll(); got != c.all {
			t.Errorf("%s sees all: %t", c.p.Role, got)
		}
		if got := c.p.Entitled(bob); got != c.bobOK {
			t.Errorf("%s acts as Bob: %t", c.p.Role, got)
		}
		if got := c.p.MayChange(known(bob, Public)); got != c.bobOK {
			t.Errorf("%s changes what is Bob's: %t", c.p.Role, got)
		}
	}
}
