package briefing

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// Author writes briefings. It is safe for concurrent use.
type Author struct {
	// SearchAll answers complete searches, in order. It embeds equal texts once.
	SearchAll func(ctx context.Context, searches []domain.Search) ([]domain.Answer, error)
	// List returns what its principal may see, newest first.
	List func(ctx context.Context, list domain.List) (domain.ListPage, error)
	// Live returns, by id, those of some items that are live and visible to a principal.
	Live func(ctx context.Context, by domain.Principal, ids []string) (map[string]*domain.Knowledge, error)
	// Verify sets how items are verified and disputed.
	Verify func(ctx context.Context, items ...*domain.Knowledge) error
}

// Brief writes the briefing for a complete need (see [domain.Need.Complete]).
func (a Author) Brief(ctx context.Context, n domain.Need) (domain.Briefing, error) {
	selection := &selection{need: n}
	if n.Stage == domain.AtStart {
		if err := a.list(ctx, n, selection); err != nil {
			return domain.Briefing{}, err
		}
	}
	questions, err := questionsOf(n)
	if err != nil {
		return domain.Briefing{}, err
	}
	degraded, err := a.search(ctx, questions, selection)
	if err != nil {
		return domain.Briefing{}, err
	}
	if err := a.doubt(ctx, selection); err != nil {
		return domain.Briefing{}, err
	}
	chosen := slices.DeleteFunc(selection.best(), func(p picked) bool { return slices.Contains(n.Shown, p.Mark()) })
	told := compose(chosen, strings.Join(append([]string{n.About}, n.Failures...), "\n"), n.MaxTokens, degraded)
	told.Embedder = selection.embedder
	return told, nil
}

// doubt finds out how the selected items are verified and disputed, and reads the items that dispute them.
func (a Author) doubt(ctx context.Context, s *selection) (err error) {
	var items []*domain.Knowledge
	for _, item := range s.items {
		items = append(items, item.Knowledge)
	}
	if err = a.Verify(ctx, items...); err != nil {
		return err
	}
	var ids []string
	for _, k := range items {
		ids = append(ids, k.DisputedBy...)
	}
	s.others, err = a.Live(ctx, s.need.By, ids)
	return err
}

// search asks all questions at once.
func (a Author) search(ctx context.Context, questions []domain.Search, s *selection) (degraded string, err error) {
	if len(questions) == 0 {
		return "", nil
	}
	answers, err := a.SearchAll(ctx, questions)
	if err != nil {
		return "", err
	}
	for _, answer := range answers {
		degraded, s.embedder = answer.Degraded, answer.Embedder
		s.add(slices.DeleteFunc(answer.Hits, func(f domain.Found) bool { return f.Band == domain.Perhaps })...)
	}
	return degraded, nil
}

// mosts limits the items of each aspect.
var mosts = map[domain.Aspect]int{
	domain.Tools: 5, domain.Patterns: 5, domain.Skills: 5, domain.Background: 5,
	domain.Preferences: 3, domain.Cases: 3, domain.Failures: 3, domain.Contested: 3,
}

// profileMost limits the items of the user's profile at the start of a session.
const profileMost = 10

// questionsOf are the searches of a need: what it is about and, at analysis, the first failure. The caller would find
// the same with these searches; types only arrange it.
func questionsOf(n domain.Need) ([]domain.Search, error) {
	abouts := []string{n.About}
	if n.Stage == domain.AtAnalysis && len(n.Failures) > 0 {
		abouts = append(abouts, n.Failures[0])
	}
	var all []domain.Search
	for _, about := range abouts {
		if about == "" {
			continue
		}
		question := n.Search(about)
		question.Limit = domain.MaxLimit
		complete, err := question.Complete()
		if err != nil {
			return nil, err
		}
		all = append(all, complete)
	}
	return all, nil
}

// list selects the items for the start of a session: the user's profile by confidence and, if the need is about
// nothing, the surest of all other items.
func (a Author) list(ctx context.Context, n domain.Need, s *selection) error {
	if user, known := n.User(); known {
		profile, err := a.surest(ctx, n,
			domain.Filter{Types: []domain.Type{domain.UserProfile}, Scope: user.Scope(), Tags: n.Tags})
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

// surest are the newest hundred items that pass a filter, without archives, ordered by confidence, then by helpful
// votes.
func (a Author) surest(ctx context.Context, n domain.Need, filter domain.Filter) ([]*domain.Knowledge, error) {
	filter.NoArchives = true
	if n.By.SeesAll() && !n.Context.Given && filter.Scope == "" {
		filter.PrivateOf = n.By.Entities()
	}
	page, err := a.List(ctx, domain.List{By: n.Reader(), Filter: filter, Limit: domain.MaxLimit})
	slices.SortStableFunc(page.Items, func(a, b *domain.Knowledge) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.Helpful, a.Helpful))
	})
	return page.Items, err
}

// listed are items that no search scored.
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
