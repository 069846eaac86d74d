package briefing

import (
	"cmp"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// said is how many tokens of an item are told at first: all of it, or its abstract.
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
	line    string
	content string        // all that the item says
	whose   domain.Entity // of another user's profile
	rank    int           // in the order of being found
}

// best are the best of each aspect, one that another says as well left out. Conversations are none of them: what
// they taught are items of their own.
func (s *selection) best() []picked {
	var chosen []picked
	count := map[domain.Aspect]int{}
	seen := map[string]bool{}
	for i, found := range s.items {
		next := s.pick(found, i)
		if seen[found.ID] || archived(found.Knowledge) ||
			slices.ContainsFunc(chosen, func(other picked) bool { return repeats(next, other) }) {
			continue
		}
		shorter := slices.IndexFunc(chosen, func(other picked) bool { return other.Aspect == next.Aspect && repeats(other, next) })
		if shorter < 0 && count[next.Aspect] >= s.most(next.Aspect, i) {
			continue
		}
		seen[found.ID] = true
		written := &found.Knowledge.Text
		written.Abstract = cmp.Or(written.Abstract, next.line)
		domain.Abstract.Trim(found.Knowledge)
		if shorter >= 0 { // it has the place of what it says as well
			next.rank = chosen[shorter].rank
			chosen[shorter] = next
			continue
		}
		count[next.Aspect]++
		chosen = append(chosen, next)
	}
	slices.SortStableFunc(chosen, func(a, b picked) int {
		return cmp.Compare(slices.Index(sections, a.section()), slices.Index(sections, b.section()))
	})
	return chosen
}

func (s *selection) pick(found domain.Found, rank int) picked {
	k := found.Knowledge
	next := picked{Briefed: domain.Briefed{Found: found, Aspect: domain.AspectOf(k)}, line: lineOf(k), content: k.Text.Content, rank: rank}
	if s.foreign(k) {
		next.whose = k.Owner
		next.Aspect = domain.Background
	}
	if k.Rating().Contested() {
		next.Aspect = domain.Contested
	}
	return next
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

// foreign tells another user's profile, which is shared so that others know them, from what the user likes.
func (s *selection) foreign(k *domain.Knowledge) bool {
	user, _ := s.need.User()
	return k.Type == domain.UserProfile && k.Owner.Kind() == domain.User && k.Owner != user
}

// lineOf is an item on one line: its abstract, or what it says if that is short.
func lineOf(k *domain.Knowledge) string {
	whole := cmp.Or(k.Text.Abstract, k.Text.Content)
	if line := strings.Join(strings.Fields(whole), " "); text.Tokens(line) <= said {
		return line
	}
	return text.Abstract(whole, said)
}
