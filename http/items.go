package http

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/body"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

const (
	one  = "/v1/knowledge/{id}"
	many = "/v1/knowledge"
)

func (s *Server) knowledgeRoutes() {
	const tag = "Knowledge"
	serve.Handle(s.api, huma.Operation{
		OperationID: "remember", Method: http.MethodPost, Path: many, Tags: []string{tag},
		Summary: "Remember one item, or many",
		Description: "An object is one item: 201. An array, or one object per line (" + serve.LinesType + "), is many: " +
			"they are taken 500 to a commit while they arrive, and answered with one line each, in order. A bad record does " +
			"not affect the others; the same content again is unchanged. With If-Match, which is for one item, update=true " +
			"revises only the revision that you read. With on_similar, the answer to one new item names similar " +
			"items of its audience: duplicates, contradictions and others. on_similar=vote and refuse never remember the same " +
			"text twice in one audience, also under concurrent writes. With supersedes, the new item takes another one's place.",
		RequestBody: serve.OrMany(serve.Bodies(s.api, true, map[string]any{
			serve.JSONType: api.Knowledge{}, serve.LinesType: api.Knowledge{},
		})),
		Responses: remembered(s.api), Errors: serve.ChangeErrors,
	}, s.remember)
	serve.Handle(s.api, huma.Operation{
		OperationID: "list", Method: http.MethodGet, Path: many, Tags: []string{tag},
		Summary: "List items, newest first", Description: "A page of JSON, or the whole list as " + serve.LinesType + " or " +
			serve.CsvType + ".",
		Responses: serve.Listed[api.Knowledge](s.api), Errors: []int{http.StatusBadRequest, http.StatusNotAcceptable},
	}, s.list)
	serve.Handle(s.api, huma.Operation{
		OperationID: "act-on-many", Method: http.MethodPost, Path: many + "/acts", Tags: []string{tag},
		Summary: "Confirm, report, supersede, forget, restore or judge many items",
		Description: "One act per line (" + serve.LinesType +
			"), or an array. They are taken and answered as many items are: " +
			"one line each, in order. An act that is refused does not affect the others.",
		RequestBody: serve.Bodies(s.api, true, map[string]any{serve.JSONType: []api.Act{}, serve.LinesType: api.Act{}}),
		Responses:   serve.AnsweredByLines(s.api), Errors: serve.WriteErrors,
	}, s.acts)
	serve.HandleBody(s.api, true, huma.Operation{
		OperationID: "fingerprint-many", Method: http.MethodPost, Path: many + "/fingerprints", Tags: []string{tag},
		Summary: "Read the fingerprints of many items",
		Description: "They tell what a client with copies of items need not remember again. " +
			"Items that do not exist, or that the caller may not see, are left out.",
		Errors: serve.BodyErrors,
	}, s.fingerprints)
	serve.Handle(s.api, huma.Operation{
		OperationID: "overview", Method: http.MethodGet, Path: "/v1/overview", Tags: []string{tag},
		Summary: "Count items by their fields",
		Description: "What a list with the same filters has: counts by type, status, category, owner, scope and tag (the " +
			"20 most frequent of each), by tenths of the confidence, and of the items that need attention. It counts the " +
			"newest 100,000 items at most, and tells whether these are all.",
		Errors: []int{http.StatusBadRequest},
	}, s.overview)
	serve.Handle(s.api, huma.Operation{
		OperationID: "find", Method: http.MethodGet, Path: serve.ItemPath, Tags: []string{tag},
		Summary: "Read one item, with how it was found of use",
		Description: "The ETag of the answer is its revision, for If-Match. A forgotten or erased item is " +
			"answered with 410.",
		Errors: serve.ReadErrors,
	}, s.find)
	serve.Handle(s.api, huma.Operation{
		OperationID: "revise", Method: http.MethodPatch, Path: serve.ItemPath, Tags: []string{tag},
		Summary: "Revise an item, share it, hand it over",
		Description: "A merge patch (RFC 7396): what is left out stays, null clears. With confirm, the item is also " +
			"confirmed. With If-Match it happens only to the revision that you read.",
		RequestBody: serve.Bodies(s.api, true, map[string]any{serve.PatchType: serve.Patch{}, serve.JSONType: serve.Patch{}}),
		Errors:      serve.ChangeErrors,
	}, s.revise)
	serve.Handle(s.api, huma.Operation{
		OperationID: "forget", Method: http.MethodDelete, Path: serve.ItemPath, Tags: []string{tag},
		Summary: "Forget an item, or erase it",
		Description: "Forgotten, it leaves the answers and stays in the history; restore brings it back. With erase=true " +
			"what people wrote about it is destroyed for good: " +
			"for the owner in person or an admin, and not while it is under legal hold. Erased again is unchanged.",
		RequestBody: serve.JSONBody[api.Reason](s.api, false), Errors: serve.ChangeErrors,
	}, s.forget)
	serve.ChangeRoute(s.api, false, huma.Operation{
		OperationID: "restore", Method: http.MethodPost, Path: serve.ItemPath + "/restore", Tags: []string{tag},
		Summary: "Bring a forgotten or superseded item back",
		Description: "It is what it was before: what was superseded, and then forgotten, is superseded again; restored " +
			"once more, it holds again. If a merge carried its votes, undo the merge instead: 409.",
	}, func(_ *serve.Call, t domain.Target, in api.Reason) serve.Validated {
		return domain.Restore{Target: t, Reason: in.Reason}
	})
	serve.ChangeRoute(s.api, true, huma.Operation{
		OperationID: "supersede", Method: http.MethodPost, Path: serve.ItemPath + "/supersede", Tags: []string{tag},
		Summary:     "Let another item take this one's place",
		Description: "The item leaves the answers, and names its successor. Its history stays.",
	}, func(_ *serve.Call, t domain.Target, in api.Supersession) serve.Validated {
		return domain.Supersede{Target: t, Successor: in.By, Reason: in.Reason}
	})
	s.relationRoutes()
}

// fingerprints are those of the items that the caller may see.
func (s *Server) fingerprints(
	ctx context.Context, c *serve.Call, _ *struct{}, in api.FingerprintsOf,
) (*serve.Output[api.Fingerprints], error) {
	tooMany := serve.Renamed(domain.Filter{IDs: in.IDs}.Validate(), map[string]string{"id": "ids"})
	if err := serve.Merge(c.Found, tooMany); err != nil {
		return nil, err
	}
	found, err := s.cfg.Browser.Items(ctx, c.Principal.Tenant, in.IDs)
	if err != nil {
		return nil, err
	}
	out := api.Fingerprints{Items: []api.Fingerprint{}}
	for _, id := range in.IDs {
		k := found[id]
		if k == nil || !c.Principal.MaySee(k) {
			continue
		}
		one := api.Fingerprint{ID: id, Status: string(k.Status), Revision: k.Revision}
		if domain.Gone(k) == nil {
			one.Fingerprint, one.Owner, one.URI = k.Fingerprint(k.Text), string(k.Owner), k.Text.URI
			one.Scopes = serve.Strings(k.Scopes)
		}
		out.Items = append(out.Items, one)
	}
	return &serve.Output[api.Fingerprints]{Body: out}, nil
}

func (s *Server) feedbackRoutes() {
	const tag = "Learning from use"
	serve.ChangeRoute(s.api, true, huma.Operation{
		OperationID: "give-feedback", Method: http.MethodPost, Path: serve.ItemPath + "/feedback", Tags: []string{tag},
		Summary:     "Say that an item was of use, or did harm",
		Description: "One vote counts per voter and trace; another on the same trace replaces the first.",
	}, func(c *serve.Call, t domain.Target, in api.Vote) serve.Validated {
		return domain.GiveFeedback{
			Target: t, Verdict: domain.Verdict(in.Verdict), Query: in.Query, TraceID: in.TraceID, Outcome: in.Outcome,
			Day: c.Now,
		}
	})
	serve.Handle(s.api, huma.Operation{
		OperationID: "retract-feedback", Method: http.MethodDelete, Path: serve.ItemPath + "/feedback", Tags: []string{tag},
		Summary: "Take a vote back",
		Description: "Named by its event or its trace. With neither, it is the vote of today without a trace. " +
			"For the voter and for admins.",
		Errors: serve.ChangeErrors,
	}, s.retractFeedback)
	serve.ChangeRoute(s.api, false, huma.Operation{
		OperationID: "report-stale", Method: http.MethodPost, Path: serve.ItemPath + "/stale", Tags: []string{tag},
		Summary:     "Report that an item is out of date",
		Description: "It is found with less confidence and a mark, until somebody confirms it.",
	}, func(_ *serve.Call, t domain.Target, in api.Reason) serve.Validated {
		return domain.ReportStale{Target: t, Reason: in.Reason}
	})
	serve.ChangeRoute(s.api, false, huma.Operation{
		OperationID: "confirm", Method: http.MethodPost, Path: serve.ItemPath + "/confirm", Tags: []string{tag},
		Summary: "Confirm that an item still holds",
		Description: "Reports of staleness before this one no longer count. With until, the confirmation ends " +
			"at that time.",
	}, func(_ *serve.Call, t domain.Target, in api.Confirmation) serve.Validated {
		return domain.Confirm{Target: t, Until: serve.Value(in.Until), Reason: in.Reason}
	})
}

type unlinkInput struct {
	ID string `path:"id" doc:"The item's id."`
	To string `path:"to" doc:"The other item's id."`
}

func (s *Server) relationRoutes() {
	const tag = "Knowledge"
	serve.ChangeRoute(s.api, true, huma.Operation{
		OperationID: "link", Method: http.MethodPost, Path: serve.ItemPath + "/relations", Tags: []string{tag},
		Summary: "Say that an item has to do with others",
		Description: "Relations go with what they lead to, wherever that moves. The same again is unchanged; another " +
			"reason replaces the one before.",
	}, func(_ *serve.Call, t domain.Target, in api.Link) serve.Validated {
		return domain.Link{Target: t, To: in.To, Reason: in.Reason}
	})
	serve.Handle(s.api, huma.Operation{
		OperationID: "unlink", Method: http.MethodDelete, Path: serve.ItemPath + "/relations/{to}", Tags: []string{tag},
		Summary:     "Take a relation back",
		Description: "Of both items, only the first is changed. A relation that does not exist is unchanged.",
		Errors:      serve.ChangeErrors,
	}, s.unlink)
}

func (s *Server) unlink(ctx context.Context, c *serve.Call, in *unlinkInput) (*serve.Reply, error) {
	return serve.Replied(c.Change(ctx, in.ID, func(t domain.Target) (domain.Command, error) {
		command := domain.Unlink{Target: t, To: in.To}
		return command, command.Validate()
	}))
}

type retractInput struct {
	ID      string `path:"id" doc:"The item's id."`
	EventID string `query:"event_id" doc:"The vote's event (Annals-Events, when it was given)."`
	TraceID string `query:"trace_id" doc:"Or its trace. With neither, today's vote without a trace."`
}

func (s *Server) retractFeedback(ctx context.Context, c *serve.Call, in *retractInput) (*serve.Reply, error) {
	return serve.Replied(c.Change(ctx, in.ID, func(t domain.Target) (domain.Command, error) {
		command := domain.RetractFeedback{Target: t, EventID: in.EventID, TraceID: in.TraceID, Day: c.Now}
		return command, command.Validate()
	}))
}

// found answers with an item as it is.
type found struct {
	ETag string `header:"ETag" doc:"The item's revision, for If-Match. Votes and reports leave it as it is: it does not tell whether a copy is up to date."`
	Body *api.Knowledge
}

type findInput struct {
	ID   string    `path:"id" doc:"The item's id."`
	AsOf body.AsOf `query:"as_of"`

	visible.Waiting
}

func (s *Server) find(ctx context.Context, c *serve.Call, in *findInput) (*found, error) {
	at := in.AsOf.Parse(&c.Found, "as_of")
	if err := s.items.Await(ctx, c, in.Waiting, false); err != nil {
		return nil, err
	}
	if !at.IsNow() {
		return s.findThen(ctx, c, in.ID, at)
	}
	k, err := s.items.Existing(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	if err := s.items.Verify(ctx, c, k); err != nil {
		return nil, err
	}
	feedback, err := s.cfg.Browser.Feedback(ctx, c.Principal, k.ID)
	if err != nil {
		return nil, err
	}
	body := s.give(c, k, feedback, 0)
	if k.Status == domain.IsQuarantined {
		body.Quarantined, err = s.quarantined(ctx, c, k.ID)
	}
	return &found{ETag: serve.Etag(k.Revision), Body: body}, err
}

// quarantined says why an item is withheld.
func (s *Server) quarantined(ctx context.Context, c *serve.Call, id string) (*api.Withheld, error) {
	history, err := s.log.Log.Stream(ctx, c.Principal.Tenant, domain.KnowledgeStream(id))
	for _, e := range slices.Backward(history) {
		if f, is := e.Fact.(domain.ItemQuarantined); is {
			return &api.Withheld{Containment: f.Containment, Reason: f.Reason, Since: serve.Time(e.RecordedAt)}, nil
		}
	}
	return nil, err
}

// findThen answers with an item as it was. Its present state decides whether the caller may see it.
func (s *Server) findThen(ctx context.Context, c *serve.Call, id string, at domain.AsOf) (*found, error) {
	now, err := s.items.Find(ctx, c, id)
	if err != nil {
		return nil, err
	}
	if now.Status == domain.IsErased {
		return nil, domain.Gone(now)
	}
	at, err = s.log.Resolve(ctx, c, at)
	if err != nil {
		return nil, err
	}
	k, err := s.cfg.Reader.AsOf(ctx, c.Principal.Tenant, id, at.Position)
	if err != nil {
		return nil, err
	}
	if !k.Exists() {
		return nil, domain.Refuse(
			domain.ErrNotFound, "%s was remembered later, at position %d and not by %d", id, now.Number, at.Position,
		)
	}
	if err := cmp.Or(domain.Gone(k), s.cfg.Browser.Hide(ctx, c.Principal, k)); err != nil {
		return nil, err
	}
	return &found{Body: s.give(c, k.At(at.Time), k.Feedback(), at.Position)}, nil
}

// give is an item with its feedback, as it is or was at a position.
func (s *Server) give(c *serve.Call, k *domain.Knowledge, feedback domain.Feedback, asOf int64) *api.Knowledge {
	body := serve.KnowledgeOf(k)
	body.Receipt = s.items.GiveUse(c, func(given *domain.Given) {
		given.AsOf, given.Items = asOf, domain.GivenWhole(k)
	})
	body.Eval.HelpfulHistory = serve.UsesOf(feedback.Helpful)
	body.Eval.HarmfulHistory = serve.UsesOf(feedback.Harmful)
	return body
}
