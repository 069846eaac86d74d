package past

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/vectors"
	"github.com/annals-kb/annals/projections/words"
)

// pastItem is an item during the fold of a page, with its rows that still hold.
type pastItem struct {
	*domain.Knowledge
	positions textPositions
	tags      tagSignature
	hasText   bool // its texts are loaded, not only their positions

	item, words validity            // the rows that hold now
	scopes      map[string]validity // by scope
}

// validity is the validity interval of a row that still holds, in the database or yet to be written.
type validity struct {
	open  bool
	since int64
	fresh []any // the values of a row that is to be written; nil if it is in the database
}

// untilColumn is the index of the position at which a row ceases to hold.
func untilColumn(columns []string) int { return slices.Index(columns, "until") }

// pageChange is what a page of events does to the tables of the past.
type pageChange struct {
	past      *Projection
	tenant    string
	policy    domain.ConfidencePolicy
	tokenizer text.Tokenizer

	items, scopes, counts, words, pieces [][]any // rows to be inserted
	ended                                []rowEnd
	erased                               []int64 // items that have lost their texts
	refolded                             []int64 // items that were folded again from their beginning
}

// rowEnd ends the validity interval of a row in the database.
type rowEnd struct {
	table  string // a field of rows.PastTables
	scope  string // of a row of scopes
	number int64
	since  int64
	until  int64
}

// fold folds an event into an item and notes the rows that begin and end with it.
func (p *pageChange) fold(f *pastItem, event domain.Event) error {
	before := *f.Knowledge
	scopesBefore := searchableScopes(f.Knowledge)
	at := f.positions
	if err := f.Evolve(event.Fact, event.Metadata(), p.policy); err != nil {
		return fmt.Errorf("position %d of tenant %s, %s: %w", event.Position, event.Tenant, event.Stream, err)
	}
	f.positions.note(event.Fact, event.Position)
	if f.Version == 1 || at.tags != f.positions.tags {
		f.tags = signatureOf(f.Text.Tags)
	}
	if f.Revision != before.Revision {
		if err := p.foldItem(f); err != nil {
			return err
		}
		p.foldScopes(f, scopesBefore)
	}
	if f.Version == 1 || f.Revision == before.Revision || countedNames[event.Name] {
		values, err := countValues(p.tenant, f.Knowledge, f.positions)
		if err != nil {
			return err
		}
		p.counts = append(p.counts, values)
	}
	switch {
	case f.Status == domain.IsErased && before.Status != domain.IsErased:
		p.erase(f)
	case f.Version == 1, at.content != f.positions.content, at.task != f.positions.task,
		at.tags != f.positions.tags, at.abstract != f.positions.abstract:
		p.foldWords(f)
	}
	return nil
}

// countedNames are the facts that revise an item and may change its counts.
var countedNames = rows.Set{
	domain.Merged{}.Name(): true, domain.Unmerged{}.Name(): true, domain.Transferred{}.Name(): true,
}

// CountedNames are names of facts with which both a row of an item and its counts begin.
func CountedNames() []string { return slices.Sorted(maps.Keys(countedNames)) }

func (p *pageChange) foldItem(f *pastItem) error {
	p.end(&f.item, rowEnd{table: "items", number: f.Number}, itemColumns, f.Position)
	values, err := itemValues(p.tenant, f.Knowledge, f.positions, f.tags, Forever)
	if err != nil {
		return err
	}
	p.items = append(p.items, values)
	f.item = validity{open: true, since: f.Position, fresh: values}
	return nil
}

// searchableScopes are the scopes in which answers might contain an item.
func searchableScopes(k *domain.Knowledge) []string {
	if !rows.IsLive(k) {
		return nil
	}
	scopes := make([]string, len(k.Scopes))
	for i, scope := range k.Scopes {
		scopes[i] = string(scope)
	}
	return scopes
}

func (p *pageChange) foldScopes(f *pastItem, before []string) {
	after := searchableScopes(f.Knowledge)
	for _, scope := range before {
		if slices.Contains(after, scope) {
			continue
		}
		spell := f.scopes[scope]
		p.end(&spell, rowEnd{table: "scopes", scope: scope, number: f.Number}, scopeColumns, f.Position)
		delete(f.scopes, scope)
	}
	for _, scope := range after {
		if slices.Contains(before, scope) {
			continue
		}
		values := []any{p.tenant, scope, f.Number, f.Position, int64(Forever)}
		p.scopes = append(p.scopes, values)
		f.scopes[scope] = validity{open: true, since: f.Position, fresh: values}
	}
}

func (p *pageChange) foldWords(f *pastItem) {
	p.end(&f.words, rowEnd{table: "words", number: f.Number}, wordColumns, f.Position)
	terms, itsWords := words.Tokenize(p.tokenizer, f.Knowledge)
	values := []any{p.tenant, f.Number, f.Position, int64(Forever), itsWords, []byte(words.PackTerms(terms))}
	p.words = append(p.words, values)
	f.words = validity{open: true, since: f.Position, fresh: values}
	for _, piece := range vectors.Pieces(f.Knowledge) {
		p.pieces = append(p.pieces, []any{p.tenant, f.Number, f.Position, piece.Index, piece.Hash[:]})
	}
}

// end ends the validity interval of a row.
func (p *pageChange) end(s *validity, e rowEnd, columns []string, position int64) {
	switch {
	case !s.open:
	case s.fresh != nil:
		s.fresh[untilColumn(columns)] = position
	default:
		e.since, e.until = s.since, position
		p.ended = append(p.ended, e)
	}
	*s = validity{}
}

// erase removes everything from a page that could reveal an item's texts.
func (p *pageChange) erase(f *pastItem) {
	p.erased = append(p.erased, f.Number)
	its := func(row []any) bool { return row[1] == f.Number }
	p.words = slices.DeleteFunc(p.words, its)
	p.pieces = slices.DeleteFunc(p.pieces, its)
	p.ended = slices.DeleteFunc(p.ended, func(e rowEnd) bool { return e.table == "words" && e.number == f.Number })
	f.words = validity{}
	first := slices.Index(itemColumns, "task_at")
	for _, row := range p.items {
		if its(row) {
			for place := first; place < len(row); place++ {
				row[place] = int64(0)
			}
		}
	}
	for _, row := range p.counts {
		if its(row) {
			row[slices.Index(countColumns, "reason_at")] = int64(0)
			row[slices.Index(countColumns, "suspended_reason_at")] = int64(0)
		}
	}
}

// Write implements [follow.Change]: it writes the rows in one round trip.
func (p *pageChange) Write(ctx context.Context, tx bun.IDB) error {
	s, t := &rows.Script{Engine: p.past.catalogue.DB.Engine}, p.past.Tables
	p.clear(s, tx, t)
	tables := map[string]rows.Source{"items": t.Items, "scopes": t.Scopes, "words": t.Words}
	for _, e := range p.ended {
		query := tx.NewUpdate().TableExpr("?", tables[e.table].Name).Set("until = ?", e.until).
			Where("tenant = ?", p.tenant).Where("number = ?", e.number).Where("since = ?", e.since)
		if e.scope != "" {
			query = tx.NewUpdate().TableExpr("?", tables[e.table].Name).Set("until = ?", e.until).
				Where("tenant = ?", p.tenant).Where("scope = ?", e.scope).Where("number = ?", e.number).
				Where("until = ?", int64(Forever))
		}
		s.AddQuery(query)
	}
	for _, part := range []struct {
		table   rows.Source
		columns []string
		rows    [][]any
	}{
		{t.Items, itemColumns, p.items},
		{t.Scopes, scopeColumns, p.scopes},
		{t.Counts, countColumns, p.counts},
		{t.Words, wordColumns, p.words},
		{t.Pieces, pieceColumns, p.pieces},
	} {
		part.table.Insert(s, part.columns, part.rows, "")
	}
	if len(p.erased) > 0 {
		forget(s, tx, t, p.tenant, p.erased)
	}
	if err := s.Execute(ctx, tx); err != nil {
		return fmt.Errorf("write the past: %w", err)
	}
	return nil
}

func (*pageChange) Done() {}

// forget removes everything from the tables that could reveal items' texts.
func forget(s *rows.Script, tx bun.IDB, t rows.PastTables, tenant string, numbers []int64) {
	blank := tx.NewUpdate().TableExpr("?", t.Items.Name).Where("tenant = ?", tenant).
		Where("number IN (?)", bun.List(numbers))
	for _, place := range itemColumns[slices.Index(itemColumns, "task_at"):] {
		blank = blank.Set("? = 0", bun.Ident(place))
	}
	s.AddQuery(blank)
	for _, table := range []bun.Ident{t.Words.Name, t.Pieces.Name} {
		s.AddQuery(tx.NewDelete().TableExpr("?", table).Where("tenant = ?", tenant).Where("number IN (?)", bun.List(numbers)))
	}
	s.AddQuery(tx.NewUpdate().TableExpr("?", t.Counts.Name).Set("reason_at = 0, suspended_reason_at = 0").
		Where("tenant = ?", tenant).Where("number IN (?)", bun.List(numbers)))
}

// validities are the scopes of an item that the database has.
func validities(k *domain.Knowledge) map[string]validity {
	all := map[string]validity{}
	for _, scope := range searchableScopes(k) {
		all[scope] = validity{open: true}
	}
	return all
}

// Erase deletes the words, pieces and tags by which the items could be found; their other rows stay. It updates items
// first, in the order in which the projection writes, so that transactions do not deadlock.
func Erase(
	_ context.Context, tx bun.IDB, versions []catalogue.Entry, r catalogue.Footprint, script *rows.Script,
) error {
	for _, e := range versions {
		if e.Name != catalogue.PastName || e.Settings["dropped"] != "" {
			continue
		}
		t := rows.PastTablesOf(e.Version)
		script.AddQuery(tx.NewUpdate().TableExpr("?", t.Items.Name).Set("tag_bits = ?", anyTags.column()).
			Where("tenant = ?", r.Tenant).Where("number IN (?)", bun.List(r.Numbers)))
		for _, table := range []bun.Ident{t.Words.Name, t.Pieces.Name} {
			script.AddQuery(tx.NewDelete().TableExpr("?", table).
				Where("tenant = ?", r.Tenant).Where("number IN (?)", bun.List(r.Numbers)))
		}
	}
	return nil
}
