package briefing

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
)

// The tokens of an item's first line: its content or abstract, and the beginning of its task.
const (
	stated = 120
	titled = 30
)

// mostAgainst limits the items that are told beside the one that they dispute.
const mostAgainst = 3

// selection collects found items and drops duplicates.
type selection struct {
	embedder string // of the searches
	need     domain.Need
	profile  int // how many items are the user's profile; they come first
	items    []ranked
	others   map[string]*domain.Knowledge // that dispute items, by id
}

// ranked is an item with its rank in the list or search that found it.
type ranked struct {
	domain.Found
	place   int
	profile bool
}

// add adds the items of one list or search, the best first.
func (s *selection) add(found ...domain.Found) {
	profile := len(s.items) < s.profile
	for place, item := range found {
		s.items = append(s.items, ranked{item, place, profile})
	}
}

// picked is a selected item with its line.
type picked struct {
	domain.Briefed
	line    string
	content string        // the whole content
	whose   domain.Entity // of another user's profile
	against []string      // what other items say that dispute it
	rank    int           // 0 for the best of all
}

// best are the best items of each aspect without duplicates, by section. The section of the best item comes first.
// The best of each list and search rank before the second best. Archives are left out, since their lessons are items,
// and so is what scores less than a quarter of the best.
func (s *selection) best() []picked {
	highest := 0.0
	for _, item := range s.items {
		highest = max(highest, item.Score)
	}
	s.items = slices.DeleteFunc(s.items, func(item ranked) bool { // listed items have no score
		return item.Score > 0 && item.Score < highest/4
	})
	slices.SortStableFunc(s.items, func(a, b ranked) int { return cmp.Compare(a.place, b.place) })
	var chosen []picked
	count := map[domain.Aspect]int{}
	seen := map[string]bool{}
	for _, found := range s.items {
		next := s.pick(found.Found)
		if seen[found.ID] || archived(found.Knowledge) ||
			slices.ContainsFunc(chosen, func(other picked) bool { return repeats(next, other) }) {
			continue
		}
		shorter := slices.IndexFunc(chosen,
			func(other picked) bool { return other.Aspect == next.Aspect && repeats(other, next) })
		if shorter < 0 && count[next.Aspect] >= s.most(next.Aspect, found.profile) {
			continue
		}
		seen[found.ID] = true
		written := &found.Knowledge.Text
		written.Abstract = cmp.Or(written.Abstract, abstractOf(found.Knowledge, stated))
		domain.Abstract.Trim(found.Knowledge)
		if shorter >= 0 { // it replaces the item that it contains
			chosen[shorter] = next
			continue
		}
		count[next.Aspect]++
		chosen = append(chosen, next)
	}
	return arranged(chosen)
}

// arranged orders ranked items by section. Contested items come last.
func arranged(chosen []picked) []picked {
	first := map[string]int{contested: len(chosen)}
	for i := range chosen {
		chosen[i].rank = i
		if _, known := first[chosen[i].section()]; !known {
			first[chosen[i].section()] = i
		}
	}
	slices.SortStableFunc(chosen, func(a, b picked) int { return cmp.Compare(first[a.section()], first[b.section()]) })
	return chosen
}

func (s *selection) pick(found domain.Found) picked {
	k := found.Knowledge
	next := picked{Briefed: domain.Briefed{Found: found, Aspect: domain.AspectOf(k)}, content: k.Text.Content}
	next.line = next.titled(abstractOf(k, stated))
	if s.foreign(k) {
		next.whose = k.Owner
		next.Aspect = domain.Background
	}
	if k.Rating().Contested() {
		next.Aspect = domain.Contested
	}
	for _, id := range k.DisputedBy[:min(len(k.DisputedBy), mostAgainst)] {
		if other := s.others[id]; other != nil {
			opponent := picked{Briefed: domain.Briefed{Found: domain.Found{Knowledge: other}}}
			next.against = append(next.against, opponent.marked(opponent.titled(abstractOf(other, 40)))+" "+reference(other))
		}
	}
	return next
}

// marked is a line about the item, with a mark if it is from outside.
func (p picked) marked(line string) string {
	if p.outside() {
		return text.Outside + " " + line
	}
	return line
}

// reference is the URI for reading on or voting.
func reference(k *domain.Knowledge) string {
	return "<" + strings.ReplaceAll(text.ForPrompt(k.Text.URI), ">", "%3E") + ">"
}

func (s *selection) most(aspect domain.Aspect, profile bool) int {
	if profile {
		return profileMost
	}
	if aspect == domain.Preferences {
		return max(mosts[aspect], min(s.profile, profileMost))
	}
	return mosts[aspect]
}

// foreign reports whether an item is another user's shared profile, not the user's own preference.
func (s *selection) foreign(k *domain.Knowledge) bool {
	user, _ := s.need.User()
	return k.Type == domain.UserProfile && k.Owner.Kind() == domain.User && k.Owner != user
}

// abstractOf is an item on one line: its abstract, or its content if that is short.
func abstractOf(k *domain.Knowledge, tokens int) string {
	whole := cmp.Or(k.Text.Abstract, k.Text.Content)
	if line := oneLine(whole); text.Tokens(line) <= tokens {
		return line
	}
	return text.Abstract(whole, tokens)
}

// titled puts the task of an item before its text, unless the text names it, in a form that is harmless in a prompt.
func (p picked) titled(shown string) string {
	task := text.Abstract(p.Knowledge.Text.Task, titled)
	if task == "" || strings.Contains(normal(oneLine(shown)), normal(strings.TrimSuffix(task, "…"))) {
		return text.ForPrompt(shown)
	}
	between := ": "
	if strings.Contains(shown, "\n") {
		between = ":\n"
	}
	return text.ForPrompt(strings.TrimRight(task, ".。:：") + between + shown)
}

// outside tells whether the text is from outside.
func (p picked) outside() bool { return p.Knowledge.Trust() == domain.FromOutside }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// archived tells archives from lessons. Archives lie in their sessions.
func archived(k *domain.Knowledge) bool {
	names := domain.URI(k.Text.URI).Names()
	return len(names) > 3 && names[0] == "session" && names[3] == "history"
}

// repeats tells whether another item contains all that an item says. An item about a failure and one about a success
// never repeat each other, unless their words are the same.
func repeats(item, other picked) bool {
	line, all := normal(item.line), normal(other.line)
	if line == all {
		return true
	}
	return (item.Aspect == domain.Failures) == (other.Aspect == domain.Failures) && states(all, line)
}

// normal is a line in lower case, without a full stop at the end.
func normal(line string) string {
	return strings.TrimRight(strings.ToLower(line), " .。!！;；")
}

// states tells whether a text contains a statement by itself: "do not use curl" does not contain "use curl".
func states(all, statement string) bool {
	if statement == "" {
		return false
	}
	for from := 0; ; {
		at := strings.Index(all[from:], statement)
		if at < 0 {
			return false
		}
		begin, end := from+at, from+at+len(statement)
		if ends(strings.TrimRight(all[:begin], " -*\"")) && begins(all[end:]) {
			return true
		}
		_, size := utf8.DecodeRuneInString(all[begin:])
		from = begin + size
	}
}

const marks = ".。!！?？:：;；"

// ends tells whether a new statement can begin after the text.
func ends(before string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || strings.ContainsRune(marks, last)
}

// begins tells whether a statement can end before the text: "1.5" does not contain "1".
func begins(after string) bool {
	first, size := utf8.DecodeRuneInString(after)
	if after == "" || !strings.ContainsRune(marks, first) {
		return after == ""
	}
	next, _ := utf8.DecodeRuneInString(after[size:])
	return first > unicode.MaxASCII || after[size:] == "" || unicode.IsSpace(next)
}
