package domain_test

import (
	"testing"

	. "github.com/annals-kb/annals/domain"
)

func TestTheSourceOfAnItemHasAClass(t *testing.T) {
	t.Parallel()
	session := as(alice)
	session.InSession = true
	server := Principal{Subject: SystemPrincipal().Subject, Authentication: "system"}
	for name, test := range map[string]struct {
		by   Principal
		item func(*Remembered)
		want Trust
	}{
		"a person":                       {as(alice), nil, FromPerson},
		"an admin":                       {administrator(), nil, FromPerson},
		"an agent for a user":            {onBehalfOf(as(bot), alice), nil, FromPersonalAgent},
		"a user for another":             {onBehalfOf(as(alice), bob), nil, FromPerson},
		"a session with a user's key":    {session, nil, FromPersonalAgent},
		"an agent":                       {as(bot), nil, FromAgent},
		"an agent for a project":         {onBehalfOf(as(bot, project), project), nil, FromAgent},
		"the server for a user":          {onBehalfOf(server, alice), nil, FromPersonalAgent},
		"an import":                      {as(alice), func(r *Remembered) { r.Source.Trust = FromImport }, FromImport},
		"a resource":                     {as(alice), func(r *Remembered) { r.ContextType = Resource }, FromOutside},
		"a URL":                          {as(bot), func(r *Remembered) { r.Source.URLs = []string{"https://x.example"} }, FromOutside},
		"a paper":                        {as(alice), func(r *Remembered) { r.Source.Category = "Paper" }, FromOutside},
		"experience":                     {as(alice), func(r *Remembered) { r.Source.Category = "exp" }, FromPerson},
		"an imported resource":           {as(alice), func(r *Remembered) { r.ContextType, r.Source.Trust = Resource, FromImport }, FromOutside},
		"nobody raises it":               {as(bot), func(r *Remembered) { r.Source.Trust = FromPerson }, FromAgent},
		"a directory of resources":       {administrator(), func(r *Remembered) { r.Text.URI = "viking://resources/a.md" }, FromOutside},
		"an agent, as an import that is": {as(bot), func(r *Remembered) { r.Source.Trust = FromImport }, FromImport},
	} {
		c, err := remember(test.by, func(c *Remember) {
			if test.item != nil {
				test.item(&c.Knowledge)
			}
		}).Complete()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s := given(t).when(c)
		if s.err != nil {
			t.Fatalf("%s: %v", name, s.err)
		}
		if got := s.facts[0].(Remembered).Source.Trust; got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestTheClassOfAnEarlierItemFollowsFromWhatIsKnown(t *testing.T) {
	t.Parallel()
	for want, k := range map[Trust]Knowledge{
		FromPerson:        {Owner: alice},
		FromPersonalAgent: {Owner: alice, Source: Source{AgentID: "coder"}},
		FromAgent:         {Owner: bot},
		FromOutside:       {Owner: alice, Class: Class{ContextType: Resource}},
		FromImport:        {Owner: bot, Source: Source{Trust: FromImport}},
	} {
		if got := k.Trust(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestAChangeOnlyLowersTheClass(t *testing.T) {
	t.Parallel()
	text := func(by Principal) Revise { return revise(by, func(c *Revise) { c.Changes.Task = new("x") }) }
	agent := onBehalfOf(as(bot), alice)
	s := given(t, remembered()).when(text(agent)).then(Revised{Task: new("x"), Reclassed: Reclassed{Trust: FromPersonalAgent}})
	is := func(want Trust) func(*Knowledge) bool { return func(k *Knowledge) bool { return k.Trust() == want } }
	s.leaves("an agent's", is(FromPersonalAgent))
	again := text(as(alice))
	again.Changes.Task = new("y")
	s.when(again).then(Revised{Task: new("y")}).leaves("still an agent's", is(FromPersonalAgent))
	summary := revise(administrator(), func(c *Revise) { c.Changes.Abstract = new("short") })
	summary.By.Subject, summary.By.Authentication = SystemPrincipal().Subject, "system"
	given(t, remembered()).when(summary).then(Revised{Abstract: new("short")})

	outside := successor()
	outside.Source.Trust = FromOutside
	given(t, remembered()).and("k2", outside).when(Merge{Target: on(as(alice)), Items: []string{"k2"}}).
		leavesTrust(FromOutside)
}

// leavesTrust expects a class after the command.
func (s *story) leavesTrust(want Trust) {
	s.t.Helper()
	if s.err != nil {
		s.t.Fatal(s.err)
	}
	if got := s.and(s.about, s.facts...).Knowledge(s.about).Trust(); got != want {
		s.t.Errorf("got %s, want %s", got, want)
	}
}
