package projections

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/annals-kb/annals/domain"
)

// image is what some items look like in every table of a version: rows of column values, as both a
// bulk load writes them and a verification compares them. A verification leaves out the terms.
type image struct {
	knowledge, scopes, terms, votes, reports [][]any

	unreadable [][]any // rows of the knowledge table that cannot be read, as far as they can be
}

// The columns of each table, in the order of an image's values.
var (
	knowledgeColumns = []string{
		"tenant", "id", "number", "type", "context_type", "category", "polarity", "media", "owner",
		"visibility", "status", "superseded_by", "held", "uri", "task", "content", "abstract", "overview",
		"tags", "meta", "source", "trace_id", "scopes", "baseline", "derived_from", "relations", "words", "helpful",
		"harmful", "confidence", "stale_reporters", "stale_since", "stale_reason", "confirmed_at",
		"confirm_until", "suspended_reporters", "suspended_since", "suspended_reason", "expired_confidence", "revision", "version", "position", "created_at", "updated_at", "occurred_at",
	}
	scopesColumns  = []string{"tenant", "scope", "number", "words"} // without bags: a load fills the index of terms
	termsColumns   = []string{"tenant", "term", "scope", "number", "count", "words"}
	votesColumns   = []string{"tenant", "id", "event_id", "voter", "ballot", "verdict", "trace_id", "query", "outcome", "at"}
	reportsColumns = []string{"tenant", "id", "reporter", "event_id", "reason", "at", "suspended"}
)

// add draws an item, and its terms if it is one that answers may contain.
func (i *image) add(tenant string, k *domain.Knowledge, b documentTerms) error {
	if err := i.addRows(tenant, k, b.Words); err != nil || !isAlive(k) {
		return err
	}
	for _, scope := range k.Scopes {
		for at, term := range b.Terms {
			i.terms = append(i.terms, []any{tenant, term, string(scope), k.Number, b.Counts[at], b.Words})
		}
	}
	return nil
}

// sort puts the rows in the order of their tables' keys, as far as they are not: neighbours then go to the same page
// one after the other.
func (i *image) sort() {
	slices.SortFunc(i.scopes, func(a, b []any) int {
		return cmp.Or(cmp.Compare(a[1].(string), b[1].(string)), cmp.Compare(a[2].(int64), b[2].(int64)))
	})
	slices.SortFunc(i.terms, func(a, b []any) int {
		return cmp.Or(cmp.Compare(a[1].(string), b[1].(string)), cmp.Compare(a[2].(string), b[2].(string)),
			cmp.Compare(a[3].(int64), b[3].(int64)))
	})
	slices.SortFunc(i.votes, func(a, b []any) int {
		return cmp.Or(cmp.Compare(a[1].(string), b[1].(string)), cmp.Compare(a[2].(string), b[2].(string)))
	})
}

// addRows draws all of an item but its terms.
func (i *image) addRows(tenant string, k *domain.Knowledge, words int) error {
	if isAlive(k) {
		for _, scope := range k.Scopes {
			i.scopes = append(i.scopes, []any{tenant, string(scope), k.Number, words})
		}
	}
	r := rowOf(tenant, k, words)
	values, err := r.values()
	if err != nil {
		return fmt.Errorf("%s: %w", k.ID, err)
	}
	i.knowledge = append(i.knowledge, values)
	for _, vote := range k.Votes {
		v := voteRowOf(tenant, k.ID, vote)
		i.votes = append(i.votes, []any{v.Tenant, v.ID, v.EventID, v.Voter, v.Ballot, v.Verdict, v.TraceID, v.Query, v.Outcome, v.At})
	}
	for _, report := range k.Reports {
		r := reportRowOf(tenant, k.ID, report)
		i.reports = append(i.reports, []any{r.Tenant, r.ID, r.Reporter, r.EventID, r.Reason, r.At, r.Suspended})
	}
	return nil
}

// values are a row's columns in the order of knowledgeColumns.
func (r *row) values() ([]any, error) {
	var encoded [6]string
	for i, value := range []any{r.Tags, r.Source, r.Scopes, r.Baseline, r.DerivedFrom, r.Relations} {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		encoded[i] = string(text)
	}
	tags, source, scopes, baseline, derived, relations := encoded[0], encoded[1], encoded[2], encoded[3], encoded[4], encoded[5]
	return []any{
		r.Tenant, r.ID, r.Number, r.Type, r.ContextType, r.Category, r.Polarity, r.Media, r.Owner,
		r.Visibility, r.Status, r.SupersededBy, r.Held, r.URI, r.Task, r.Content, r.Abstract, r.Overview,
		tags, r.Meta, source, r.TraceID, scopes, baseline, derived, relations, r.Words, r.Helpful,
		r.Harmful, r.Confidence, r.StaleReporters, r.StaleSince, r.StaleReason, r.ConfirmedAt,
		r.ConfirmUntil, r.SuspendedReporters, r.SuspendedSince, r.SuspendedReason, r.ExpiredConfidence, r.Revision, r.Version, r.Position, r.CreatedAt, r.UpdatedAt, r.OccurredAt,
	}, nil
}
