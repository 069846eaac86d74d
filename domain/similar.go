package domain

import (
	"slices"
	"strings"
)

// SimilarItem is an item that resembles another one.
type SimilarItem struct {
	ID    string
	Kind  string  // one of the constants below
	Score float64 // 0…1: how much of the subject they share
	Rule  string  // by which text/compare decided, or unsure; otherwise empty for Resembling

	Knowledge *Knowledge // as it was found
}

// The kinds of similar items.
const (
	Duplicate     = "duplicate"     // says the same
	Contradiction = "contradiction" // says something else of the same
	Resembling    = "similar"       // is about the same, or nearly so
)

// OnSimilar is what becomes of a new item that resembles others.
type OnSimilar string

// The ways to treat similar items.
const (
	ReportSimilar OnSimilar = "report" // name them in the answer
	LinkSimilar   OnSimilar = "link"   // relate the new item to its duplicates, too
	RefuseSimilar OnSimilar = "refuse" // if it has duplicates or contradictions
	VoteSimilar   OnSimilar = "vote"   // for the item that says exactly this, instead of a second one
)

// OnSimilars are all of them.
var OnSimilars = []OnSimilar{ReportSimilar, LinkSimilar, RefuseSimilar, VoteSimilar}

// Known refuses a new item with [VoteSimilar]: the item says exactly this.
type Known struct {
	*Refusal
	Item Knowledge
}

// decideSimilar refuses the new item or relates it to its duplicates. Items that changed or left since the caller found
// them do not count. A search may miss the same text among many that resemble it, so it is looked up.
func (c Remember) decideSimilar(dc DecisionContext) (links []Fact, err error) {
	var reasons []string
	var found []SimilarItem
	for _, s := range c.Similar {
		k := dc.Knowledge(s.ID)
		if s.ID == c.ID || s.Kind == Resembling || k.Status != Active || !c.By.MaySee(k) {
			continue
		}
		switch {
		case c.OnSimilar == LinkSimilar && s.Kind == Duplicate:
			links = append(links, Linked{To: s.ID})
		case c.OnSimilar == RefuseSimilar && s.Kind == Duplicate:
			reasons, found = append(reasons, s.ID+" says the same"), append(found, s)
		case c.OnSimilar == RefuseSimilar:
			reasons, found = append(reasons, s.ID+" contradicts it"), append(found, s)
		}
	}
	if k := c.repeated(dc); k != nil && c.OnSimilar == VoteSimilar {
		return nil, &Known{Refuse(ErrSimilar, "%s says the same", k.ID), *k}
	} else if k != nil && len(reasons) == 0 {
		reasons = append(reasons, k.ID+" says the same")
		found = append(found, SimilarItem{ID: k.ID, Kind: Duplicate, Score: 1})
	}
	if len(reasons) == 0 {
		return links, nil
	}
	refusal := Refuse(ErrSimilar, "%s", strings.Join(reasons, ", ")).
		WithFix("vote for that item, revise or supersede it, or remember this one with on_similar=report")
	refusal.Similar = found
	return nil, refusal
}

// repeated is an item that says exactly the same, if that matters: to a refusal, one of the audience or a public one;
// to a vote, one of the same kind and for the same readers. Nil if there is none.
func (c Remember) repeated(dc DecisionContext) *Knowledge {
	r, scopes := c.Knowledge, append([]Scope{Public}, c.Knowledge.Scopes...)
	switch {
	case c.OnSimilar != RefuseSimilar && c.OnSimilar != VoteSimilar:
		return nil
	case c.OnSimilar == VoteSimilar && c.assumed.scopes:
		for _, entity := range c.By.Entities() {
			scopes = append(scopes, entity.Scope())
		}
	}
	for _, id := range dc.ItemsSaying(r.Text, scopes) {
		k := dc.Knowledge(id)
		shared := func(scope Scope) bool { return slices.Contains(scopes, scope) }
		if k.Text.Task == r.Text.Task && k.Text.Content == r.Text.Content && k.ContextType == r.ContextType &&
			k.Polarity == r.Polarity && k.Status == Active && slices.ContainsFunc(k.Scopes, shared) && c.By.MaySee(k) &&
			(c.OnSimilar == RefuseSimilar || c.isFor(k)) {
			return k
		}
	}
	return nil
}

// isFor tells whether the new item is of the kind and for the readers of another one.
func (c Remember) isFor(k *Knowledge) bool {
	r := c.Knowledge
	sameKind := k.Category == r.Category || k.Category == "" && k.Type == r.Type
	sameReaders := c.assumed.scopes || SameScopes(k.Scopes, r.Scopes)
	return sameKind && sameReaders && (!r.Category.AboutUser() || k.Owner == r.Owner)
}
