package knowledge

import (
	"fmt"
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

const (
	termsAsked      = 64  // of a text: the hashes are in order, so these are a sample of it
	postingsWeighed = 100 // of each of these terms, to find the rarest
)

// ItemsSaying implements [domain.DecisionContext]. It compares the items that have the rarest of the text's terms, and
// those with packed rows, which are few.
func (s *Stage) ItemsSaying(text domain.Text, scopes []domain.Scope) (ids []string) {
	query := s.tx.NewSelect().TableExpr("? AS k", s.tables.Knowledge).Column("k.id").
		Where("k.tenant = ?", s.tenant).Where("k.status = ?", domain.Active).
		Where("k.task = ?", text.Task).Where("k.content = ?", text.Content).Order("k.number")
	said := &domain.Knowledge{Text: domain.Text{Task: text.Task, Content: text.Content}}
	var terms [][]any
	for _, hash := range words.ItemTermsOf(s.version.Tokenizer, said).Hashes() {
		terms = append(terms, []any{hash})
	}
	if len(terms) > 0 {
		query = query.Where(`k.number IN (
			SELECT t.number
			FROM ?0 AS t
			WHERE t.tenant = ?1 AND t.scope IN (?2) AND t.term = (
				SELECT asked.column1
				FROM (VALUES ?3) AS asked
				ORDER BY (SELECT count(*) FROM (
					SELECT 1 FROM ?0 AS p WHERE p.tenant = ?1 AND p.scope IN (?2) AND p.term = asked.column1 LIMIT ?4) AS weighed)
				LIMIT 1)
			UNION
			SELECT b.number FROM ?5 WHERE b.tenant = ?1 AND b.scope IN (?2) AND b.bag IS NOT NULL)`,
			s.tables.Terms, s.tenant, bun.List(scopes), rows.Tuples(terms[:min(len(terms), termsAsked)]), postingsWeighed,
			words.PackedIndexHint(s.catalogue.DB.Engine, s.tables, "b"))
	}
	if err := query.Scan(s.ctx, &ids); err != nil {
		s.err = fmt.Errorf("look a text up: %w", err)
	}
	for _, id := range s.order { // changed by earlier commands of the batch
		if k := s.items[id].now; k.Text.Content == text.Content {
			ids = append(ids, id)
		}
	}
	return ids
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
