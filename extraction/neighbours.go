package extraction

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// neighbours limits the similar items that are compared with a finding.
const neighbours = 5

// similar finds, for every finding, the items that say something like it and that the owner or the commit's audience
// may see. All are asked for at once; nothing changes what is known until everything is decided.
func (a assignment) similar(ctx context.Context, reader Reader, findings []LessonDraft) ([][]domain.Found, error) {
	similar := make([][]domain.Found, len(findings))
	var searches []domain.Search
	var places []int
	for i, f := range findings {
		if strings.TrimSpace(f.Content) == "" {
			continue
		}
		lowest := 0.0
		search, err := domain.Search{
			By: a.by(), Text: cut(f.Content, 1000), Filter: domain.Filter{Categories: []domain.Category{f.Category}},
			Limit:    neighbours,
			MinScore: &lowest, Order: domain.ByScore, Copies: true,
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

// neighbour is an item that is similar to a finding.
type neighbour struct {
	item     *domain.Knowledge
	score    float64 // of the search
	alike    float64 // of the texts
	keyed    bool    // it has the same key
	quantity bool    // it gives the number of the same thing
}

// weight orders neighbours: first those with the same key, then those with the same quantity, then by likeness.
func (n neighbour) weight() float64 {
	weight := n.alike
	if n.keyed {
		weight += 4
	}
	if n.quantity {
		weight += 2
	}
	return weight
}

// known are the items nearest to a finding that the same people said, those with the same topic first.
func (a assignment) known(ctx context.Context, reader Reader, f LessonDraft, similar []domain.Found) ([]neighbour,
	error,
) {
	var all []neighbour
	add := func(k *domain.Knowledge, score float64, byKey bool) {
		if samePeers(k.Text.Tags, f.Tags) && !slices.ContainsFunc(all, func(n neighbour) bool { return n.item.ID == k.ID }) {
			all = append(all, neighbour{
				k, score, likeness(k.Text.Content, f.Content), byKey,
				sameQuantity(k.Text.Content, f.Content),
			})
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
	slices.SortStableFunc(all, func(x, y neighbour) int { return cmp.Compare(y.weight(), x.weight()) })
	return all, nil
}

// Thresholds of the share of words that two texts have in common.
const (
	same    = 0.85 // they say the same
	related = 0.34 // they are about the same
)

// likeness is the share of words that two texts have in common: 1 if only their spelling differs.
func likeness(a, b string) float64 {
	if normal(a) == normal(b) {
		return 1
	}
	left, right := words(a), words(b)
	common := 0
	for word := range left {
		if right[word] {
			common++
		}
	}
	if all := len(left) + len(right) - common; all > 0 {
		return min(float64(common)/float64(all), 0.99)
	}
	return 0
}

// quantity is a statement of a number, such as a port or a time.
var quantity = text.Expression(`(?i)\b(?:the|our|my) ([a-z][\w -]*?) (?:is|are)(?: now)? \S*\d\S*?(?: now)?[.!]?$`)

// sameQuantity reports whether two texts give the number of the same thing. Such texts have few words, so their
// likeness is unreliable.
func sameQuantity(a, b string) bool {
	left, right := quantity().FindStringSubmatch(a), quantity().FindStringSubmatch(b)
	return left != nil && right != nil && normal(left[1]) == normal(right[1])
}

// normal reduces a text to its letters and digits.
func normal(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// words are the meaningful words of a text.
func words(s string) map[string]bool {
	counts, _ := text.TermCounts(s)
	set := make(map[string]bool, len(counts))
	for word := range counts {
		if !text.IsStopWord(word) {
			set[word] = true
		}
	}
	return set
}
