package http

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

const (
	one  = "/v1/knowledge/{id}"
	many = "/v1/knowledge"
)

func (s *Server) knowledgeRoutes() {
	const tag = "Knowledge"
	handle(s, huma.Operation{
		OperationID: "remember", Method: http.MethodPost, Path: many, Tags: []string{tag},
		Summary: "Remember one item, or many",
		Description: "An object is one item: 201. An array, or one object per line (" + linesType + "), is many: " +
			"they are taken 500 to a commit while they arrive, and answered with one line each, in order. A bad record does " +
			"not affect the others; the same content again is unchanged. With If-Match, which is for one item, update=true " +
			"revises only the revision that you read. With on_similar, the answer to one new item names similar " +
			"items of its audience: duplicates, contradictions and others. on_similar=vote and refuse never remember the same " +
			"text twice in one audience, also under concurrent writes.",
		RequestBody: orMany(bodies(s, true, map[string]any{jsonType: api.Knowledge{}, linesType: api.Knowledge{}})),
		Responses:   s.remembered(), Errors: append([]int{http.StatusPreconditionFailed}, writeErrors...),
	}, s.remember)
	handle(s, huma.Operation{
		OperationID: "list", Method: http.MethodGet, Path: many, Tags: []string{tag},
		Summary: "List items, newest first", Description: "A page of JSON, or the whole list as " + linesType + " or " +
			csvType + ".",
		Responses: listed[api.Knowledge](s), Errors: []int{http.StatusBadRequest, http.StatusNotAcceptable},
	}, s.list)
	handle(s, huma.Operation{
		OperationID: "act-on-many", Method: http.MethodPost, Path: many + "/acts", Tags: []string{tag},
		Summary: "Confirm, report, supersede, forget, restore or judge many items",
		Description: "One act per line (" + linesType + "), or an array. They are taken and answered as many items are: " +
			"one line each, in order. An act that is refused does not affect the others.",
		RequestBody: bodies(s, true, map[string]any{jsonType: []api.Act{}, linesType: api.Act{}}),
		Responses:   answeredByLines(s), Errors: writeErrors,
	}, s.acts)
	handle(s, huma.Operation{
		OperationID: "overview", Method: http.MethodGet, Path: "/v1/overview", Tags: []string{tag},
		Summary: "Count items by their fields",
		Description: "What a list with the same filters has: counts by type, status, category, owner, scope and tag (the " +
			"20 most frequent of each), by tenths of the confidence, and of the items that need attention. It counts the " +
			"newest 100,000 items at most, and tells whether these are all.",
		Errors: []int{http.StatusBadRequest},
	}, s.overview)
	handle(s, huma.Operation{
		OperationID: "find", Method: http.MethodGet, Path: one, Tags: []string{tag},
		Summary: "Read one item, with how it was found of use", Errors: readErrors,
	}, s.find)
	handle(s, huma.Operation{
		OperationID: "revise", Method: http.MethodPatch, Path: one, Tags: []string{tag},
		Summary: "Revise an item, share it, hand it over",
		Description: "A merge patch (RFC 7396): what is left out stays, null clears. With confirm, the item is also " +
			"confirmed. With If-Match it happens only to the revision that you read.",
		RequestBody: bodies(s, true, map[string]any{patchType: patch{}, jsonType: patch{}}),
		Errors:      changeErrors,
	}, s.revise)
	handle(s, huma.Operation{
		OperationID: "forget", Method: http.MethodDelete, Path: one, Tags: []string{tag},
		Summary: "Forget an item, or erase it",
		Description: "Forgotten, it leaves the answers and stays in the history; restore brings it back. With erase=true " +
			"what people wrote about it is destroyed for good: " +
			"for the owner in person or an admin, and not while it is under legal hold. Erased again is unchanged.",
		RequestBody: bodies(s, false, map[string]any{jsonType: api.Reason{}}), Errors: changeErrors,
	}, s.forget)
	changeRoute(s, false, huma.Operation{
		OperationID: "restore", Method: http.MethodPost, Path: one + "/restore", Tags: []string{tag},
		Summary: "Bring a forgotten or superseded item back",
		Description: "It is what it was before: what was superseded, and then forgotten, is superseded again; restored " +
			"once more, it holds again. If a merge carried its votes, undo the merge instead: 409.",
	}, func(_ *call, t domain.Target, in api.Reason) validated {
		return domain.Restore{Target: t, Reason: in.Reason}
	})
	changeRoute(s, true, huma.Operation{
		OperationID: "supersede", Method: http.MethodPost, Path: one + "/supersede", Tags: []string{tag},
		Summary: "Let another item take this one's place",
	}, func(_ *call, t domain.Target, in api.Supersession) validated {
		return domain.Supersede{Target: t, Successor: in.By, Reason: in.Reason}
	})
	s.relationRoutes()
	handle(s, huma.Operation{
		OperationID: "history", Method: http.MethodGet, Path: one + "/history", Tags: []string{tag},
		Summary: "Read what happened to an item, oldest first",
		Errors:  []int{http.StatusBadRequest, http.StatusNotFound},
	}, s.history)
}

func (s *Server) feedbackRoutes() {
	const tag = "Learning from use"
	changeRoute(s, true, huma.Operation{
		OperationID: "give-feedback", Method: http.MethodPost, Path: one + "/feedback", Tags: []string{tag},
		Summary:     "Say that an item was of use, or did harm",
		Description: "One vote counts per voter and trace; another on the same trace replaces the first.",
	}, func(c *call, t domain.Target, in api.Vote) validated {
		return domain.GiveFeedback{
			Target: t, Verdict: domain.Verdict(in.Verdict), Query: in.Query, TraceID: in.TraceID, Outcome: in.Outcome,
			Day: c.now,
		}
	})
	handle(s, huma.Operation{
		OperationID: "retract-feedback", Method: http.MethodDelete, Path: one + "/feedback", Tags: []string{tag},
		Summary: "Take a vote back", Errors: changeErrors,
	}, s.retractFeedback)
	changeRoute(s, false, huma.Operation{
		OperationID: "report-stale", Method: http.MethodPost, Path: one + "/stale", Tags: []string{tag},
		Summary: "Report that an item is out of date",
	}, func(_ *call, t domain.Target, in api.Reason) validated {
		return domain.ReportStale{Target: t, Reason: in.Reason}
	})
	changeRoute(s, false, huma.Operation{
		OperationID: "confirm", Method: http.MethodPost, Path: one + "/confirm", Tags: []string{tag},
		Summary: "Confirm that an item still holds",
	}, func(_ *call, t domain.Target, in api.Confirmation) validated {
		return domain.Confirm{Target: t, Until: valueOf(in.Until), Reason: in.Reason}
	})
}

func relationsOf(relations []domain.Relation) []api.Related {
	var list []api.Related
	for _, r := range relations {
		list = append(list, api.Related{To: r.To, Reason: r.Reason, At: known(r.At)})
	}
	return list
}

type unlinkInput struct {
	ID string `path:"id" doc:"The item's id."`
	To string `path:"to" doc:"The other item's id."`
}

func (s *Server) relationRoutes() {
	const tag = "Knowledge"
	changeRoute(s, true, huma.Operation{
		OperationID: "link", Method: http.MethodPost, Path: one + "/relations", Tags: []string{tag},
		Summary: "Say that an item has to do with others",
		Description: "Relations go with what they lead to, wherever that moves. The same again is unchanged; another " +
			"reason replaces the one before.",
	}, func(_ *call, t domain.Target, in api.Link) validated {
		return domain.Link{Target: t, To: in.To, Reason: in.Reason}
	})
	handle(s, huma.Operation{
		OperationID: "unlink", Method: http.MethodDelete, Path: one + "/relations/{to}", Tags: []string{tag},
		Summary: "Take a relation back", Errors: changeErrors,
	}, s.unlink)
}

func (s *Server) unlink(ctx context.Context, c *call, in *unlinkInput) (*reply, error) {
	return replied(s.change(ctx, c, in.ID, nil, func(t domain.Target) (domain.Command, error) {
		command := domain.Unlink{Target: t, To: in.To}
		return command, command.Validate()
	}))
}

type retractInput struct {
	ID      string `path:"id" doc:"The item's id."`
	EventID string `query:"event_id" doc:"The vote's event (Annals-Events, when it was given)."`
	TraceID string `query:"trace_id" doc:"Or its trace. With neither, today's vote without a trace."`
}

func (s *Server) retractFeedback(ctx context.Context, c *call, in *retractInput) (*reply, error) {
	return replied(s.change(ctx, c, in.ID, nil, func(t domain.Target) (domain.Command, error) {
		command := domain.RetractFeedback{Target: t, EventID: in.EventID, TraceID: in.TraceID, Day: c.now}
		return command, command.Validate()
	}))
}

func knowledgeOf(k *domain.Knowledge) *api.Knowledge {
	return &api.Knowledge{
		ID: k.ID, Type: string(k.Type), Task: k.Text.Task, Content: k.Text.Content,
		Abstract: k.Text.Abstract, Overview: k.Text.Overview, Tags: api.Tags(k.Text.Tags),
		Scopes: toStrings(k.Scopes), Owner: string(k.Owner), Visibility: string(k.Visibility()),
		ContextType: string(k.ContextType), Category: string(k.Category),
		Polarity: string(k.Polarity), Media: string(k.Media), Meta: k.Text.Meta,
		URI: k.Text.URI, Source: sourceOf(k.Source),
		Eval: &api.Eval{
			Helpful: &k.Helpful, Harmful: &k.Harmful, Votes: k.Voices.Votes, Voters: k.Voices.Voters, Confidence: &k.Confidence,
		},
		OccurredAt: known(k.OccurredAt),
		Stale:      &api.Stale{Reporters: k.Stale.Reporters, Since: known(k.Stale.Since), Reason: k.Stale.Reason},

		ConfirmedAt: known(k.ConfirmedAt), ConfirmUntil: known(k.ConfirmUntil), ConfirmationExpired: k.Expired,
		Verified: verifiedOf(k.Verified), DisputedBy: k.DisputedBy, Status: string(k.Status),
		SupersededBy: k.SupersededBy, Held: k.Held,
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
	return mapped(all, func(u domain.Use) api.VoteRecord {
		return api.VoteRecord{Query: u.Query, TraceID: u.TraceID, Outcome: u.Outcome, By: string(u.By), At: known(u.At)}
	})
}

// known is t in UTC, or nil for the zero time.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// mapped are the results of a function for each item of a list. They are never nil, so that JSON has an array.
func mapped[A, B any](list []A, result func(A) B) []B {
	all := make([]B, len(list))
	for i, item := range list {
		all[i] = result(item)
	}
	return all
}

// toStrings and fromStrings convert between strings and types of strings.
func toStrings[T ~string](words []T) []string {
	return mapped(words, func(word T) string { return string(word) })
}

func fromStrings[T ~string](words []string) []T {
	if words == nil {
		return nil
	}
	return mapped(words, func(word string) T { return T(word) })
}
