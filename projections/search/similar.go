package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/domain/text/compare"
)

const (
	mostSimilar  = 5    // items in an answer
	mostCompared = 10   // candidates
	leastHit     = 0.2  // the least score of a candidate in the search
	searchedFor  = 500  // characters of a text by whose meaning candidates are searched
	searchTerms  = 8    // terms by which candidates are searched: the time of a search grows with its terms
	resembling   = 0.55 // the least score of an item that is neither a duplicate nor a contradiction
	mostAnswers  = 3    // items with one task, of which each may answer it otherwise; more only share a subject
	longestReply = 200  // characters of a text that answers a task
)

// Similar finds items that say the same as an item, contradict it or resemble it: at most 5, duplicates first. It
// looks where the item's audience and the caller may read. The item need not be remembered yet, and is not in the
// answer itself.
func (r *Searcher) Similar(
	ctx context.Context, by domain.Principal, item *domain.Knowledge,
) ([]domain.SimilarItem, error) {
	p, err := r.request(ctx)
	if err != nil {
		return nil, err
	}
	least := leastHit
	if item.Text.Task != "" { // it says little of a content
		least = 0
	}
	s := domain.Search{
		By: by, Text: beginningOf(item), MinScore: &least, Limit: mostCompared, Order: domain.ByScore, Copies: true,
		Context: domain.Context{Given: true}, Filter: domain.Filter{NoArchives: true},
	}
	for _, scope := range item.Scopes {
		if scope != domain.Public && by.ActsFor(scope.Entity()) {
			s.Context.Entities = append(s.Context.Entities, scope.Entity())
		}
	}
	p.Version.Tokenizer.Query, p.few = longestOf(p.Version.Tokenizer.Query), true
	_, answer, err := p.search(ctx, s, nil)
	if err != nil {
		return nil, err
	}
	return judge(by, item, compare.Prepare(comparedOf(item)), answer.Hits), nil
}

// Signed is an item with its signature, by which those that Similar finds can be found among many without a search.
type Signed struct {
	Item *domain.Knowledge
	compare.Signature
	Task uint64 // the hash of the task that it answers; 0 if none

	prepared compare.Prepared
}

// Sign prepares an item for comparisons.
func (*Searcher) Sign(item *domain.Knowledge) Signed {
	s := Signed{Item: item, prepared: compare.Prepare(comparedOf(item))}
	s.Signature = s.prepared.Signature()
	if task := taskOf(item); task != "" && utf8.RuneCountInString(item.Text.Content) <= longestReply {
		s.Task = compare.Hash(task, string(item.Category), string(item.Polarity))
	}
	return s
}

// Judge is [Searcher.Similar] for candidates that were found by signatures.
func (*Searcher) Judge(by domain.Principal, s Signed, candidates []*domain.Knowledge) []domain.SimilarItem {
	found := make([]domain.Found, len(candidates))
	for i, k := range candidates { // whose vectors are not compared
		found[i] = domain.Found{Hit: domain.Hit{Candidate: domain.Candidate{Score: 1, Pending: true}}, Knowledge: k}
	}
	return judge(by, s.Item, s.prepared, found)
}

func beginningOf(item *domain.Knowledge) string {
	runes := []rune(item.Text.Task + "\n" + item.Text.Content)
	return string(runes[:min(len(runes), searchedFor)])
}

// longestOf keeps the terms of a query that probably distinguish it best. It counts characters, not bytes, so that
// names come before pairs of Han characters: an item in another language may share nothing else.
func longestOf(query func(string) []text.QueryTerm) func(string) []text.QueryTerm {
	return func(s string) []text.QueryTerm {
		terms := query(s)
		slices.SortStableFunc(terms, func(a, b text.QueryTerm) int {
			return cmp.Compare(utf8.RuneCountInString(b.Term), utf8.RuneCountInString(a.Term))
		})
		return terms[:min(len(terms), searchTerms)]
	}
}

// judge compares an item with those that a search found.
func judge(
	by domain.Principal, item *domain.Knowledge, prepared compare.Prepared, found []domain.Found,
) []domain.SimilarItem {
	var all []domain.SimilarItem
	answers := 0
	for _, hit := range found {
		if answersOtherwise(item, hit.Knowledge) {
			answers++
		}
	}
	for _, hit := range found {
		k := hit.Knowledge
		if k.ID == item.ID || k.ContextType != item.ContextType || !by.MaySee(k) ||
			hit.Score < leastHit && !answersOtherwise(item, k) {
			continue
		}
		similar := similarItem(item, k, prepared.With(compare.Prepare(comparedOf(k))))
		if similar.Rule == domain.SameTask && answers > mostAnswers {
			similar.Rule = ""
		}
		if !hit.Pending {
			similar.Score = max(similar.Score, (3*similar.Score+hit.Semantic)/4)
		}
		if similar.Kind != domain.Resembling || similar.Score >= resembling || similar.Rule == domain.SameTask {
			all = append(all, similar)
		}
	}
	order := []string{domain.Duplicate, domain.Contradiction, domain.Resembling}
	slices.SortStableFunc(all, func(a, b domain.SimilarItem) int {
		return cmp.Or(slices.Index(order, a.Kind)-slices.Index(order, b.Kind), cmp.Compare(b.Score, a.Score))
	})
	return all[:min(len(all), mostSimilar)]
}

// Compare compares items by rules.
func (*Searcher) Compare(item, other *domain.Knowledge) domain.SimilarItem {
	return similarItem(item, other, compare.Items(comparedOf(item), comparedOf(other)))
}

func similarItem(item, k *domain.Knowledge, v compare.Verdict) domain.SimilarItem {
	similar := domain.SimilarItem{ID: k.ID, Kind: string(v.Kind), Score: v.Score, Rule: v.Rule, Knowledge: k}
	if v.Kind == compare.Unrelated {
		similar.Kind = domain.Resembling
		if answersOtherwise(item, k) {
			similar.Rule = domain.SameTask
		} else if v.Rule != compare.Unsure {
			similar.Rule = ""
		}
	}
	return similar
}

// answersOtherwise reports whether two owners say something short about the same task, so that both may not hold.
func answersOtherwise(a, b *domain.Knowledge) bool {
	longest := max(utf8.RuneCountInString(a.Text.Content), utf8.RuneCountInString(b.Text.Content))
	return taskOf(a) != "" && taskOf(a) == taskOf(b) && a.Owner != b.Owner && a.Category == b.Category &&
		a.Polarity == b.Polarity && longest <= longestReply
}

func taskOf(k *domain.Knowledge) string {
	return strings.ToLower(strings.Join(strings.Fields(k.Text.Task), " "))
}

// comparedOf is what is compared of an item.
func comparedOf(k *domain.Knowledge) compare.Item {
	return compare.Item{
		Task: k.Text.Task, Content: k.Text.Content, Tags: k.Text.Tags, Negative: k.Polarity == domain.Negative,
	}
}
