package projections_test

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
)

// passes is the filter as its fields are documented, one item at a time.
func passes(k *domain.Knowledge, f domain.Filter) bool {
	statuses := f.Statuses
	if len(statuses) == 0 {
		statuses = []domain.Status{domain.Active}
	}
	return slices.Contains(statuses, k.Status) &&
		oneOf(k.Type, f.Types) && oneOf(k.ContextType, f.ContextTypes) && oneOf(k.Category, f.Categories) &&
		orAny(k.Owner, f.Owner) && orAny(k.Visibility(), f.Visibility) &&
		orAny(k.Polarity, f.Polarity) && orAny(k.Source.TraceID, f.TraceID) &&
		(f.Scope == "" || slices.Contains(k.Scopes, f.Scope)) &&
		strings.HasPrefix(k.Text.URI, f.URIPrefix) &&
		(len(f.Under) == 0 || slices.ContainsFunc(f.Under, domain.URI(k.Text.URI).Within)) &&
		(f.Stale == nil || *f.Stale == (k.Stale.Reporters > 0)) &&
		within(k.CreatedAt, f.CreatedFrom, f.CreatedTo) && within(k.UpdatedAt, f.UpdatedFrom, f.UpdatedTo) &&
		oneOf(domain.URI(k.Text.URI).Level(), f.Levels) && !(f.NoArchives && domain.IsArchive(k.ID)) &&
		!slices.ContainsFunc(f.Tagged(), func(wanted domain.Tags) bool { return !tagged(k.Text.Tags, wanted) })
}

func oneOf[T comparable](value T, accepted []T) bool {
	return len(accepted) == 0 || slices.Contains(accepted, value)
}

func orAny[T ~string](value, wanted T) bool { return wanted == "" || value == wanted }

// within counts the beginning in and the end out.
func within(at, from, to time.Time) bool {
	return !at.Before(from) && (to.IsZero() || at.Before(to))
}

// tagged asks for every key with any of its values, or without values for the key itself.
func tagged(tags, wanted domain.Tags) bool {
	for key, values := range wanted {
		has, there := tags[key]
		if !there || len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool { return slices.Contains(has, v) }) {
			return false
		}
	}
	return true
}

func isPlain(f domain.Filter) bool {
	f.NoArchives = false
	return reflect.ValueOf(f).IsZero()
}
