package briefing

import (
	"cmp"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// said is how many tokens of an item are told at most: its abstract, unless somebody wrote a long one.
const said = 120

// selection takes what was found, in the order of being found, and leaves out what says the same.
type selection struct {
	need    domain.Need
	profile int // how much of it belongs to the user's profile
	items   []domain.Found
}

func (s *selection) add(found domain.Found) { s.items = append(s.items, found) }

// picked is an item with the line that tells of it.
type picked struct {
	domain.Briefed
	line string
}

// best are the best of each aspect, one that another says as well left out. Conversations are none of them: what
// they taught are items of their own.
func (s *selection) best() []picked {
	var chosen []picked
	count := map[domain.Aspect]int{}
	seen := map[string]bool{}
	for i, found := range s.items {
		next := picked{domain.Briefed{Found: found, Aspect: domain.AspectOf(found.Knowledge)}, lineOf(found.Knowledge)}
		if seen[found.ID] || archived(found.Knowledge) || s.foreign(found.Knowledge) ||
			slices.ContainsFunc(chosen, func(other picked) bool { return repeats(next, other) }) {
			continue
		}
		shorter := slices.IndexFunc(chosen, func(other picked) bool { return other.Aspect == next.Aspect && repeats(other, next) })
		if shorter < 0 && count[next.Aspect] >= s.most(next.Aspect, i) {
			continue
		}
		seen[found.ID] = true
		written := &found.Knowledge.Text
		written.Abstract = cmp.Or(written.Abstract, text.Brief(written.Content))
		domain.Abstract.Trim(found.Knowledge)
		if shorter >= 0 { // it has the place of what it says as well
			chosen[shorter] = next
			continue
		}
		count[next.Aspect]++
		chosen = append(chosen, next)
	}
	slices.SortStableFunc(chosen, func(a, b picked) int {
		return cmp.Compare(slices.Index(domain.Aspects, a.Aspect), slices.Index(domain.Aspects, b.Aspect))
	})
	return chosen
}

func (s *selection) most(aspect domain.Aspect, index int) int {
	if index < s.profile {
		return profileMost
	}
	if aspect == domain.Preferences {
		return max(mosts[aspect], min(s.profile, profileMost))
	}
	return mosts[aspect]
}

// foreign tells somebody else's profile, which is shared so that others know him, from what the user likes.
func (s *selection) foreign(k *domain.Knowledge) bool {
	user, known := s.need.User()
	return k.Type == domain.UserProfile && k.Owner.Kind() == domain.User && known && k.Owner != user
}

// lineOf is what is told of an item: its abstract on one line, and what makes one doubt it.
func lineOf(k *domain.Knowledge) string {
	abstract := k.Text.Abstract
	if abstract == "" {
		abstract = k.Text.Content
	}
	abstract = strings.Join(strings.Fields(abstract), " ")
	if text.Tokens(abstract) > said {
		abstract = text.Abstract(abstract, said)
	}
	if k.Stale.Reporters > 0 {
		abstract += " (reported out of date)"
	}
	return abstract
}
