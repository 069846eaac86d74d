package extraction

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// neighbours is how many items that say something like it are looked at.
const neighbours = 5

// similar finds, for every finding, the items that say something like it and that the owner or the commit's audience may see.
// All are asked for at once; nothing changes what is known until everything is decided.
func (a assignment) similar(ctx context.Context, reader Reader, findings []Finding) ([][]domain.Found, error) {
	similar := make([][]domain.Found, len(findings))
	var searches []domain.Search
	var places []int
	for i, f := range findings {
		if strings.TrimSpace(f.Content) == "" {
			continue
		}
		lowest := 0.0
		search, err := domain.Search{
			By: a.by(), Text: cut(f.Content, 1000), Filter: domain.Filter{Categories: []domain.Category{f.Category}}, Limit: neighbours,
			MinScore: &lowest, Order: domain.ByScore,
		}.Complete()
		if err != nil {
			return nil, err
		}
		searches, places = append(searches, search), append(places, i)
	}
	answers, err := reader.SearchAll(ctx, searches)
	if err != nil {
		return nil, err
	}
	for i, answer := range answers {
		similar[places[i]] = answer.Hits
	}
	return similar, nil
}

// neighbour is an item that says something like a finding.
type neighbour struct {
	item     *domain.Knowledge
	score    float64 // of the search
	alike    float64 // of the texts
	keyed    bool    // it is about the same, by its key
	quantity bool    // it says the number of the same thing
}

// first puts what is so before what is not.
func first(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return -1
	}
	return 1
}

// known are the items nearest to a finding that are stated by the same people, those that are about the same first.
func (a assignment) known(ctx context.Context, reader Reader, f Finding, similar []domain.Found) ([]neighbour, error) {
	var all []neighbour
	add := func(k *domain.Knowledge, score float64, byKey bool) {
		if samePeers(k.Text.Tags, f.Tags) && !slices.ContainsFunc(all, func(n neighbour) bool { return n.item.ID == k.ID }) {
			all = append(all, neighbour{k, score, likeness(k.Text.Content, f.Content), byKey, sameQuantity(k.Text.Content, f.Content)})
		}
	}
	if f.Key != "" {
		byKey := domain.Filter{Categories: []domain.Category{f.Category}, Tags: domain.Tags{"key": {f.Key}}}
		if peers := f.Tags[peerTag]; len(peers) > 0 {
			byKey.Also = []domain.Tags{{peerTag: peers}}
		}
		if byKey.Owner = a.owner; a.shared(f) {
			byKey.Owner, byKey.Scope = "", domain.Public
		}
		page, err := reader.List(ctx, domain.List{By: a.by(), Filter: byKey, Limit: neighbours})
		if err != nil {
			return nil, err
		}
		for _, k := range page.Items {
			add(k, 1, true)
		}
	}
	for _, hit := range similar {
		add(hit.Knowledge, hit.Score, false)
	}
	slices.SortStableFunc(all, func(x, y neighbour) int {
		return cmp.Or(first(x.keyed, y.keyed), first(x.quantity, y.quantity), cmp.Compare(y.alike, x.alike))
	})
	return all, nil
}
