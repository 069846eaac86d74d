package words

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections/rows"
)

// lacking marks a key of a group whose items do not pass.
const lacking = 1 << 62

// GroupsOf are the sets and the terms of a filter, as far as these can tell.
func (p Index) GroupsOf(f domain.Filter) Groups {
	return append(GroupsOf(f), TermsOfFilter(p.Version.Tokenizer, f)...)
}

// TermsOfFilter are the terms that items must have, or lack. What has a phrase has its terms, or it is the id.
func TermsOfFilter(by text.Tokenizer, f domain.Filter) (groups Groups) {
	for _, phrase := range f.Phrases {
		for _, term := range by.Query(phrase) {
			groups = append(groups, []uint64{HashOf(term.Term), HashOf(idTerm(phrase))})
		}
	}
	for _, word := range f.Without {
		if terms := by.Query(word); len(terms) == 1 {
			groups = append(groups, []uint64{HashOf(terms[0].Term) | lacking})
		}
	}
	return groups
}

// Pass tells whether an item with some terms passes. The groups are of terms.
func (g Groups) Pass(terms PackedTerms) bool {
	return !slices.ContainsFunc(g, func(keys []uint64) bool {
		has := slices.ContainsFunc(keys, func(key uint64) bool { return terms.Count(key&^lacking) > 0 })
		return has == (keys[0]&lacking > 0)
	})
}

// AreToldByTerms tells whether terms can tell all that a filter says of texts.
func AreToldByTerms(by text.Tokenizer, f domain.Filter) bool {
	return len(f.Phrases) == 0 &&
		!slices.ContainsFunc(f.Without, func(word string) bool { return len(by.Query(word)) != 1 })
}

// keys are the sets and terms that groups name.
func (g Groups) keys() []uint64 {
	keys := slices.Concat(g...)
	for i := range keys {
		keys[i] &^= lacking
	}
	return keys
}

// Holds tells whether an item has the phrases that a filter asks for, and nothing that it leaves out.
func Holds(by text.Tokenizer, f domain.Filter, k *domain.Knowledge) bool {
	if len(f.Phrases)+len(f.Without) == 0 {
		return true
	}
	const apart = "\n\x00\n" // no phrase has it
	said := strings.Join(append(TagValues(k.Text.Tags), k.Text.Content, k.Text.Task, k.ID), apart)
	lacks := func(phrase string) bool { return !text.Contains(said, phrase) }
	excluded := func(phrase string) bool { return len(by.Query(phrase)) != 1 && text.Contains(said, phrase) }
	if slices.ContainsFunc(f.Phrases, lacks) || slices.ContainsFunc(f.Without, excluded) {
		return false
	}
	f.Phrases = nil
	terms := TermsOfFilter(by, f)
	return len(terms) == 0 || terms.Pass(ItemTermsOf(by, k).PackedTerms)
}

// passing are those of some items that pass a filter.
func (p Index) passing(ctx context.Context, s domain.Search, numbers []int64) (passing []int64, err error) {
	columns := "k.number, '', '', '', '{}'"
	if !AreToldByTerms(p.Version.Tokenizer, s.Filter) {
		columns = "k.number, k.id, k.task, k.content, k.tags"
	}
	in := rows.Table{Engine: p.DB.Engine, Tenant: s.By.Tenant, Table: p.Tables.Knowledge, Alias: "k"}
	query := rows.LookUp(p.From.NewSelect().ColumnExpr(columns), in, rows.SingleKeys(numbers), "number")
	var k domain.Knowledge
	var tags []byte
	err = scan(ctx, p.Where(query, s.By.Tenant, s.Filter), func() error {
		k.Text.Tags = nil
		if json.Unmarshal(tags, &k.Text.Tags) == nil && Holds(p.Version.Tokenizer, s.Filter, &k) {
			passing = append(passing, k.Number)
		}
		return nil
	}, &k.Number, &k.ID, &k.Text.Task, &k.Text.Content, &tags)
	return passing, err
}
