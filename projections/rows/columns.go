package rows

import (
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
)

// The kinds of the sets of the index. A set's key is its kind and the hash of its value; the keys below are hashes of
// terms. Indexes have these numbers: a new kind comes last.
const (
	OfAll uint64 = (iota + 1) << HashBits
	OfScope
	OfTier
	OfStatus
	OfType
	OfContextType
	OfCategory
	OfOwner
	OfVisibility
	OfPolarity
	OfTagKey
	OfTag
	OfOthers // items that are no archives
)

// HashBits is the size of the hash in the key of a set.
const HashBits = 48

// Filter is a filter by a word that each item has.
type Filter struct {
	Set    uint64 // the kind of the set that has the items with a word; 0 for none
	Column string
	Of     func(k *domain.Knowledge) string
	Asked  func(f *domain.Filter) []string // the words of which an item must have one; none for any
}

// Filters are the filters by words of now and then, besides the status.
var Filters = []Filter{
	among(OfType, "type", func(k *domain.Knowledge) domain.Type { return k.Type },
		func(f *domain.Filter) []domain.Type { return f.Types }),
	among(OfContextType, "context_type", func(k *domain.Knowledge) domain.ContextType { return k.ContextType },
		func(f *domain.Filter) []domain.ContextType { return f.ContextTypes }),
	among(OfCategory, "category", func(k *domain.Knowledge) domain.Category { return k.Category },
		func(f *domain.Filter) []domain.Category { return f.Categories }),
	equal(OfOwner, "owner", func(k *domain.Knowledge) domain.Entity { return k.Owner },
		func(f *domain.Filter) domain.Entity { return f.Owner }),
	equal(OfVisibility, "visibility", (*domain.Knowledge).Visibility,
		func(f *domain.Filter) domain.Visibility { return f.Visibility }),
	equal(OfPolarity, "polarity", func(k *domain.Knowledge) domain.Polarity { return k.Polarity },
		func(f *domain.Filter) domain.Polarity { return f.Polarity }),
	equal(0, "trace_id", func(k *domain.Knowledge) string { return k.Source.TraceID },
		func(f *domain.Filter) string { return f.TraceID }),
}

// among is a filter by some words.
func among[T ~string](
	set uint64, column string, of func(*domain.Knowledge) T, asked func(*domain.Filter) []T,
) Filter {
	return Filter{set, column, func(k *domain.Knowledge) string { return string(of(k)) }, func(f *domain.Filter) []string {
		var words []string
		for _, word := range asked(f) {
			words = append(words, string(word))
		}
		return words
	}}
}

// equal is a filter by one word; an empty one asks for nothing.
func equal[T ~string](
	set uint64, column string, of func(*domain.Knowledge) T, asked func(*domain.Filter) T,
) Filter {
	return among(set, column, of, func(f *domain.Filter) []T {
		if word := asked(f); word != "" {
			return []T{word}
		}
		return nil
	})
}

// AreToldBySets tells whether sets of the index can tell all of a filter.
func AreToldBySets(f domain.Filter) bool {
	for _, filter := range Filters {
		if filter.Set == 0 && len(filter.Asked(&f)) > 0 {
			return false
		}
	}
	return len(f.Levels)+len(f.IDs)+len(f.Under)+len(f.URIPrefix)+len(f.IDPrefix) == 0 &&
		f.Stale == nil && f.Contested == nil && f.Expired == nil && f.MinConfidence == nil && f.MaxConfidence == nil &&
		f.CreatedFrom.IsZero() && f.CreatedTo.IsZero() && f.UpdatedFrom.IsZero() && f.UpdatedTo.IsZero()
}

// IsPlain tells whether a filter excludes nothing but superseded items, archives, and what is private to others.
func IsPlain(f domain.Filter) bool {
	for _, filter := range Filters {
		if len(filter.Asked(&f)) > 0 {
			return false
		}
	}
	return len(f.Statuses)+len(f.Scope)+len(f.Tags)+len(f.Also) == 0 && AreToldBySets(f)
}

// WhereKind narrows a query over items k, of now or then, by the columns that both have.
func WhereKind(query *bun.SelectQuery, f domain.Filter) *bun.SelectQuery {
	for _, filter := range Filters {
		query = Among(query, "k."+filter.Column, filter.Asked(&f))
	}
	query = Among(query, "k.id", f.IDs)
	if f.IDPrefix != "" {
		query = query.Where("k.id >= ? AND k.id < ?", f.IDPrefix, f.IDPrefix+LastCharacter)
	}
	if f.NoArchives {
		query = query.Where("(substr(k.id, 1, ?) <> ? OR length(k.id) <> ?)", len(domain.ArchivePrefix),
			domain.ArchivePrefix, domain.ArchiveLength)
	}
	if len(f.PrivateOf) > 0 {
		query = query.Where("(k.visibility <> ? OR k.owner IN (?))", domain.Private, bun.List(f.PrivateOf))
	}
	return query
}
