package domain_test

import (
	"errors"
	"slices"
	"testing"

	. "github.com/annals-kb/annals/domain"
)

// unlessSaidSince asks for another item that says what the first one does, and has looked up to a position.
func unlessSaidSince(by Principal, position int64) Remember {
	return remember(by, func(c *Remember) {
		c.ID, c.UnlessSaidSince = "again", &position
		c.Knowledge.Text.Content = remembered().Text.Content
	})
}

func TestWhatWasSaidSinceSomebodyLookedIsNotSaidAgain(t *testing.T) {
	t.Parallel()
	other, same := "Python, please.", remembered().Text.Content
	colleague := as(bob, project)
	for name, c := range map[string]struct {
		after []Fact // the first item
		by    Principal
		since int64
		want  error
	}{
		"since":                   {nil, colleague, 0, ErrPrecondition},
		"before":                  {nil, colleague, 1, nil},
		"of which he sees none":   {nil, as(eve), 0, nil},
		"beyond the log":          {nil, colleague, 2, ErrInvalid},
		"revised meanwhile":       {[]Fact{Revised{Content: &other}}, colleague, 0, nil},
		"revised back":            {[]Fact{Revised{Content: &other}, Revised{Content: &same}}, colleague, 2, ErrPrecondition},
		"forgotten meanwhile":     {[]Fact{Deleted{}}, administrator(), 0, nil},
		"superseded meanwhile":    {[]Fact{Superseded{By: "other"}}, colleague, 0, nil},
		"shared no more":          {[]Fact{Rescoped{Scopes: []Scope{alice.Scope()}}}, colleague, 0, nil},
		"confirmed since":         {[]Fact{Confirmed{}}, colleague, 1, nil},
		"long ago":                {often(Confirmed{}, 10_000), colleague, 0, ErrPrecondition},
		"as long ago as is heard": {often(Confirmed{}, 10_000), colleague, 1, nil},
	} {
		s := given(t, remembered()).and(itemID, c.after...).when(unlessSaidSince(c.by, c.since))
		if !errors.Is(s.err, c.want) {
			t.Errorf("%s: got %v, want %v", name, s.err, c.want)
		}
	}
}

// often is a fact that happens so many times.
func often(fact Fact, times int) []Fact {
	return slices.Repeat([]Fact{fact}, times)
}

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
		"allowed":            {nil, colleague, func(c *Remember) { c.OnSimilar = AllowSimilar }, nil},
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
