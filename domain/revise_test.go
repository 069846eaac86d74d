package domain_test

import (
	"encoding/json"
	"testing"

	. "github.com/annals-kb/annals/domain"
)

// revise asks for changes of the item.
func revise(by Principal, change func(*Revise)) Revise {
	c := Revise{Target: on(by)}
	change(&c)
	return c
}

func TestRevisingRecordsOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	was := remembered()
	given(t, was).when(revise(as(alice), func(c *Revise) {
		c.Changes = Revised{
			Reclassed: Reclassed{Type: new(was.Type), Polarity: new(was.Polarity), Category: new(CategoryProfile)},
			Task:      new(was.Text.Task), Content: new("Now Go."), Tags: new(was.Text.Tags),
		}
		c.Scopes = []Scope{was.Scopes[1], was.Scopes[0]} // a set: order is no change
		c.Owner = was.Owner
		c.URI = was.Text.URI
	})).then(Revised{Reclassed: Reclassed{Category: new(CategoryProfile)}, Content: new("Now Go.")}).
		leaves("revision 2", func(k *Knowledge) bool { return k.Revision == 2 && k.Text.Content == "Now Go." })
}

func TestRevisingIntoTheSameIsNothing(t *testing.T) {
	t.Parallel()
	was := remembered()
	was.Text.Meta = json.RawMessage(`{"a":1}`)
	given(t, was).when(revise(as(alice), func(c *Revise) {
		c.Changes = Revised{Content: new(was.Text.Content), Meta: new(json.RawMessage(`{"a": 1}`)), Abstract: new("")}
	})).thenNothing()
	given(t, was).when(revise(as(alice), func(*Revise) {})).thenNothing()
}

func TestAnEmptyValueClears(t *testing.T) {
	t.Parallel()
	was := remembered()
	was.Text.Meta = json.RawMessage(`{"a":1}`)
	was.Text.Abstract = "short"
	given(t, was).when(revise(as(alice), func(c *Revise) {
		c.Changes = Revised{
			Reclassed: Reclassed{Category: new(Category(""))},
			Task:      new(""), Abstract: new(""), Tags: new(Tags(nil)), Meta: new(json.RawMessage("null")),
		}
	})).then(Revised{
		Reclassed: Reclassed{Category: new(Category(""))},
		Task:      new(""), Abstract: new(""), Tags: new(Tags(nil)), Meta: new(json.RawMessage(nil)),
	}).leaves("cleared", func(k *Knowledge) bool {
		return k.Category == "" && k.Text.Task == "" && k.Text.Abstract == "" && len(k.Text.Tags) == 0 && len(k.Text.Meta) == 0
	})
}

func TestMetaIsKeptCompact(t *testing.T) {
	t.Parallel()
	given(t, remembered()).when(revise(as(alice), func(c *Revise) {
		c.Changes.Meta = new(json.RawMessage("{ \"a\" : [1, 2] }"))
	})).then(Revised{Meta: new(json.RawMessage(`{"a":[1,2]}`))})
}

func TestHalfACharacterOfMetaIsNone(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`"\ud800"`:               `"\ufffd"`,
		`"\uDC00\uD83D"`:         `"\ufffd\ufffd"`,
		`"\ud83d\ud83d\ude00"`:   `"\ufffd\ud83d\ude00"`,
		`"\\ud800 \\\ud800"`:     `"\\ud800 \\\ufffd"`,
		`"\u00e9 \n 😀 \ud7ff"`:   `"\u00e9 \n 😀 \ud7ff"`,
		`"\"\ud83d\"\ude00\/"`:   `"\"\ufffd\"\ufffd\/"`,
		`"\ud83d\ude00\uD83D\n"`: `"\ud83d\ude00\ufffd\n"`,
	} {
		c, err := remember(as(alice), func(c *Remember) { c.Knowledge.Text.Meta = json.RawMessage(`{"a":` + given + `}`) }).Complete()
		if got := string(c.Knowledge.Text.Meta); err != nil || got != `{"a":`+want+`}` {
			t.Errorf("%s: got %s, %v, want %s", given, got, err, want)
		}
	}
}

func TestContentCannotBeCleared(t *testing.T) {
	t.Parallel()
	given(t, remembered()).when(revise(as(alice), func(c *Revise) { c.Changes.Content = new(" \n") })).invalid("content")
	given(t, remembered()).when(revise(as(alice), func(c *Revise) { c.Scopes = []Scope{} })).invalid("scopes")
}

func TestOneCommandMaySayMoveShareAndHandOver(t *testing.T) {
	t.Parallel()
	given(t, remembered()).when(revise(as(alice, project), func(c *Revise) {
		c.Changes.Task = new("style")
		c.Scopes = []Scope{"project:456"}
		c.Owner = project
		c.URI = "viking://agent/memories/style.md"
		c.Visibility = Shared
	})).then(
		Revised{Task: new("style")},
		Rescoped{Scopes: []Scope{"project:456"}},
		Transferred{Owner: project},
		Moved{URI: "viking://agent/memories/style.md"},
	).leaves("shared within the project at revision 5", func(k *Knowledge) bool {
		return k.Revision == 5 && k.Version == 5 && k.Visibility() == Shared
	})
}

func TestVisibilityIsThatOfTheOutcome(t *testing.T) {
	t.Parallel()
	claim := func(v Visibility, change func(*Revise)) Revise {
		return revise(as(alice, project), func(c *Revise) { c.Visibility = v; change(c) })
	}
	given(t, remembered()).when(claim(Private, func(*Revise) {})).invalid("visibility")
	given(t, remembered()).when(claim("hidden", func(*Revise) {})).invalid("visibility")
	given(t, remembered()).when(claim(Shared, func(*Revise) {})).thenNothing()
	given(t, remembered()).when(claim(Private, func(c *Revise) { c.Scopes = []Scope{"user:alice"} })).
		then(Rescoped{Scopes: []Scope{"user:alice"}})
	given(t, remembered(), Rescoped{Scopes: []Scope{"user:alice"}}).
		when(claim(Private, func(c *Revise) { c.Owner = project })).invalid("visibility")
}

func TestAnItemHandedOverIsNoLongerPrivateToItsFormerOwner(t *testing.T) {
	t.Parallel()
	given(t, remembered(), Rescoped{Scopes: []Scope{"user:alice"}}).
		when(revise(as(alice, project), func(c *Revise) { c.Owner = project })).
		then(Transferred{Owner: project}).
		leaves("shared with Alice", func(k *Knowledge) bool { return k.Visibility() == Shared }).
		when(revise(as(alice), func(c *Revise) { c.Changes.Task = new("x") })).refused(ErrForbidden)
}

func TestOnlyTheOwnerAndAdminsRevise(t *testing.T) {
	t.Parallel()
	change := func(by Principal) Revise {
		return revise(by, func(c *Revise) { c.Changes.Task = new("x") })
	}
	given(t, remembered()).when(change(as(bob, project))).refused(ErrForbidden)
	given(t, remembered()).when(change(auditor())).refused(ErrForbidden)
	given(t, remembered()).when(change(as(eve))).refused(ErrNotFound)
	given(t).when(change(as(alice))).refused(ErrNotFound)
	given(t, remembered()).when(change(administrator())).then(Revised{Task: new("x")})
	given(t, remembered()).when(change(service())).then(Revised{Task: new("x"), Reclassed: Reclassed{Trust: FromAgent}})
	given(t, remembered()).when(change(onBehalfOf(as(bot), alice))).
		then(Revised{Task: new("x"), Reclassed: Reclassed{Trust: FromPersonalAgent}})
	given(t, remembered(), Transferred{Owner: project}).when(change(as(bob, project))).then(Revised{Task: new("x")})
}

func TestInvisibleAndMissingAnswerAlike(t *testing.T) {
	t.Parallel()
	change := revise(as(eve), func(c *Revise) { c.Changes.Task = new("x") })
	invisible := given(t, remembered()).when(change).refused(ErrNotFound).err
	missing := given(t).when(change).refused(ErrNotFound).err
	if invisible.Error() != missing.Error() {
		t.Errorf("got %q and %q, want the same sentence", invisible, missing)
	}
}

func TestAnotherRevisionThanExpectedIsRefused(t *testing.T) {
	t.Parallel()
	expecting := func(revision int64) Revise {
		return revise(as(alice), func(c *Revise) { c.Revisions, c.Changes.Task = []int64{revision}, new("x") })
	}
	vote := FoundHelpful{Ballot{Voter: bob, Key: "trace:t", TraceID: "t"}}
	given(t, remembered(), vote).when(expecting(1)).then(Revised{Task: new("x")}).
		when(expecting(1)).refused(ErrPrecondition).
		when(expecting(3)).refused(ErrPrecondition).
		when(expecting(2)).thenNothing()
}

func TestRescopingAddsOnlyWhatOneMayPublishTo(t *testing.T) {
	t.Parallel()
	scopes := func(by Principal, scopes ...Scope) Revise {
		return revise(by, func(c *Revise) { c.Scopes = scopes })
	}
	given(t, remembered()).when(scopes(as(alice), "user:alice", "org:acme")).refused(ErrForbidden)
	given(t, remembered()).when(scopes(as(alice), Public)).refused(ErrForbidden)
	given(t, remembered()).when(scopes(as(alice), "project:456")).then(Rescoped{Scopes: []Scope{"project:456"}})
	given(t, remembered()).when(revise(as(alice), func(c *Revise) { c.Owner = bob })).refused(ErrForbidden)
}

func TestAnItemMovesOnlyWhereNobodyLives(t *testing.T) {
	t.Parallel()
	neighbour := remembered()
	neighbour.Text.URI = "viking://next/door"
	move := func(uri string) Revise { return revise(as(alice), func(c *Revise) { c.URI = uri }) }
	given(t, remembered()).and("k2", neighbour).when(move("viking://next/door")).refused(ErrTaken)
	given(t, remembered()).and("k2", neighbour, Deleted{}).when(move("viking://next/door")).then(Moved{URI: "viking://next/door"})
	given(t, remembered()).when(move("http://elsewhere")).invalid("uri")
}

func TestASupersededItemMayStillBeRevised(t *testing.T) {
	t.Parallel()
	given(t, remembered(), Superseded{By: "k2"}).
		when(revise(as(alice), func(c *Revise) { c.Changes.Task = new("x") })).then(Revised{Task: new("x")}).
		leaves("superseded", func(k *Knowledge) bool { return k.Status == IsSuperseded })
}

func TestEveryFactOfARevisionSaysWhyAndAReasonAloneIsNoChange(t *testing.T) {
	t.Parallel()
	given(t, remembered()).when(revise(as(alice), func(c *Revise) {
		c.Changes, c.Scopes, c.URI, c.Reason = Revised{Content: new("Now Go.")}, []Scope{Scope(alice)}, "viking://resources/go.md", "it changed"
	})).then(
		Revised{Content: new("Now Go."), Reason: "it changed"},
		Rescoped{Scopes: []Scope{Scope(alice)}, Reason: "it changed"},
		Moved{URI: "viking://resources/go.md", Reason: "it changed"},
	)
	given(t, remembered()).when(revise(as(alice), func(c *Revise) { c.Reason = "no reason" })).thenNothing()
}
