package knowledge

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

// reindex tells whether an item's entry in the index must change, and returns its terms. Its length in words is set
// even for an item that no answer may contain.
func (s *Stage) reindex(it *item) (bool, words.ItemTerms) {
	was, now := rows.IsLive(&it.was), rows.IsLive(it.now)
	if it.refold {
		return was || now, s.itemTermsOf(it.now)
	}
	if it.was.Exists() && it.was.Revision == it.now.Revision {
		return false, words.ItemTerms{Words: it.words}
	}
	same := it.was.Exists() && saySame(&it.was, it.now)
	switch {
	case !now && same:
		return was, words.ItemTerms{Words: it.words}
	case was && now && same && bytes.Equal(words.SetsOf(&it.was), words.SetsOf(it.now)):
		return false, words.ItemTerms{Words: it.words}
	}
	return was || now, s.itemTermsOf(it.now)
}

// saySame tells whether two items have the same terms.
func saySame(a, b *domain.Knowledge) bool {
	return a.Text.Content == b.Text.Content && a.Text.Task == b.Text.Task &&
		slices.Equal(words.TagValues(a.Text.Tags), words.TagValues(b.Text.Tags)) &&
		words.SequenceOf(a) == words.SequenceOf(b)
}

// mostTerms limits the terms of a text: the hashes are in order, so these are a sample of it.
const mostTerms = 64

// ItemsSaying implements [domain.DecisionContext]. It compares the items that have the rarest of the text's terms, and
// those that changed since they were indexed, which are few.
func (s *Stage) ItemsSaying(t domain.Text, scopes []domain.Scope) (ids []string) {
	example := &domain.Knowledge{Text: domain.Text{Task: t.Task, Content: t.Content}}
	by := s.version.Tokenizer
	by.Sequences, by.IDs = false, false // items of other sequences may say the same
	terms := words.ItemTermsOf(by, example).Hashes()
	numbers, err := words.Rarest(s.ctx, s.tx, s.tables, s.tenant, terms[:min(len(terms), mostTerms)])
	if err == nil {
		query := s.tx.NewSelect().TableExpr("? AS k", s.tables.Knowledge).Column("k.id").
			Where("k.tenant = ?", s.tenant).Where("k.status = ?", domain.Active).
			Where("k.task = ?", t.Task).Where("k.content = ?", t.Content).
			Where(rows.Reaches(s.catalogue.DB.Engine, "k.scopes"), bun.List(scopes)).Order("k.number")
		if len(terms) > 0 && s.tables.HasWords() {
			query = query.Where("(k.number IN (?) OR k.number IN (SELECT number FROM ? AS c WHERE tenant = ?))",
				bun.List(numbers), s.tables.Changes, s.tenant)
		}
		err = query.Scan(s.ctx, &ids)
	}
	if err != nil {
		s.err = fmt.Errorf("look a text up: %w", err)
	}
	for _, id := range s.order { // changed by earlier commands of the batch
		if k := s.items[id].now; k.Text.Content == t.Content {
			ids = append(ids, id)
		}
	}
	return ids
}

// indexChange is how a batch changes the index of words.
type indexChange struct {
	changes [][]any
}

// add adds an item's change. The blocks have nothing of an item that was erased from them for this batch.
func (c *indexChange) add(s *Stage, it *item, terms words.ItemTerms) {
	var was, now []byte
	if rows.IsLive(&it.was) && !(s.erased && slices.Contains(s.redacted, it.now.ID)) {
		was = words.EntryOf(s.version.Tokenizer, &it.was).Encode()
	}
	if rows.IsLive(it.now) {
		now = words.Entry{ItemTerms: terms, Sets: words.SetsOf(it.now)}.Encode()
	}
	if was != nil || now != nil {
		c.changes = append(c.changes, []any{s.tenant, it.now.Number, it.now.Version, was, now})
	}
}

func (c indexChange) write(script *rows.Script, s *Stage) {
	// in the order in which the indexer locks them; the first one knows what the blocks have
	slices.SortFunc(c.changes, func(a, b []any) int { return cmp.Compare(a[1].(int64), b[1].(int64)) })
	s.tables.Changes.Insert(script, rows.ChangesColumns, c.changes,
		"ON CONFLICT (tenant, number) DO UPDATE SET version = EXCLUDED.version, now = EXCLUDED.now")
}
