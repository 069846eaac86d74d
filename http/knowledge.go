package http

import (
	"time"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
)

func knowledgeOf(k *domain.Knowledge) *api.Knowledge {
	return &api.Knowledge{
		ID: k.ID, Type: string(k.Type), Task: k.Text.Task, Content: k.Text.Content,
		Abstract: k.Text.Abstract, Overview: k.Text.Overview, Tags: api.Tags(k.Text.Tags),
		Scopes: toStrings(k.Scopes), Owner: string(k.Owner), Visibility: string(k.Visibility()),
		ContextType: string(k.ContextType), Category: string(k.Category),
		Polarity: string(k.Polarity), Media: string(k.Media), Meta: k.Text.Meta,
		URI: k.Text.URI, Source: sourceOf(k.Source),
		Eval:       &api.Eval{Helpful: &k.Helpful, Harmful: &k.Harmful, Confidence: &k.Confidence},
		OccurredAt: known(k.OccurredAt),
		Stale:      &api.Stale{Reporters: k.Stale.Reporters, Since: known(k.Stale.Since), Reason: k.Stale.Reason},

		ConfirmedAt: known(k.ConfirmedAt), ConfirmUntil: known(k.ConfirmUntil), ConfirmationExpired: k.Expired,
		Status: string(k.Status), SupersededBy: k.SupersededBy, Held: k.Held,
		Relations: relationsOf(k.Relations), DerivedFrom: k.DerivedFrom, Revision: k.Revision, Version: k.Version,
		Position: k.Position, CreatedAt: known(k.CreatedAt), UpdatedAt: known(k.UpdatedAt),
	}
}

func sourceOf(s domain.Source) *api.Source {
	if s.Name+s.Category+s.AgentID+s.SubmittedBy+s.Timestamp+s.TraceID == "" && len(s.URLs) == 0 {
		return nil
	}
	return &api.Source{
		Name: s.Name, Category: s.Category, URLs: s.URLs, AgentID: s.AgentID,
		SubmittedBy: s.SubmittedBy, Timestamp: s.Timestamp, TraceID: s.TraceID,
	}
}

func usesOf(all []domain.Use) []api.VoteRecord {
	uses := make([]api.VoteRecord, len(all))
	for i, u := range all {
		uses[i] = api.VoteRecord{Query: u.Query, TraceID: u.TraceID, Outcome: u.Outcome, By: string(u.By), At: known(u.At)}
	}
	return uses
}

// known is t in UTC, or nil for the zero time.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// toStrings and fromStrings convert between strings and types of strings.
func toStrings[T ~string](words []T) []string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = string(word)
	}
	return all
}

func fromStrings[T ~string](words []string) []T {
	if words == nil {
		return nil
	}
	all := make([]T, len(words))
	for i, word := range words {
		all[i] = T(word)
	}
	return all
}
