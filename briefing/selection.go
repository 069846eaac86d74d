package briefing

import (
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

// best are the best of each aspect, one that says the same as another left out.
func (s *selection) best() []picked {
	byAspect := map[domain.Aspect][]picked{}
	seen := map[string]bool{}
	for i, found := range s.items {
		aspect := domain.AspectOf(found.Knowledge)
		line := lineOf(found.Knowledge)
		words := strings.ToLower(line)
		if seen[words] || seen[found.ID] || s.foreign(found.Knowledge) || len(byAspect[aspect]) >= s.most(aspect, i) {
			continue
		}
		seen[words], seen[found.ID] = true, true
		domain.Abstract.Trim(found.Knowledge)
		byAspect[aspect] = append(byAspect[aspect], picked{domain.Briefed{Found: found, Aspect: aspect}, line})
	}
	var all []picked
	for _, aspect := range domain.Aspects {
		all = append(all, byAspect[aspect]...)
	}
	return all
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
