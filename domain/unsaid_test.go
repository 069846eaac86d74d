package domain_test

import (
	"errors"
	"testing"

	. "github.com/annals-kb/annals/domain"
)

func TestTheSameTextIsRefusedInItsAudience(t *testing.T) {
	t.Parallel()
	colleague := as(bob, project)
	for name, c := range map[string]struct {
		after  []Fact // the first item
		by     Principal
		change func(*Remember)
		want   error
	}{
		"the same":           {nil, colleague, func(*Remember) {}, ErrSimilar},
		"reported":           {nil, colleague, func(c *Remember) { c.OnSimilar = ReportSimilar }, nil},
		"for another task":   {nil, colleague, func(c *Remember) { c.Knowledge.Text.Task = "other" }, nil},
		"what to avoid":      {nil, colleague, func(c *Remember) { c.Knowledge.Polarity = Negative }, nil},
		"a skill":            {nil, colleague, func(c *Remember) { c.Knowledge.ContextType = Skill }, nil},
		"elsewhere":          {nil, colleague, func(c *Remember) { c.Knowledge.Scopes = []Scope{bob.Scope()} }, nil},
		"known to everybody": {[]Fact{Rescoped{Scopes: []Scope{Public}}}, colleague, func(*Remember) {}, ErrSimilar},
		"forgotten":          {[]Fact{Deleted{}}, administrator(), func(*Remember) {}, nil},
		"superseded":         {[]Fact{Superseded{By: "other"}}, colleague, func(*Remember) {}, nil},
		"shared no more":     {[]Fact{Rescoped{Scopes: []Scope{alice.Scope()}}}, colleague, func(*Remember) {}, nil},
	} {
		again := remember(c.by, func(r *Remember) {
			r.ID, r.OnSimilar = "again", RefuseSimilar
			r.Knowledge.Scopes = []Scope{project.Scope()}
			r.Knowledge.Text.Task, r.Knowledge.Text.Content = remembered().Text.Task, remembered().Text.Content
			c.change(r)
		})
		s := given(t, remembered()).and(itemID, c.after...).when(again)
		if !errors.Is(s.err, c.want) {
			t.Errorf("%s: got %v, want %v", name, s.err, c.want)
		}
	}
}

func TestAVoteIsForTheSameTextOfTheSameKindAndReaders(t *testing.T) {
	t.Parallel()
	r := remembered()
	for name, c := range map[string]struct {
		change func(*Remember)
		known  bool
	}{
		"the same":          {func(*Remember) {}, true},
		"another kind":      {func(c *Remember) { c.Knowledge.Category = CategoryTools }, false},
		"for fewer":         {func(c *Remember) { c.Knowledge.Scopes = []Scope{alice.Scope()} }, false},
		"another statement": {func(c *Remember) { c.Knowledge.Text.Content += " Always." }, false},
	} {
		again := remember(as(alice, project), func(again *Remember) {
			again.ID, again.OnSimilar = "again", VoteSimilar
			again.Knowledge.Scopes, again.Knowledge.Category, again.Knowledge.Type = r.Scopes, r.Category, r.Type
			again.Knowledge.Text.Task, again.Knowledge.Text.Content = r.Text.Task, r.Text.Content
			c.change(again)
		})
		s := given(t, r).when(again)
		known, is := errors.AsType[*Known](s.err)
		if is != c.known || is && known.Item.ID != itemID {
			t.Errorf("%s: got %v", name, s.err)
		}
	}
}
