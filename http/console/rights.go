package console

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// right is who may do an act to an item. The API decides; the page only leaves out what it would refuse.
type right int

const (
	readers  right = iota // who sees it, except for auditors
	changers              // its owner and who acts for it
	stewards              // changers, maintainers of a group that it is meant for, and the verifier of its policy
	erasers               // its owner in person, and admins
	keepers               // maintainers of a group that it is meant for, and admins
	admins
)

// state is what decides which acts an item has for a reader.
type state struct {
	Status string
	Owner  string // not known of a forgotten item, which only its owner and who reads everything see
	Held   bool
	Voted  bool // a vote of the reader counts
	Type   string
	Scopes []string
}

// stateOf is the state of an item that was read by itself.
func stateOf(p *page, k api.Knowledge) state {
	is := state{Status: k.Status, Owner: k.Owner, Held: k.Held, Type: k.Type, Scopes: k.Scopes}
	if k.Eval != nil {
		is.Voted = slices.ContainsFunc(slices.Concat(k.Eval.HelpfulHistory, k.Eval.HarmfulHistory),
			func(vote api.VoteRecord) bool { return vote.By == voter(p) })
	}
	return is
}

// goneState is the state of a forgotten or erased item, by the error that says so and by its history.
func goneState(why error, history []api.Event) state {
	is := state{Status: "deleted"}
	if refusal, ok := errors.AsType[*client.Error](why); ok && refusal.Type == api.ProblemType+api.CodeErased {
		is.Status = "erased"
	}
	for _, event := range history {
		if held := event.Name == "knowledge.held"; held || event.Name == "knowledge.released" {
			is.Held = held
		}
	}
	return is
}

// fits tells whether an act makes sense for an item in a state, and whether the reader may do it.
func (a act) fits(p *page, is state) bool {
	sense := false
	switch is.Status {
	case "active":
		sense = a.Name != "restore"
	case "superseded":
		sense = true
	case "proposed":
		sense = slices.Contains([]string{"revise", "forget"}, a.Name)
	case "quarantined":
		sense = slices.Contains([]string{"supersede", "erase"}, a.Name)
	case "deleted":
		sense = slices.Contains([]string{"restore", "hold", "release", "erase"}, a.Name)
	}
	switch a.Name {
	case "retract":
		sense = sense && is.Voted
	case "hold":
		sense = sense && !is.Held
	case "release":
		sense = sense && is.Held
	}
	return sense && may(p, a.Right, is)
}

func (a act) refuse(p *page, id string, is state) error {
	switch {
	case a.fits(p, is):
		return nil
	case !may(p, a.Right, is):
		return &client.Error{Problem: api.Problem{
			Status: http.StatusForbidden, Title: "Not yours to do", Detail: id + " belongs to " + is.Owner,
			Fix: "ask its owner or an admin",
		}}
	}
	return &client.Error{Problem: api.Problem{
		Status: http.StatusConflict, Title: "Not in its present state", Detail: id,
	}}
}

// may tells whether the reader has a right on an item.
func may(p *page, right right, is state) bool {
	c := p.Caller
	inPerson := c.OnBehalfOf == "" || c.OnBehalfOf == c.Subject
	switch right {
	case changers:
		return is.Owner == "" || p.Administers() || c.Role == "service" || speaksFor(p, is.Owner)
	case stewards:
		return may(p, changers, is) || slices.ContainsFunc(is.Scopes, func(s string) bool { return keeps(p, s) }) ||
			verifies(p, is)
	case keepers:
		return inPerson && (p.Administers() || slices.ContainsFunc(is.Scopes, func(s string) bool { return keeps(p, s) }))
	case erasers:
		return inPerson && (is.Owner == "" || is.Owner == c.Subject || p.Administers())
	case admins:
		return inPerson && p.Administers()
	}
	return true
}

// speaksFor tells whether the reader is an entity, or belongs to it.
func speaksFor(p *page, e string) bool {
	c := p.Caller
	return e != "" && slices.Contains(slices.Concat(c.Memberships, []string{c.Subject, c.OnBehalfOf}), e)
}

// verifies tells whether a policy for an item names the reader. The API decides by the most specific one.
func verifies(p *page, is state) bool {
	if p.policies == nil {
		p.policies = &api.VerificationPolicies{}
		if p.get(p.policies, nil, "v1", "verification") != nil { // then no verifier is known
			return false
		}
	}
	return slices.ContainsFunc(p.policies.Items, func(one api.VerificationPolicy) bool {
		return (one.Scope == "all" || slices.Contains(is.Scopes, one.Scope)) &&
			(one.Type == "" || one.Type == is.Type) && speaksFor(p, one.Verifier)
	})
}

// voter is in whose name the reader votes.
func voter(p *page) string {
	if p.Caller.OnBehalfOf != "" {
		return p.Caller.OnBehalfOf
	}
	return p.Caller.Subject
}

// actsFor are the acts that the reader can do to an item.
func actsFor(p *page, is state) []act {
	return slices.DeleteFunc(allActs(), func(a act) bool { return !a.fits(p, is) })
}

// ballot is what the event of a vote, or of its retraction, says about votes.
type ballot struct {
	Voter    string `json:"voter"`
	Replaces string `json:"replaces"` // the event of an earlier vote
	Vote     string `json:"vote"`     // the event of the vote that was taken back
}

func ballotOf(event api.Event) (b ballot) {
	if json.Unmarshal(event.Data, &b) != nil { // another schema
		return ballot{}
	}
	return b
}
