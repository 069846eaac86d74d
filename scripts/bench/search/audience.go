package main

import (
	"fmt"

	"github.com/annals-kb/annals/domain"
)

// audience is a row of the table: somebody who searches.
type audience struct {
	name     string
	tenant   string
	entities []domain.Entity
	all      bool // everything in the tenant
	filter   domain.Filter
	words    bool // asked in words, too
	target   bool // of those that DESIGN.md sets a target for
}

var (
	own      = []domain.Entity{"user:ada"}
	team     = []domain.Entity{"user:ada", "project:apollo", "team:core"}
	everyone = []domain.Entity{"user:ada", "project:apollo", "team:core", "org:acme"}
)

// typeOf is an item's type: one in a hundred has the first, forty the second and the rest one of the others.
func typeOf(i int) domain.Type {
	switch n := i % 100; {
	case n == 0:
		return domain.Types[0]
	case n <= 40:
		return domain.Types[1]
	default:
		return domain.Types[2+i%(len(domain.Types)-2)]
	}
}

var (
	rare   = domain.Filter{Types: domain.Types[:1]}
	common = domain.Filter{Types: domain.Types[1:2]}
)

var audiences = []audience{
	{name: "a user's own", tenant: quiet, entities: own, target: true},
	{name: "user, project, team", tenant: quiet, entities: team, target: true},
	{name: "public", tenant: large, target: true},
	{name: "user, project, team, public", tenant: large, entities: team, target: true},
	{name: "all of these and org", tenant: large, entities: everyone, target: true},
	{name: "the whole tenant", tenant: large, all: true, target: true},
	{name: "… a type that 40 % have", tenant: large, all: true, filter: common},
	{name: "… a type that 1 % have", tenant: large, all: true, filter: rare},
	{name: "org's, a type that 40 % have", tenant: large, entities: everyone, filter: common},
	{name: "org's, a type that 1 % have", tenant: large, entities: everyone, filter: rare},
	{name: "org's, only the user's own", tenant: large, entities: everyone, filter: domain.Filter{Scope: "user:ada"}},
	{name: "org's, words too", tenant: large, entities: everyone, words: true},
}

// search is the question of somebody in the audience.
func (a audience) search(q question, order domain.Order) (domain.Search, error) {
	by := domain.OpenPrincipal()
	by.Tenant = a.tenant
	s := domain.Search{
		By: by, Vector: q.vector, Context: domain.Context{Given: !a.all, Entities: a.entities},
		Filter: a.filter, Limit: depth, Order: order,
	}
	if a.words {
		s.Text = q.words
	} else {
		s.MinScore = new(float64) // words say nothing, and what they would add is missing
	}
	complete, err := s.Complete()
	if err != nil {
		return s, fmt.Errorf("%s: %w", a.name, err)
	}
	return complete, nil
}

// sees tells whether an item is in the audience and passes the filter.
func (a audience) sees(w *world, i int, seen domain.Audience) bool {
	it := w.items[i]
	if it.tenant != a.tenant {
		return false
	}
	if len(a.filter.Types) > 0 && typeOf(i) != a.filter.Types[0] {
		return false
	}
	if a.filter.Scope != "" && it.scopes[0] != a.filter.Scope {
		return false
	}
	_, visible := seen.Best(it.scopes)
	return visible
}
