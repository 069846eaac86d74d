package console

import (
	"slices"
	"strings"

	"github.com/annals-kb/annals/api"
)

// scopesPage shows who knows how much, and how good it is.
type scopesPage struct {
	Activity *calendar
	Counts   api.Overview
	Kinds    []scopeKind
}

// scopeKind are the scopes of a kind, such as teams.
type scopeKind struct {
	Kind   string // its label
	Scopes []scopeHealth
}

// scopeHealth is a scope with shares of its items.
type scopeHealth struct {
	api.ScopeOverview
	Confirmed, Stale, Contested portion
}

// portion is how many items there are of all.
type portion struct {
	Items int
	Share float64
}

func showScopes(p *page) (any, error) {
	var data scopesPage
	var err error
	if data.Activity, err = readCalendar(p); err != nil || p.Moment.Past() {
		return &data, err
	}
	if err := p.get(&data.Counts, nil, "v1", "overview"); err != nil {
		return nil, err
	}
	for _, label := range []string{"Public", "Organisation", "Team", "Project", "Agent", "User"} {
		all, kind := scopeKind{Kind: label}, strings.ToLower(label)
		if label == "Organisation" {
			kind = "org"
		}
		for _, of := range data.Counts.ByScope {
			if found, _, _ := strings.Cut(of.Scope, ":"); found == kind {
				part := func(items int) portion { return portion{items, float64(items) / float64(of.Items)} }
				all.Scopes = append(all.Scopes, scopeHealth{of, part(of.Confirmed), part(of.Stale), part(of.Contested)})
			}
		}
		data.Kinds = append(data.Kinds, all)
	}
	data.Kinds = slices.DeleteFunc(data.Kinds, func(k scopeKind) bool { return len(k.Scopes) == 0 })
	return &data, nil
}
