package extraction

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/domain/text/compare"
)

// neighbours limits the similar items that are compared with a finding.
const neighbours = 5

// similar finds, for every finding, the items that say something like it and that the owner or the commit's audience
// may see. All are asked for at once; nothing changes what is known until everything is decided.
func (a assignment) similar(ctx context.Context, searcher Searcher, findings []LessonDraft) ([][]domain.Found, error) {
	similar := make([][]domain.Found, len(findings))
	var searches []domain.Search
	var places []int
	for i, f := range findings {
		if strings.TrimSpace(f.Content) == "" {
			continue
		}
		lowest := 0.0
		search, err := domain.Search{
			By: a.by(), Text: cut(f.Content, 1000), Filter: domain.Filter{Categories: corrected(f)}, Limit: neighbours,
			MinScore: &lowest, Order: domain.ByScore, Copies: true,
		}.Complete()
		if err != nil {
			return nil, err
		}
		searches, places = append(searches, search), append(places, i)
	}
	answers, err := searcher.SearchAll(ctx, searches)
	if err != nil {
		return nil, err
	}
	for i, answer := range answers {
		similar[places[i]] = answer.Hits
	}
	return similar, nil
}

// corrected are the categories of the items that a finding may repeat or correct.
func corrected(f LessonDraft) []domain.Category {
	if (f.Correction || ended(f.Content) != "") && f.Category.AboutUser() {
		return slices.DeleteFunc(slices.Clone(domain.Categories), func(c domain.Category) bool { return !c.AboutUser() })
	}
	return []domain.Category{f.Category}
}

// neighbour is an item that is similar to a finding.
type neighbour struct {
	item    *domain.Knowledge
	score   float64         // of the search
	verdict compare.Verdict // of the texts
	keyed   bool            // it has the same key
	now     bool            // an earlier lesson of the same conversation makes it
}

// replaced reports whether a correction replaces the item: both cannot hold, or they differ in one place.
func replaced(v compare.Verdict) bool { return v.Kind == compare.Contradiction || v.Another }

// fills reports whether a finding takes the place of the item, since both tell a fact of which there is one.
func (n neighbour) fills(f LessonDraft) bool {
	return n.keyed && f.Single && n.item.Category == f.Category && (f.Value != "" || replaced(n.verdict))
}

// doubted reports whether the item may no longer hold because of a finding: it has another value of the same key, or is
// about what is no more.
func (n neighbour) doubted(f LessonDraft) bool {
	content, gone := n.item.Text.Content, ended(f.Content)
	switch {
	case n.item.Category.Immutable():
		return false
	case n.keyed && f.Doubtful && n.item.Category == f.Category:
		return !strings.Contains(content, f.Value)
	case gone == "" || ended(content) != "":
		return false
	case isChinese(gone):
		runes := []rune(gone)
		return strings.Contains(content, string(runes[max(0, len(runes)-2):]))
	}
	known := words(content + " " + strings.Join(n.item.Text.Tags["key"], " "))
	named := words(strings.Join(phrase("name").FindAllString(gone, -1), " "))
	if len(named) == 0 {
		named = words(gone)
	}
	maps.DeleteFunc(named, func(word string, _ bool) bool { return known[word] })
	return len(named) == 0 && len(words(gone)) > 0
}

// ended is what a statement says is no more; empty if it says so of nothing.
func ended(s string) string {
	for _, rule := range []string{"leaving", "ending", "ending-zh"} {
		if found := phrase(rule).FindStringSubmatch(straight.Replace(s)); found != nil {
			return strings.Trim(strings.Join(found[1:], ""), " ,")
		}
	}
	return ""
}

// weight orders neighbours: first those with the same key, then those that a correction replaces, then by likeness.
func (n neighbour) weight() float64 {
	weight := n.verdict.Score
	if n.keyed {
		weight += 4
	}
	if replaced(n.verdict) {
		weight += 2
	}
	return weight
}

// compared compares a finding with an item, or with the nearest of the statements that were merged into it. A
// retraction ends only the statement that it takes back, about the same subject.
func compared(k *domain.Knowledge, f LessonDraft) compare.Verdict {
	prepare := func(content string, p domain.Polarity) compare.Prepared {
		if f.Category == domain.CategoryPreferences && k.Category == f.Category {
			content = wished(content)
		}
		return compare.Prepare(compare.Item{Content: content, Negative: p == domain.Negative})
	}
	finding := prepare(f.Content, cmp.Or(f.Polarity, polarityOf(f.Category)))
	verdict := finding.With(prepare(k.Text.Content, k.Polarity))
	for _, line := range statements(k) {
		if v := finding.With(prepare(line, k.Polarity)); verdict.Kind != compare.Duplicate &&
			(v.Kind == compare.Duplicate || replaced(v) && !replaced(verdict)) {
			verdict = v
		}
	}
	if retracts(f.Content) && (verdict.Kind != compare.Duplicate || !retracts(k.Text.Content)) {
		verdict.Kind, verdict.Rule, verdict.Another = compare.Unrelated, compare.Unsure, false
		for _, line := range append(statements(k), k.Text.Content) {
			if ends(f.Content, line) {
				verdict.Kind, verdict.Rule = compare.Contradiction, compare.Negation
			}
		}
	}
	return verdict
}

// wished gives a preference the same beginning in all wordings.
func wished(s string) string {
	s = straight.Replace(s)
	return phrase("wishing-zh").ReplaceAllString(phrase("wishing").ReplaceAllString(s, "I like "), "我喜欢")
}

// ends reports whether a clause of a retraction takes a statement back.
func ends(retraction, statement string) bool {
	prepared := compare.Prepare(compare.Item{Content: statement})
	clauses := strings.FieldsFunc(straight.Replace(retraction), func(r rune) bool {
		return strings.ContainsRune(",;，；。\n", r)
	})
	return !retracts(statement) && slices.ContainsFunc(clauses, func(clause string) bool {
		return retracts(clause) &&
			prepared.With(compare.Prepare(compare.Item{Content: affirmed.Replace(clause)})).Kind == compare.Duplicate
	})
}

// statements are the texts that were merged into an item.
func statements(k *domain.Knowledge) []string {
	if !mergeable(k.Category) && k.Category != domain.CategoryProfile {
		return nil
	}
	return strings.Split(k.Text.Content, "\n")
}

// known are the items nearest to a finding that the same people said, those with the same topic first.
func (a assignment) known(ctx context.Context, reader Reader, f LessonDraft, similar []domain.Found) ([]neighbour,
	error,
) {
	var all []neighbour
	add := func(k *domain.Knowledge, score float64, byKey bool) {
		if samePeers(k.Text.Tags, f.Tags) && !slices.ContainsFunc(all, func(n neighbour) bool { return n.item.ID == k.ID }) {
			all = append(all, neighbour{item: k, score: score, verdict: compared(k, f), keyed: byKey})
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
