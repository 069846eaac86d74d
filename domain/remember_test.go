package domain_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "github.com/annals-kb/annals/domain"
)

// remember asks for an item that says just enough.
func remember(by Principal, change ...func(*Remember)) Remember {
	c := Remember{By: by, ID: itemID, Knowledge: Remembered{
		Class: Class{Type: Strategy}, Text: Text{Content: "Read the manual first."},
	}}
	for _, f := range change {
		f(&c)
	}
	return c
}

func TestWhatNobodySaidIsFilledIn(t *testing.T) {
	t.Parallel()
	given(t).when(remember(as(alice))).then(Remembered{
		Class:  Class{Type: Strategy, ContextType: Memory, Polarity: Positive, Media: MediaText},
		Scopes: []Scope{alice.Scope()}, Owner: alice, Source: Source{Trust: FromPerson},
		Text: Text{
			Content: "Read the manual first.",
			URI:     "viking://user/alice/memories/skills/profile_001.md",
		},
	}).leaves("private, voted for once, half confident", func(k *Knowledge) bool {
		return k.Visibility() == Private && k.Helpful == 1 && k.Harmful == 0 && k.Confidence == 0.5 &&
			k.Revision == 1 && k.Version == 1 && k.Status == Active
	})
}

func TestAFailureToAvoidIsNegative(t *testing.T) {
	t.Parallel()
	c, err := remember(as(alice), func(c *Remember) { c.Knowledge.Category = CategoryAntipatterns }).Complete()
	if err != nil || c.Knowledge.Polarity != Negative {
		t.Errorf("got %q, %v, want negative", c.Knowledge.Polarity, err)
	}
}

func TestTheTypeFollowsFromCategoryAndContext(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		category Category
		context  ContextType
		want     Type
	}{
		{CategoryProfile, Memory, UserProfile},
		{CategoryPreferences, Memory, UserProfile},
		{CategoryEntities, Memory, Definition},
		{CategoryEvents, Memory, Usecase},
		{CategoryCases, Memory, Usecase},
		{CategoryPatterns, Memory, Plan},
		{CategoryTools, Memory, Tool},
		{CategorySkills, Memory, Strategy},
		{CategorySkills, Skill, Plan},
		{CategoryAntipatterns, Memory, Strategy},
		{"", Skill, Plan},
		{"", Resource, Definition},
		{"", Memory, ""},
	} {
		if got := TypeOf(c.category, c.context); got != c.want {
			t.Errorf("category %q of a %s: got %q, want %q", c.category, c.context, got, c.want)
		}
	}
	given(t).when(Remember{By: as(alice), ID: itemID, Knowledge: Remembered{Text: Text{Content: "x"}}}).invalid("type")
}

func TestTheURIFollowsFromOwnerKindAndCategory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		owner    Entity
		context  ContextType
		category Category
		kind     Type
		want     URI
	}{
		{alice, Memory, CategoryProfile, UserProfile, "viking://user/alice/memories/profile/x.md"},
		{alice, Memory, "", UserProfile, "viking://user/alice/memories/preferences/x.md"},
		{bot, Memory, "", Strategy, "viking://agent/bot/memories/skills/x.md"},
		{bot, Memory, CategoryCases, Tool, "viking://agent/bot/memories/cases/x.md"},
		{project, Memory, "", Tool, "viking://agent/memories/tools/x.md"},
		{"team:t", Memory, "", Definition, "viking://agent/memories/entities/x.md"},
		{acme, Memory, "", Plan, "viking://agent/memories/patterns/x.md"},
		{acme, Memory, "", Usecase, "viking://agent/memories/cases/x.md"},
		{alice, Skill, "", Plan, "viking://user/alice/skills/x/SKILL.md"},
		{bot, Skill, CategorySkills, Plan, "viking://agent/bot/skills/x/SKILL.md"},
		{acme, Skill, "", Plan, "viking://agent/skills/x/SKILL.md"},
		{alice, Resource, "", Definition, "viking://user/alice/resources/x.md"},
		{project, Resource, "", Definition, "viking://resources/x.md"},
	} {
		got := URIOf("x", c.owner, c.context, c.category, c.kind)
		if got != c.want || got.ContextType() != c.context {
			t.Errorf("%s, %s, %q, %s: got %s, a %s, want %s", c.owner, c.context, c.category, c.kind, got, got.ContextType(), c.want)
		}
	}
}

func TestVisibilityFollowsFromTheScopes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		owner  Entity
		scopes []Scope
		want   Visibility
	}{
		{alice, []Scope{"user:alice"}, Private},
		{project, []Scope{"project:456"}, Shared},
		{"team:web", []Scope{"team:web"}, Shared},
		{"agent:bot", []Scope{"agent:bot"}, Private},
		{alice, []Scope{"user:bob"}, Shared},
		{alice, []Scope{"user:alice", "project:456"}, Shared},
		{alice, []Scope{"team:t", "agent:bot"}, Shared},
		{alice, []Scope{"org:acme", "user:alice"}, OrgWide},
		{acme, []Scope{"org:acme"}, OrgWide},
		{alice, []Scope{"org:acme", "public"}, PublicWide},
		{alice, []Scope{"public", "user:alice"}, PublicWide},
	} {
		if got := VisibilityOf(c.scopes, c.owner); got != c.want {
			t.Errorf("%v of %s: got %s, want %s", c.scopes, c.owner, got, c.want)
		}
		claim := remember(administrator(), func(r *Remember) {
			r.Knowledge.Owner, r.Knowledge.Scopes, r.Visibility = c.owner, c.scopes, c.want
		})
		if _, err := claim.Complete(); err != nil {
			t.Errorf("%v of %s claimed as %s: %v", c.scopes, c.owner, c.want, err)
		}
	}
}

func TestAVisibilityThatContradictsTheScopesIsRefused(t *testing.T) {
	t.Parallel()
	claim := func(v Visibility, scopes ...Scope) Remember {
		return remember(administrator(), func(c *Remember) {
			c.Knowledge.Owner, c.Knowledge.Scopes, c.Visibility = alice, scopes, v
		})
	}
	given(t).when(claim(Private, "user:alice", "project:456")).invalid("visibility")
	given(t).when(claim(PublicWide)).invalid("visibility")
	given(t).when(claim("secret", "user:alice")).invalid("visibility")
	given(t).when(claim(OrgWide, "public")).invalid("visibility")
}

func TestATakenIDIsRefused(t *testing.T) {
	t.Parallel()
	given(t, remembered()).when(remember(as(alice))).refused(ErrTaken)
}

func TestATakenIDSaysTheSameWhetherTheItemIsVisibleOrNot(t *testing.T) {
	t.Parallel()
	visible := given(t, remembered()).when(remember(as(bob, project))).refused(ErrTaken).err
	invisible := given(t, remembered()).when(remember(as(eve))).refused(ErrTaken).err
	if visible.Error() != invisible.Error() {
		t.Errorf("got %q and %q, want the same sentence", visible, invisible)
	}
}

func TestAnIDIsReservedForEver(t *testing.T) {
	t.Parallel()
	given(t, remembered(), Deleted{}).when(remember(as(alice))).refused(ErrTaken)
	given(t, remembered(), Deleted{}).when(remember(as(eve))).refused(ErrTaken)
	given(t, remembered(), Erased{}).when(remember(as(alice))).refused(ErrErased)
	given(t, remembered(), Erased{}).when(remember(as(eve), orRevise)).refused(ErrTaken)
}

func orSame(c *Remember)   { c.OrSame = true }
func orRevise(c *Remember) { c.OrRevise = true }

// same asks for what [remembered] said already.
func same(by Principal, change ...func(*Remember)) Remember {
	return remember(by, append([]func(*Remember){func(c *Remember) { c.Knowledge = remembered() }}, change...)...)
}

func TestTheSameAgainIsNoConflictWhereTheCallerSaysSo(t *testing.T) {
	t.Parallel()
	alices := as(alice, project)
	given(t, remembered()).when(same(alices)).refused(ErrTaken)
	given(t, remembered()).when(same(alices, orSame)).thenNothing()
	given(t, remembered()).when(same(alices, orRevise)).thenNothing()
	given(t, remembered()).when(same(as(eve, alice, project), orSame)).thenNothing()
}

func TestWhoMayOnlyReadMaySayTheSameAgain(t *testing.T) {
	t.Parallel()
	again := func(by Principal, or func(*Remember)) Remember {
		return same(by, or, func(c *Remember) { c.Knowledge.Owner, c.Knowledge.Scopes, c.Knowledge.Text.URI = "", nil, "" })
	}
	given(t, remembered()).when(again(as(bob, project), orSame)).thenNothing()
	given(t, remembered()).when(again(as(bob, project), orRevise)).thenNothing()
	// Who may not even read learns nothing from guessing right.
	given(t, remembered()).when(again(as(eve), orSame)).refused(ErrTaken)
	given(t, remembered()).when(again(as(eve), orRevise)).refused(ErrTaken)
}

func TestTheSameInOtherWhiteSpaceIsTheSame(t *testing.T) {
	t.Parallel()
	first := remembered()
	first.Text.Meta = []byte(`{"a":1}`)
	given(t, first).when(same(as(alice, project), orSame, func(c *Remember) {
		c.Knowledge.Text.Meta = []byte("{ \"a\" : 1 }\n")
	})).thenNothing()
}

func TestOtherContentUnderATakenID(t *testing.T) {
	t.Parallel()
	other := func(c *Remember) { c.Knowledge.Text.Content = "Now Go." }
	alices := as(alice, project)
	given(t, remembered()).when(same(alices, other, orSame)).refused(ErrTaken)
	given(t, remembered()).when(same(alices, other, orRevise)).then(Revised{Content: new("Now Go.")})
	given(t, remembered()).when(same(as(bob, alice, project), other, orRevise)).then(Revised{Content: new("Now Go.")})
}

// What the fingerprint tells must be what deciding tells, for a change of each field.
func TestTheFingerprintTellsWhatIsTheSame(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(r *Remembered){
		"nothing":     func(*Remembered) {},
		"unnamed":     func(r *Remembered) { r.Scopes, r.Owner, r.Text.URI = nil, "", "" },
		"order":       func(r *Remembered) { slices.Reverse(r.Scopes) },
		"white space": func(r *Remembered) { r.Text.Meta = []byte("{ \"a\" :1}\n") },
		"type":        func(r *Remembered) { r.Type = Plan },
		"context":     func(r *Remembered) { r.ContextType = Skill },
		"category":    func(r *Remembered) { r.Category = "" },
		"polarity":    func(r *Remembered) { r.Polarity = Negative },
		"media":       func(r *Remembered) { r.Media = "image" },
		"task":        func(r *Remembered) { r.Text.Task = "" },
		"content":     func(r *Remembered) { r.Text.Content += "." },
		"moved":       func(r *Remembered) { r.Text.Task, r.Text.Content = "", r.Text.Task+r.Text.Content },
		"abstract":    func(r *Remembered) { r.Text.Abstract = "x" },
		"overview":    func(r *Remembered) { r.Text.Overview = "x" },
		"tags":        func(r *Remembered) { r.Text.Tags = Tags{"category": {"preference", "domain", "coding_style"}} },
		"meta":        func(r *Remembered) { r.Text.Meta = []byte(`{"a":2}`) },
		"scopes":      func(r *Remembered) { r.Scopes = r.Scopes[:1] },
		"owner":       func(r *Remembered) { r.Owner = project },
		"uri":         func(r *Remembered) { r.Text.URI += "x" },
	} {
		first, again := remembered(), remembered()
		first.Text.Meta, again.Text.Meta = []byte(`{"a":1}`), []byte(`{"a":1}`)
		s := given(t, first)
		change(&again)
		c, err := Remember{By: as(alice, project), ID: itemID, Knowledge: again, OrSame: true}.Complete()
		if err != nil {
			t.Fatal(name, err)
		}
		_, err = c.Decide(s, monday)
		k := s.item(itemID)
		if c.Repeats(k, k.Fingerprint(k.Text)) != (err == nil) {
			t.Errorf("%s: decided %v, which the fingerprint does not tell", name, err)
		}
	}
}

func TestRevisingByRememberingNeedsTheRightToChange(t *testing.T) {
	t.Parallel()
	given(t, remembered()).when(remember(as(bob, project), orRevise)).refused(ErrForbidden)
}

func TestRememberingOverAnItemKeepsTheAudienceOwnerAndURIThatItDoesNotName(t *testing.T) {
	t.Parallel()
	silent := func(c *Remember) {
		c.Knowledge.Owner, c.Knowledge.Scopes, c.Knowledge.Text.URI = "", nil, ""
		c.Knowledge.Category = CategoryProfile
	}
	given(t, remembered()).when(same(administrator(), silent, orRevise)).
		then(Revised{Reclassed: Reclassed{Category: new(CategoryProfile)}})
}

func TestRememberingOverAnItemChangesTheAudienceOwnerAndURIThatItNames(t *testing.T) {
	t.Parallel()
	given(t, remembered()).when(same(administrator(), orRevise, func(c *Remember) {
		c.Knowledge.Owner, c.Knowledge.Scopes, c.Knowledge.Text.URI = bob, []Scope{Public}, "viking://x"
	})).then(Rescoped{Scopes: []Scope{Public}}, Transferred{Owner: bob}, Moved{URI: "viking://x"})
}

func TestRememberingOverAnItemIsRefusedWhereItsAudienceIsNotTheOneClaimed(t *testing.T) {
	t.Parallel()
	private := func(c *Remember) { c.Knowledge.Scopes, c.Visibility = nil, Private }
	secret := func(c *Remember) { c.Knowledge.Text.Content = "between us" }
	for _, or := range []func(*Remember){orSame, orRevise} {
		given(t, remembered()).when(same(as(alice, project), private, or)).invalid("visibility")
	}
	given(t, remembered()).when(same(as(alice, project), private, orRevise, secret)).invalid("visibility")
	given(t, remembered(), Rescoped{Scopes: []Scope{"user:alice"}}).when(same(as(alice, project), private, orRevise, secret)).
		then(Revised{Content: new("between us")})
}

func TestRememberingOverAnItemHoldsForTheRevisionExpected(t *testing.T) {
	t.Parallel()
	expecting := func(revisions ...int64) func(*Remember) {
		return func(c *Remember) { c.Revisions = revisions }
	}
	other := func(c *Remember) { c.Knowledge.Text.Content = "Now Go." }
	alices := as(alice, project)
	given(t, remembered()).when(same(alices, other, orRevise, expecting(2))).refused(ErrPrecondition)
	given(t, remembered()).when(same(alices, orRevise, expecting(2))).refused(ErrPrecondition)
	given(t, remembered()).when(same(alices, other, orRevise, expecting(1, 2))).then(Revised{Content: new("Now Go.")})
	given(t).when(same(alices, orRevise, expecting(1))).refused(ErrPrecondition)
	elsewhere := func(c *Remember) { c.Knowledge.Owner, c.Knowledge.Scopes = eve, []Scope{Scope(eve)} }
	given(t, remembered()).when(same(as(eve), orRevise, elsewhere, expecting(2))).refused(ErrTaken) // who may not see it learns no revision
}

func TestAnItemNeverBecomesAnotherKindOfContext(t *testing.T) {
	t.Parallel()
	given(t, remembered()).when(same(as(alice, project), orRevise, func(c *Remember) {
		c.Knowledge.ContextType = Skill
	})).refused(ErrTaken)
	given(t, remembered()).when(same(as(alice, project), orSame, func(c *Remember) {
		c.Knowledge.Media = MediaImage
	})).refused(ErrTaken)
}

func TestAURIBelongsToOneLiveItem(t *testing.T) {
	t.Parallel()
	there := func(c *Remember) { c.ID, c.Knowledge.Text.URI = "another", remembered().Text.URI }
	given(t, remembered()).when(remember(as(alice), there)).refused(ErrTaken)
	given(t, remembered(), Superseded{By: "z"}).when(remember(as(alice), there)).refused(ErrTaken)
	asked, err := remember(as(alice), there).Complete()
	if err != nil {
		t.Fatal(err)
	}
	begun := asked.Knowledge
	begun.Source.Trust = FromPerson
	given(t, remembered(), Deleted{}).when(asked).then(begun)
}

func TestOneNamesOnlyOwnersAndScopesThatOneIsOrBelongsTo(t *testing.T) {
	t.Parallel()
	publish := func(by Principal, owner Entity, scopes ...Scope) Remember {
		return remember(by, func(c *Remember) { c.Knowledge.Owner, c.Knowledge.Scopes = owner, scopes })
	}
	given(t).when(publish(as(alice), bob)).refused(ErrForbidden)
	given(t).when(publish(as(alice), alice, "project:456")).refused(ErrForbidden)
	given(t).when(publish(as(alice), alice, "user:bob")).refused(ErrForbidden)
	given(t).when(publish(as(alice), alice, Public)).refused(ErrForbidden)
	given(t).when(publish(auditor(), "user:audit")).refused(ErrForbidden)

	may := func(c Remember) {
		t.Helper()
		if _, err := c.Complete(); err != nil {
			t.Errorf("%s as %s to %v: %v", c.By.Role, c.Knowledge.Owner, c.Knowledge.Scopes, err)
		}
	}
	may(publish(as(alice, project), project, "project:456", "user:alice"))
	may(publish(service(), bob, "user:bob", "team:x"))
	may(publish(administrator(), bob, "user:bob", Public))
	trusted := as(alice)
	trusted.PublishPublic = true
	may(publish(trusted, alice, Public))
}

// Over an item that is there one may keep the audience and the owner that somebody else gave it, as when revising it.
func TestRememberingOverAnItemAddsOnlyWhatOneMayPublishTo(t *testing.T) {
	t.Parallel()
	there := remembered()
	there.Owner, there.Scopes = project, []Scope{"project:456", Public}
	over := func(by Principal, owner Entity, scopes ...Scope) Remember {
		return remember(by, orRevise, func(c *Remember) {
			c.Knowledge.Type, c.Knowledge.Category, c.Knowledge.Text = there.Type, there.Category, there.Text
			c.Knowledge.Text.Content, c.Knowledge.Owner, c.Knowledge.Scopes = "other", owner, scopes
		})
	}
	member := as(alice, project)
	revised := Revised{Content: new("other")}
	given(t, there).when(over(member, project, "project:456", Public)).then(revised)
	given(t, there).when(over(member, project, "project:456")).then(revised, Rescoped{Scopes: []Scope{"project:456"}})
	given(t, there).when(over(member, project, "project:456", Public, "team:x")).refused(ErrForbidden)
	given(t, there).when(over(member, bob, "project:456", Public)).refused(ErrForbidden)
	given(t, there).when(over(as(bob), project, "project:456", Public)).refused(ErrForbidden)
	given(t, there).when(over(auditor(), project, "project:456", Public)).refused(ErrForbidden)
	given(t, there, Deleted{}).when(over(member, project, "project:456", Public)).refused(ErrTaken)
	given(t).when(over(member, project, "project:456", Public)).refused(ErrForbidden)
	given(t).when(over(member, bob, "project:456")).refused(ErrForbidden)
}

func TestARefusalToPublishNamesEveryEntityOnce(t *testing.T) {
	t.Parallel()
	_, err := remember(as(alice), func(c *Remember) {
		c.Knowledge.Owner, c.Knowledge.Scopes = bob, []Scope{"user:bob", "team:x", "user:alice"}
	}).Complete()
	if !errors.Is(err, ErrForbidden) || strings.Count(err.Error(), "user:bob") != 1 || !strings.Contains(err.Error(), "team:x") {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsRememberedOnSomebodysBehalfIsTheirs(t *testing.T) {
	t.Parallel()
	c, err := remember(onBehalfOf(as(bot), alice)).Complete()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.Knowledge.Scopes, []Scope{"user:alice"}); diff != "" || c.Knowledge.Owner != alice {
		t.Errorf("owner %s, scopes (-got +want):\n%s", c.Knowledge.Owner, diff)
	}
}

func TestAnImportedEvalIsWhereCountingBegins(t *testing.T) {
	t.Parallel()
	imported := remembered()
	imported.Baseline = &Eval{Helpful: 4, Harmful: 0, Confidence: 0.9}
	given(t, imported).when(GiveFeedback{Target: on(as(bob, project)), Verdict: Helpful, TraceID: "t"}).
		then(FoundHelpful{Ballot{Voter: bob, Key: "trace:t", TraceID: "t"}}).
		leaves("five voices, 0.9", func(k *Knowledge) bool { return k.Helpful == 5 && k.Confidence == 0.9 })
}
