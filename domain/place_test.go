package domain_test

import (
	"testing"

	. "github.com/annals-kb/annals/domain"
)

func TestASpaceIsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	at := func(uri string) func(*Remember) {
		return func(c *Remember) { c.ID, c.Knowledge.Text.URI = "another", uri }
	}
	const alices, bots = "viking://user/alice/notes/x.md", "viking://agent/bot/notes/x.md"
	for uri, mine := range map[string][]Principal{
		alices:                           {as(alice), administrator(), service(), onBehalfOf(as(bot), alice)},
		bots:                             {as(bot), administrator(), service(), onBehalfOf(as(bot), alice)},
		"viking://user/alice":            {as(alice)},
		"viking://resources/x.md":        {as(alice), as(eve)},
		"viking://agent/memories/x.md":   {as(alice), as(eve)},
		"viking://agent/skills/x/a.md":   {as(eve)},
		"viking://session/alice/s1/x.md": {as(alice)},
	} {
		for _, by := range mine {
			if given(t).when(remember(by, at(uri))).err != nil {
				t.Errorf("%+v may not place something at %s", by, uri)
			}
		}
	}
	for uri, others := range map[string][]Principal{
		alices: {as(eve), as(bot), as(eve, project), onBehalfOf(service(), bob), onBehalfOf(administrator(), bob)},
		bots:   {as(eve), as(alice)},
	} {
		for _, by := range others {
			given(t).when(remember(by, at(uri))).refused(ErrForbidden)
			given(t).and("another", heldAt(uri)).when(remember(by, at(uri), func(c *Remember) { c.ID = "third" })).refused(ErrForbidden)
			own := remembered()
			own.Owner, own.Scopes = by.EffectiveSubject(), []Scope{by.EffectiveSubject().Scope()}
			given(t, own).when(Revise{Target: on(by), URI: uri}).refused(ErrForbidden)
		}
	}
}

// heldAt is an item of Alice's that lies somewhere.
func heldAt(uri string) Remembered {
	r := remembered()
	r.Text.URI = uri
	return r
}

// Whoever leaves the URI out does not learn who has the place that would have been its own.
func TestAPlaceThatFollowsFromTheRestIsNeverRefused(t *testing.T) {
	t.Parallel()
	mine := remember(as(alice), func(c *Remember) { c.ID = "k" })
	const first = "viking://user/alice/memories/skills/k"
	story := given(t).and("x", heldAt(first+".md")).and("y", heldAt(first+"@2.md")).when(mine)
	if story.err != nil {
		t.Fatal(story.err)
	}
	if got, want := story.facts[0].(Remembered).Text.URI, first+"@3.md"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
