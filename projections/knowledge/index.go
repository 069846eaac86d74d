package knowledge

import (
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

// reindex tells whether an item's rows in the index must change, and returns its terms. Its length in words is set
// even for an item that no answer may contain.
func (s *Stage) reindex(it *item) (bool, words.ItemTerms) {
	if it.refold {
		return rows.IsLive(&it.was) || rows.IsLive(it.now), s.itemTermsOf(it.now)
	}
	if it.was.Exists() && it.was.Revision == it.now.Revision {
		return false, words.ItemTerms{Words: it.words}
	}
	was, now := rows.IsLive(&it.was), rows.IsLive(it.now)
	same := it.was.Exists() && saySame(it.was.Text, it.now.Text)
	switch {
	case !now && same:
		return was, words.ItemTerms{Words: it.words}
	case was && now && same && slices.Equal(it.was.Scopes, it.now.Scopes):
		return false, words.ItemTerms{Words: it.words}
	}
	return was || now, s.itemTermsOf(it.now)
}

// saySame tells whether two texts have the same terms.
func saySame(a, b domain.Text) bool {
	return a.Content == b.Content && a.Task == b.Task && slices.Equal(words.TagValues(a.Tags), words.TagValues(b.Tags))
}

// indexChange is how a batch changes the index of words.
type indexChange struct {
	gone  []*domain.Knowledge
	made  [][]any         // rows of scopes
	terms []words.TermRow // of items with too many terms for a packed row
}

func (c *indexChange) add(tenant string, it *item, now words.ItemTerms) {
	if rows.IsLive(&it.was) {
		c.gone = append(c.gone, &it.was)
	}
	if !rows.IsLive(it.now) {
		return
	}
	bag := []byte(now.PackedTerms)
	if now.IsLarge() {
		bag = nil
		c.terms = words.AppendTerms(c.terms, it.now.Number, it.now.Scopes, now)
	}
	for _, scope := range it.now.Scopes {
		c.made = append(c.made, []any{tenant, string(scope), it.now.Number, now.Words, bag})
	}
}

func (c indexChange) write(script *rows.Script, s *Stage) {
	for _, k := range c.gone {
		script.AddQuery(s.tx.NewDelete().TableExpr("?", s.tables.Terms).
			Where("tenant = ?", s.tenant).Where("term IN (?)", bun.List(words.ItemTermsOf(s.version.Tokenizer, k).Hashes())).
			Where("scope IN (?)", bun.List(k.Scopes)).Where("number = ?", k.Number))
		script.AddQuery(s.tx.NewDelete().TableExpr("?", s.tables.Scopes).
			Where("tenant = ?", s.tenant).Where("scope IN (?)", bun.List(k.Scopes)).Where("number = ?", k.Number))
	}
	// in the order of the key: neighbours share pages
	slices.SortStableFunc(c.made, func(a, b []any) int { return strings.Compare(a[1].(string), b[1].(string)) })
	script.InsertRows(s.tables.Scopes, rows.BagColumns, c.made, "")
	words.InsertTerms(script, s.tables, s.tenant, c.terms)
}
