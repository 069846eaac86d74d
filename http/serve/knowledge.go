package serve

import (
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

func relationsOf(all []domain.Relation) []api.Related {
	return Map(all, func(r domain.Relation) api.Related { return api.Related{To: r.To, Reason: r.Reason, At: Time(r.At)} })
}

// KnowledgeOf is an item as the API shows it.
func KnowledgeOf(k *domain.Knowledge) *api.Knowledge {
	return &api.Knowledge{
		ID: k.ID, Type: string(k.Type), Task: k.Text.Task, Content: k.Text.Content,
		Abstract: k.Text.Abstract, Overview: k.Text.Overview, Tags: api.Tags(k.Text.Tags),
		Scopes: Strings(k.Scopes), Owner: string(k.Owner), Visibility: string(k.Visibility()),
		ContextType: string(k.ContextType), Category: string(k.Category),
		Polarity: string(k.Polarity), Media: string(k.Media), Meta: k.Text.Meta,
		URI: k.Text.URI, Source: sourceOf(k.Source),
		Eval: &api.Eval{
			Helpful: &k.Helpful, Harmful: &k.Harmful, Votes: k.Voices.Votes, Voters: k.Voices.Voters,
			Confidence: &k.Confidence,
		},
		OccurredAt: Time(k.OccurredAt),
		Stale:      &api.Stale{Reporters: k.Stale.Reporters, Since: Time(k.Stale.Since), Reason: k.Stale.Reason},

		ConfirmedAt: Time(k.ConfirmedAt), ConfirmUntil: Time(k.ConfirmUntil), ConfirmationExpired: k.Expired,
		Verified: verifiedOf(k.Verified), DisputedBy: k.DisputedBy, Status: string(k.Status),
		SupersededBy: k.SupersededBy, Held: k.Held,
		Relations: relationsOf(k.Relations), DerivedFrom: k.DerivedFrom, Revision: k.Revision, Version: k.Version,
		Position: k.Position, CreatedAt: Time(k.CreatedAt), UpdatedAt: Time(k.UpdatedAt),
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

func UsesOf(all []domain.Use) []api.VoteRecord {
	return Map(all, func(u domain.Use) api.VoteRecord {
		return api.VoteRecord{Query: u.Query, TraceID: u.TraceID, Outcome: u.Outcome, By: string(u.By), At: Time(u.At)}
	})
}

func verifiedOf(v *domain.Verified) *api.Verified {
	if v == nil {
		return nil
	}
	return &api.Verified{
		By: string(v.By), At: Time(v.At), Until: Time(v.Until), Overdue: v.Overdue, Counts: v.Counts,
	}
}

// RememberOf is the command that remembers what a request says.
func RememberOf(in api.Knowledge, by domain.Principal) domain.Remember {
	id := in.ID
	if id == "" {
		id = NewID()
	}
	return domain.Remember{
		By: by, ID: id, Reason: in.Reason, Confirm: in.Confirm, Visibility: domain.Visibility(in.Visibility),
		Knowledge: domain.Remembered{
			Class: domain.Class{
				Type: domain.Type(in.Type), ContextType: domain.ContextType(in.ContextType),
				Category: domain.Category(in.Category), Polarity: domain.Polarity(in.Polarity), Media: domain.Media(in.Media),
			},
			Scopes: FromStrings[domain.Scope](in.Scopes),
			Owner:  domain.Entity(in.Owner), Source: sourceIn(in.Source), Baseline: baselineIn(in.Eval),
			Text: domain.Text{
				Task: in.Task, Content: in.Content, Abstract: in.Abstract, Overview: in.Overview,
				Tags: domain.Tags(in.Tags), Meta: in.Meta, URI: in.URI,
			},
		},
	}
}

func sourceIn(s *api.Source) domain.Source {
	if s == nil {
		return domain.Source{}
	}
	return domain.Source{
		Name: s.Name, Category: s.Category, URLs: s.URLs, AgentID: s.AgentID,
		SubmittedBy: s.SubmittedBy, Timestamp: s.Timestamp, TraceID: s.TraceID,
	}
}

// baselineIn is the baseline; omitted fields have their default.
func baselineIn(e *api.Eval) *domain.Eval {
	if e == nil {
		return nil
	}
	baseline := domain.DefaultBaseline()
	override(&baseline.Helpful, e.Helpful)
	override(&baseline.Harmful, e.Harmful)
	override(&baseline.Confidence, e.Confidence)
	baseline.HelpfulHistory = usesIn(e.HelpfulHistory)
	baseline.HarmfulHistory = usesIn(e.HarmfulHistory)
	return &baseline
}

func override[T any](value *T, replacement *T) {
	if replacement != nil {
		*value = *replacement
	}
}

func usesIn(all []api.VoteRecord) []domain.Use {
	var uses []domain.Use
	for _, u := range all {
		uses = append(uses, domain.Use{
			Query: u.Query, TraceID: u.TraceID, Outcome: u.Outcome, By: domain.Entity(u.By), At: Value(u.At),
		})
	}
	return uses
}
