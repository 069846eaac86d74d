package domain_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "github.com/annals-kb/annals/domain"
)

// search asks something.
func search(by Principal, change ...func(*Search)) Search {
	s := Search{By: by, Text: "which language?"}
	for _, f := range change {
		f(&s)
	}
	return s
}

// within gives a context.
func within(entities ...Entity) func(*Search) {
	return func(s *Search) { s.Context = Context{Given: true, Entities: entities} }
}

func TestASearchAsksForTenByPriority(t *testing.T) {
	t.Parallel()
	s, err := search(as(alice)).Complete()
	if err != nil || s.Limit != 10 || s.Order != ByPriority {
		t.Errorf("got limit %d, order %q, %v", s.Limit, s.Order, err)
	}
}

func TestASearchSeesWhatItsContextNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		who  string
		s    Search
		want Audience
	}{
		{"a member", search(as(alice, project)), Audience{Scopes: []Scope{Public, "project:456", "user:alice"}}},
		{"in a context", search(as(alice, project), within(alice)), Audience{Scopes: []Scope{Public, "user:alice"}}},
		{"in an empty context", search(as(alice, project), within()), Audience{Scopes: []Scope{Public}}},
		{"naming one twice", search(as(alice), within(alice, alice)), Audience{Scopes: []Scope{Public, "user:alice"}}},
		{"an admin", search(administrator()), Audience{Everything: true, Near: []Scope{Public, administrator().Subject.Scope()}}},
		{"an auditor", search(auditor()), Audience{Everything: true, Near: []Scope{Public, auditor().Subject.Scope()}}},
		{"an admin in a context", search(administrator(), within(bob)), Audience{Scopes: []Scope{Public, "user:bob"}}},
		{"an admin for Bob", search(onBehalfOf(administrator(), bob)), Audience{Scopes: []Scope{Public, "user:bob"}}},
		{"a service", search(service()), Audience{Scopes: []Scope{Public, "agent:platform"}}},
	} {
		if diff := cmp.Diff(c.s.Audience(), c.want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", c.who, diff)
		}
	}
}

func TestAContextNamesOnlyWhomTheCallerReadsAs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s      Search
		denied []string
	}{
		{search(as(alice, project), within(alice, project)), nil},
		{search(as(alice), within(alice, bob, project)), []string{"user:bob", "project:456"}},
		{search(service(), within(bob, project, bot)), nil},
		{search(onBehalfOf(service(), bob), within(bob, project, bot)), nil},
		{search(onBehalfOf(service(), bob), within(alice, project)), []string{"user:alice"}},
		{search(onBehalfOf(as(bot, project), alice), within(alice, bot, project)), nil},
		{search(onBehalfOf(as(bot), alice), within(project)), []string{"project:456"}},
		{search(auditor(), within(bob, acme)), nil},
		{search(onBehalfOf(auditor(), alice), within(acme)), []string{"org:acme"}},
	} {
		_, err := c.s.Complete()
		if (err == nil) != (c.denied == nil) || err != nil && !errors.Is(err, ErrForbidden) {
			t.Errorf("%s within %v: got %v", c.s.By.Role, c.s.Context.Entities, err)
		}
		who := string(c.s.By.Subject)
		if c.s.By.OnBehalfOf != "" { // it is the key that acts which lacks them
			who += " on behalf of " + string(c.s.By.OnBehalfOf)
		}
		if want := who + " may not search as " + strings.Join(c.denied, ", "); err != nil && err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}

func TestASearchNamesEveryBadField(t *testing.T) {
	t.Parallel()
	bad := func(fields []string, change ...func(*Search)) {
		t.Helper()
		_, err := search(as(alice), change...).Complete()
		if got := badFields(err); !slices.Equal(got, fields) {
			t.Errorf("bad fields %v, want %v", got, fields)
		}
	}
	bad(nil, func(s *Search) { s.Limit, s.MinScore, s.Order = 100, new(1.0), ByScore })
	bad(nil, func(s *Search) { s.Text, s.Vector = "", []float32{1, 0} })
	bad(nil, func(s *Search) { s.Text = han(8000) })
	bad(nil, func(s *Search) { s.Text = han(8001) })
	long, err := search(as(alice), func(s *Search) { s.Text = "first" + han(9000) + "last" }).Complete()
	if err != nil || long.Warning == "" || !strings.HasPrefix(long.Text, "first") || !strings.HasSuffix(long.Text, "last") {
		t.Errorf("a long question becomes %.20s…, with %q, %v", long.Text, long.Warning, err)
	}
	bad([]string{"query"}, func(s *Search) { s.Text = " \n" })
	bad([]string{"limit"}, func(s *Search) { s.Limit = 101 })
	bad([]string{"limit"}, func(s *Search) { s.Limit = -1 })
	bad([]string{"min_score"}, func(s *Search) { s.MinScore = new(1.0001) })
	bad([]string{"min_score"}, func(s *Search) { s.MinScore = new(math.NaN()) })
	bad([]string{"level"}, func(s *Search) { s.Level = new(Level(3)) })
	bad(nil, func(s *Search) { s.Level = new(Abstract) })
	bad([]string{"vector"}, func(s *Search) { s.Vector = []float32{float32(math.Inf(1))} })
	bad([]string{"query", "vector", "limit", "min_score", "order", "context[1]", "types", "scope"}, func(s *Search) {
		s.Text, s.Vector, s.Limit, s.MinScore, s.Order = "\x00", []float32{float32(math.NaN())}, 1000, new(-1.0), "random"
		s.Context = Context{Given: true, Entities: []Entity{alice, "nobody"}}
		s.Filter.Types, s.Filter.Scope = []Type{Plan, "novel"}, "everyone"
	})
}

func TestALevelBringsAlongItsText(t *testing.T) {
	t.Parallel()
	long := Text{Abstract: "a", Overview: "o", Content: "c"}
	for _, c := range []struct {
		level Level
		said  Text
		want  Text
	}{
		{Abstract, long, Text{Content: "a"}},
		{Overview, long, Text{Content: "o"}},
		{Detail, long, long},
		{Abstract, Text{Content: "short"}, Text{Content: "short"}},
		{Overview, Text{Abstract: "a", Content: "short"}, Text{Content: "short"}},
	} {
		k := Knowledge{Text: c.said}
		c.level.Trim(&k)
		if diff := cmp.Diff(k.Text, c.want); diff != "" {
			t.Errorf("level %d of %+v (-got +want):\n%s", c.level, c.said, diff)
		}
	}
}

func TestAPrefixOfURIsIsOne(t *testing.T) {
	t.Parallel()
	for prefix, bad := range map[string]int{"viking://": 0, "viking://user/1": 0, "": 0, "user/1": 1, "viking:/": 1} {
		_, err := Search{By: as(alice), Text: "x", Filter: Filter{URIPrefix: prefix}}.Complete()
		if got := len(badFields(err)); got != bad {
			t.Errorf("%q: %d bad fields, want %d: %v", prefix, got, bad, err)
		}
	}
}
