package events

import (
	"maps"
	"slices"

	"github.com/annals-kb/annals/domain"
)

// clone is a copy of an item that later events do not change.
func clone(k *domain.Knowledge) *domain.Knowledge {
	c := *k
	c.Scopes = slices.Clone(k.Scopes)
	c.DerivedFrom = slices.Clone(k.DerivedFrom)
	c.Source.URLs = slices.Clone(k.Source.URLs)
	c.Baseline.HelpfulHistory = slices.Clone(k.Baseline.HelpfulHistory)
	c.Baseline.HarmfulHistory = slices.Clone(k.Baseline.HarmfulHistory)
	c.Text.Meta = slices.Clone(k.Text.Meta)
	c.Text.Tags = maps.Clone(k.Text.Tags)
	for key, values := range c.Text.Tags {
		c.Text.Tags[key] = slices.Clone(values)
	}
	c.Relations = slices.Clone(k.Relations)
	c.Votes = maps.Clone(k.Votes)
	c.Reports = maps.Clone(k.Reports)
	return &c
}
