package rows

import (
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
)

// Form is the number of the form that this program gives the tables of a version. It grows with each change of their
// columns, and a test compares both.
const Form = "2"

// group is how columns are written.
type group int

const (
	fixed   group = iota // with the row
	counted              // with every change
	revised              // with every revision
	words                // likewise; as the following, a column of the past, too, with one type in SQL
	flags
)

// columns are those of the knowledge table, in the order in which they are written.
var columns = []struct {
	name  string
	group group
	cell  func(r *Row) cell
}{
	{"tenant", fixed, func(r *Row) cell { return textOf(&r.Tenant) }},
	{"id", fixed, func(r *Row) cell { return textOf(&r.ID) }},
	{"number", fixed, func(r *Row) cell { return plainOf(&r.Number) }},
	{"type", words, func(r *Row) cell { return textOf(&r.Type) }},
	{"context_type", words, func(r *Row) cell { return textOf(&r.ContextType) }},
	{"category", words, func(r *Row) cell { return textOf(&r.Category) }},
	{"polarity", words, func(r *Row) cell { return textOf(&r.Polarity) }},
	{"media", words, func(r *Row) cell { return textOf(&r.Media) }},
	{"status", words, func(r *Row) cell { return textOf(&r.Status) }},
	{"superseded_by", words, func(r *Row) cell { return textOf(&r.SupersededBy) }},
	{"held", flags, func(r *Row) cell { return plainOf(&r.Held) }},
	{"owner", revised, func(r *Row) cell { return textOf(&r.Owner) }},
	{"visibility", revised, func(r *Row) cell { return textOf(&r.visibility) }},
	{"uri", revised, func(r *Row) cell { return textOf(&r.Text.URI) }},
	{"task", revised, func(r *Row) cell { return textOf(&r.Text.Task) }},
	{"content", revised, func(r *Row) cell { return textOf(&r.Text.Content) }},
	{"abstract", revised, func(r *Row) cell { return textOf(&r.Text.Abstract) }},
	{"overview", revised, func(r *Row) cell { return textOf(&r.Text.Overview) }},
	{"tags", revised, (*Row).tags},
	{"meta", revised, (*Row).meta},
	{"source", revised, func(r *Row) cell { return jsonOf(&r.Source) }},
	{"trace_id", fixed, func(r *Row) cell { return textOf(&r.traceID) }},
	{"scopes", revised, func(r *Row) cell { return jsonOf(&r.Scopes) }},
	{"baseline", counted, (*Row).baseline},
	{"derived_from", revised, (*Row).origins},
	{"relations", revised, (*Row).relations},
	{"words", revised, func(r *Row) cell { return plainOf(&r.Words) }},
	{"helpful", counted, func(r *Row) cell { return plainOf(&r.Helpful) }},
	{"harmful", counted, func(r *Row) cell { return plainOf(&r.Harmful) }},
	{"confidence", counted, func(r *Row) cell { return plainOf(&r.Confidence) }},
	{"stale_reporters", counted, func(r *Row) cell { return plainOf(&r.Stale.Reporters) }},
	{"stale_since", counted, func(r *Row) cell { return momentOf(&r.Stale.Since) }},
	{"stale_reason", counted, func(r *Row) cell { return textOf(&r.Stale.Reason) }},
	{"confirmed_at", counted, func(r *Row) cell { return momentOf(&r.ConfirmedAt) }},
	{"confirm_until", counted, func(r *Row) cell { return momentOf(&r.ConfirmUntil) }},
	{"suspended_reporters", counted, func(r *Row) cell { return plainOf(&r.Suspended.Reporters) }},
	{"suspended_since", counted, func(r *Row) cell { return momentOf(&r.Suspended.Since) }},
	{"suspended_reason", counted, func(r *Row) cell { return textOf(&r.Suspended.Reason) }},
	{"expired_confidence", counted, func(r *Row) cell { return plainOf(&r.ExpiredConfidence) }},
	{"revision", revised, func(r *Row) cell { return plainOf(&r.Revision) }},
	{"version", counted, func(r *Row) cell { return plainOf(&r.Version) }},
	{"position", counted, func(r *Row) cell { return plainOf(&r.Position) }},
	{"created_at", fixed, func(r *Row) cell { return momentOf(&r.CreatedAt) }},
	{"updated_at", revised, func(r *Row) cell { return momentOf(&r.UpdatedAt) }},
	{"occurred_at", fixed, func(r *Row) cell { return momentOf(&r.OccurredAt) }},
}

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

// Filters are the filters of now and then by a word of each item, besides the status: the kind of the set that has the
// items with a word, 0 for none; the column; the word of an item; and those of which it must have one, none for any.
var Filters = []struct {
	Set    uint64
	Column string
	WordOf func(k *domain.Knowledge) string
	Asked  func(f *domain.Filter) []string
}{
	{
		OfType, "type", func(k *domain.Knowledge) string { return string(k.Type) },
		func(f *domain.Filter) []string { return wordsOf(f.Types...) },
	},
	{
		OfContextType, "context_type", func(k *domain.Knowledge) string { return string(k.ContextType) },
		func(f *domain.Filter) []string { return wordsOf(f.ContextTypes...) },
	},
	{
		OfCategory, "category", func(k *domain.Knowledge) string { return string(k.Category) },
		func(f *domain.Filter) []string { return wordsOf(f.Categories...) },
	},
	{
		OfOwner, "owner", func(k *domain.Knowledge) string { return string(k.Owner) },
		func(f *domain.Filter) []string { return wordsOf(f.Owner) },
	},
	{
		OfVisibility, "visibility", func(k *domain.Knowledge) string { return string(k.Visibility()) },
		func(f *domain.Filter) []string { return wordsOf(f.Visibility) },
	},
	{
		OfPolarity, "polarity", func(k *domain.Knowledge) string { return string(k.Polarity) },
		func(f *domain.Filter) []string { return wordsOf(f.Polarity) },
	},
	{
		0, "trace_id", func(k *domain.Knowledge) string { return k.Source.TraceID },
		func(f *domain.Filter) []string { return wordsOf(f.TraceID) },
	},
}

func wordsOf[T ~string](asked ...T) (words []string) {
	for _, word := range asked {
		if word != "" {
			words = append(words, string(word))
		}
	}
	return words
}

// AreToldBySets tells whether sets of the index can tell all of a filter.
func AreToldBySets(f domain.Filter) bool {
	for _, filter := range Filters {
		if filter.Set == 0 && len(filter.Asked(&f)) > 0 {
			return false
		}
	}
	return len(f.Phrases)+len(f.Without)+len(f.Levels)+len(f.IDs)+len(f.Under)+len(f.URIPrefix)+len(f.IDPrefix) == 0 &&
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
