package projections

import (
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
)

// reindex tells whether the index of words must change for an item, and to what. The length of what
// an item says is known even while no answer may contain it, however its events were batched.
func (s *stage) reindex(it *item) (bool, itemTerms) {
	if it.refold {
		return isAlive(&it.was) || isAlive(it.now), s.itemTermsOf(it.now)
	}
	if it.was.Exists() && it.was.Revision == it.now.Revision {
		return false, itemTerms{words: it.words}
	}
	was, now := isAlive(&it.was), isAlive(it.now)
	same := it.was.Exists() && saySame(it.was.Text, it.now.Text)
	switch {
	case !now && same:
		return was, itemTerms{words: it.words}
	case was && now && same && slices.Equal(it.was.Scopes, it.now.Scopes):
		return false, itemTerms{words: it.words}
	}
	return was || now, s.itemTermsOf(it.now)
}

// saySame tells whether two texts have the same words for the index.
func saySame(a, b domain.Text) bool {
	return a.Content == b.Content && a.Task == b.Task && slices.Equal(tagValues(a.Tags), tagValues(b.Tags))
}

// indexChange is what a batch changes in the index of words.
type indexChange struct {
	gone  []*domain.Knowledge
	made  [][]any   // rows of scopes
	terms []termRow // of what is too long for a bag
}

func (c *indexChange) add(tenant string, it *item, now itemTerms) {
	if isAlive(&it.was) {
		c.gone = append(c.gone, &it.was)
	}
	if !isAlive(it.now) {
		return
	}
	for _, scope := range it.now.Scopes {
		c.made = append(c.made, []any{tenant, string(scope), it.now.Number, now.words, []byte(now.packed)})
	}
	if now.packed == nil {
		c.terms = appendTerms(c.terms, it.now, now.terms)
	}
}

var bagColumns = append(slices.Clone(scopesColumns), "bag")

func (c indexChange) write(script *script, s *stage) {
	for _, k := range c.gone {
		script.add(s.tx.NewDelete().TableExpr("?", s.tables.terms).
			Where("tenant = ?", s.tenant).Where("term IN (?)", bun.List(documentTermsOf(s.version.tokenizer, k).Terms)).
			Where("scope IN (?)", bun.List(k.Scopes)).Where("number = ?", k.Number))
		script.add(s.tx.NewDelete().TableExpr("?", s.tables.scopes).
			Where("tenant = ?", s.tenant).Where("scope IN (?)", bun.List(k.Scopes)).Where("number = ?", k.Number))
	}
	slices.SortStableFunc(c.made, func(a, b []any) int { return strings.Compare(a[1].(string), b[1].(string)) }) // as the key: neighbours share pages
	script.insert(s.tables.scopes, bagColumns, c.made, "")
	insertTerms(script, s.tables, s.tenant, c.terms)
}
