package briefing

import (
	"cmp"
	"context"
	"slices"

	"github.com/annals-kb/annals/domain"
)

// list selects what a session begins with: the user's profile, what is surest first, and where nobody said
// what the session is about, what is surest of everything else.
func (a Author) list(ctx context.Context, n domain.Need, s *selection) error {
	if user, known := n.User(); known {
		profile, err := a.surest(ctx, n, domain.Filter{Types: []domain.Type{domain.UserProfile}, Scope: user.Scope(), Tags: n.Tags})
		if err != nil {
			return err
		}
		s.profile = len(profile)
		s.add(listed(profile)...)
	}
	if n.About != "" {
		return nil
	}
	rest, err := a.surest(ctx, n, domain.Filter{Tags: n.Tags})
	s.add(listed(slices.DeleteFunc(rest, func(k *domain.Knowledge) bool { return k.Type == domain.UserProfile }))...)
	return err
}

// surest are the newest hundred that pass a filter, archives of sessions left out, by confidence, then by how often they helped.
func (a Author) surest(ctx context.Context, n domain.Need, filter domain.Filter) ([]*domain.Knowledge, error) {
	filter.NoArchives = true
	page, err := a.Reader.List(ctx, domain.List{By: n.Reader(), Filter: filter, Limit: domain.MaxLimit})
	slices.SortStableFunc(page.Items, func(a, b *domain.Knowledge) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.Helpful, a.Helpful))
	})
	return page.Items, err
}

// listed are items that were not searched for: they have no score.
func listed(items []*domain.Knowledge) []domain.Found {
	found := make([]domain.Found, len(items))
	for i, k := range items {
		best, _ := domain.Audience{Everything: true}.Best(k.Scopes)
		found[i] = domain.Found{Knowledge: k, Hit: domain.Hit{
			Candidate: domain.Candidate{ID: k.ID, Scopes: k.Scopes, Confidence: k.Confidence, Position: k.Position}, Scope: best,
		}}
	}
	return found
}
