package domain_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "github.com/annals-kb/annals/domain"
)

// book is a directory whose facts are decided and folded.
type book struct {
	DecisionContext
	t       *testing.T
	streams map[string]Stream
	names   map[string]Fact
}

func newBook(t *testing.T) *book {
	return &book{t: t, streams: map[string]Stream{}, names: map[string]Fact{}}
}

func (b *book) Stream(name string) Stream {
	s, found := b.streams[name]
	switch {
	case !found && name == VerificationStream:
		return Stream{Name: name, State: Verification{}}
	case !found:
		return Stream{Name: name, State: MemberEntry{}}
	}
	return s
}

func (b *book) NewestFact(stream, name, _ string) Fact { return b.names[stream+" "+name] }

// try decides a command and returns how many facts it leads to.
func (b *book) try(c Command) (int, error) {
	b.t.Helper()
	if v, validates := c.(interface{ Validate() error }); validates {
		if err := v.Validate(); err != nil {
			return 0, err
		}
	}
	facts, err := c.Decide(b, monday)
	for _, f := range facts {
		s := b.Stream(c.Stream())
		if err := s.Evolve(f, EventMetadata{Version: s.Version + 1, RecordedAt: monday}); err != nil {
			b.t.Fatal(err)
		}
		b.streams[s.Name], b.names[s.Name+" "+f.Name()] = s, f
	}
	return len(facts), err
}

func (b *book) do(all ...Command) *book {
	b.t.Helper()
	for _, c := range all {
		if _, err := b.try(c); err != nil {
			b.t.Fatalf("%+v: %v", c, err)
		}
	}
	return b
}

func (b *book) groups(member Entity) (groups []Entity) {
	b.t.Helper()
	of, err := BelongingsOf(member, nil, func(entities []Entity) (map[Entity]MemberEntry, error) {
		found := map[Entity]MemberEntry{}
		for _, e := range entities {
			found[e] = StateOf[MemberEntry](b, DirectoryStream(e))
		}
		return found, nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, one := range of.All {
		groups = append(groups, one.Group)
	}
	return groups
}

func about(e Entity) OfDirectory { return OfDirectory{By: administrator(), Member: e} }

func put(e Entity) PutMember { return PutMember{OfDirectory: about(e)} }

func join(e, group Entity) JoinGroup { return JoinGroup{OfDirectory: about(e), Group: group} }

const (
	pay     Entity = "team:pay"
	retries Entity = "project:retries"
)

func payments(t *testing.T) *book {
	return newBook(t).do(
		put(alice), put(bob), put(pay), put(retries), put(acme), join(pay, acme), join(retries, pay), join(alice, retries),
	)
}

func TestAMemberBelongsToTheGroupsOfItsGroups(t *testing.T) {
	t.Parallel()
	b := payments(t)
	if diff := cmp.Diff(b.groups(alice), []Entity{retries, pay, acme}); diff != "" {
		t.Error(diff)
	}
	b.do(DeactivateMember{OfDirectory: about(pay)})
	if diff := cmp.Diff(b.groups(alice), []Entity{retries}); diff != "" {
		t.Errorf("through a deactivated team: %s", diff)
	}
	b.do(DeactivateMember{OfDirectory: about(pay), Again: true}, DeactivateMember{OfDirectory: about(alice)})
	if got := b.groups(alice); got != nil {
		t.Errorf("deactivated, Alice belongs to %v", got)
	}
	b.do(DeactivateMember{OfDirectory: about(alice), Again: true}, LeaveGroup{OfDirectory: about(alice), Group: retries})
	if got := b.groups(alice); got != nil {
		t.Errorf("after she left, Alice belongs to %v", got)
	}
}

func TestGroupsBelongToEachOtherInOneDirection(t *testing.T) {
	t.Parallel()
	b := payments(t)
	for _, c := range []JoinGroup{join(acme, retries), join(pay, pay), join(acme, pay)} {
		if _, err := b.try(c); !errors.Is(err, ErrConflict) {
			t.Errorf("%s in %s: %v", c.Member, c.Group, err)
		}
	}
	above := acme
	for i := range 13 {
		next := Entity("org:" + string(rune('a'+i)))
		b.do(put(next), join(above, next))
		above = next
	}
	b.do(put("team:sub"), put("org:top"), join(bob, retries))
	onTop := join(above, "org:top")
	onTop.Below = 15
	for _, c := range []JoinGroup{join("team:sub", retries), onTop} {
		if _, err := b.try(c); !errors.Is(err, ErrConflict) || len(b.groups(bob)) != 16 {
			t.Errorf("%s in %s: %v; Bob belongs to %v", c.Member, c.Group, err, b.groups(bob))
		}
	}
}

func TestTheSameFactIsNotRecordedTwice(t *testing.T) {
	t.Parallel()
	b := payments(t).do(PutMember{OfDirectory: about(alice), DisplayName: new("Alice")})
	for _, c := range []Command{
		put(alice),
		PutMember{OfDirectory: about(alice), DisplayName: new("Alice")},
		join(alice, retries),
		LeaveGroup{OfDirectory: about(bob), Group: pay},
		DeactivateMember{OfDirectory: about(bob), Again: true},
	} {
		if n, err := b.try(c); n != 0 || err != nil {
			t.Errorf("%+v: %d facts, %v", c, n, err)
		}
	}
	if n, err := b.try(PutMember{OfDirectory: about(alice), DisplayName: new("Alice B.")}); n != 1 || err != nil {
		t.Errorf("another name: %d facts, %v", n, err)
	}
}

func TestMaintainersKeepTheMembersOfTheirGroupAlone(t *testing.T) {
	t.Parallel()
	b := payments(t)
	by := func(e Entity) OfDirectory { return OfDirectory{By: as(e), Member: bob} }
	if _, err := b.try(JoinGroup{OfDirectory: by(alice), Group: retries}); !errors.Is(err, ErrForbidden) {
		t.Errorf("a member adds Bob: %v", err)
	}
	b.do(JoinGroup{OfDirectory: about(alice), Group: retries, Role: Maintainer})
	b.do(JoinGroup{OfDirectory: by(alice), Group: retries})
	if !slices.Contains(b.groups(bob), retries) {
		t.Error("Bob did not join")
	}
	for _, c := range []Command{
		JoinGroup{OfDirectory: by(alice), Group: pay}, DeactivateMember{OfDirectory: by(alice)}, PutMember{OfDirectory: by(alice)},
	} {
		if _, err := b.try(c); !errors.Is(err, ErrForbidden) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	b.do(LeaveGroup{OfDirectory: by(bob), Group: retries}) // by himself
}

func TestADirectoryCommandNamesEveryBadField(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	_, err := b.try(JoinGroup{OfDirectory: about("mia"), Group: bob, Role: "boss"})
	var invalid *Invalid
	if !errors.As(err, &invalid) || len(invalid.Problems) != 3 {
		t.Errorf("got %v", err)
	}
	for _, c := range []Command{join(alice, pay), DeactivateMember{OfDirectory: about(eve)}} {
		if _, err := b.try(c); !errors.Is(err, ErrNotFound) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	b.do(put(alice), put(acme))
	for i := range 100 {
		group := Entity("team:" + string(rune('a'+i/26)) + string(rune('a'+i%26)))
		b.do(put(group), join(alice, group))
	}
	if _, err := b.try(join(alice, acme)); !errors.Is(err, ErrConflict) {
		t.Errorf("one group too many: %v", err)
	}
	if _, err := b.try(DeactivateMember{OfDirectory: OfDirectory{
		By: Principal{Tenant: DefaultTenant, Subject: alice, Role: Admin}, Member: alice,
	}}); !errors.Is(err, ErrConflict) {
		t.Errorf("an admin deactivates herself: %v", err)
	}
}

func TestWhatIsWrittenCanBeReadByItsAuthor(t *testing.T) {
	entities := []Entity{alice, bob, bot, project, acme, "team:pay"}
	callers := []Principal{as(alice, project), service(), administrator(), as(bot, "team:pay"), auditor()}
	for _, p := range callers[:4] {
		delegated := onBehalfOf(p, alice)
		unlisted := delegated
		delegated.Memberships, delegated.Listed = []Entity{project}, true
		callers = append(callers, delegated, unlisted)
	}
	accepted, refused := 0, 0
	for _, by := range callers {
		for _, owner := range entities {
			for _, scope := range append(entities, Entity(Public)) {
				item := remembered()
				item.Owner, item.Scopes, item.Text.URI = owner, []Scope{Scope(scope)}, ""
				remember, err := Remember{By: by, ID: "other", Knowledge: item}.Complete()
				if err == nil {
					_, err = remember.Decide(given(t), monday)
				}
				after := &Knowledge{ID: "other", Version: 1, Standing: Standing{Status: Active}, Owner: owner, Scopes: item.Scopes}
				readable := by.MaySee(after)
				if err == nil && !readable {
					t.Errorf("%+v remembers for %s in %s and cannot read it", by, owner, scope)
				}
				if err == nil {
					accepted++
				} else if refused++; !errors.Is(err, ErrForbidden) {
					t.Errorf("%+v is refused with %v", by, err)
				}
				moved, err := Revise{Target: on(by), Owner: owner, Scopes: item.Scopes}.Decide(given(t, remembered()), monday)
				if err == nil && len(moved) > 0 && !readable {
					t.Errorf("%+v gives an item to %s in %s and cannot read it", by, owner, scope)
				}
			}
		}
	}
	if accepted == 0 || refused == 0 {
		t.Errorf("%d accepted, %d refused", accepted, refused)
	}
}
