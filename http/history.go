package http

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	prose "github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/body"
	"github.com/annals-kb/annals/http/serve"
)

type historyInput struct {
	ID     string        `path:"id" doc:"The item's id."`
	Diff   serve.Boolean `query:"diff" doc:"true: show what changed in texts word by word, too."`
	Limit  serve.Integer `query:"limit" doc:"1 to 500; 100 if left out."`
	Cursor string        `query:"cursor" doc:"next_cursor of the page before."`
}

func (s *Server) history(
	ctx context.Context, c *serve.Call, in *historyInput,
) (*serve.Output[api.Page[api.Event]], error) {
	const usual, most = 100, 500
	limit := cmp.Or(int(in.Limit.Read(&c.Found, "limit", 1, most)), usual)
	diff := in.Diff.Read(&c.Found, "diff")
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	k, err := s.visibleItem(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	first, err := serve.PlaceOf(in.Cursor, k.ID)
	if err != nil {
		return nil, err
	}
	events, err := s.cfg.Historian.Stream(ctx, c.Principal.Tenant, domain.KnowledgeStream(k.ID))
	if err != nil {
		return nil, err
	}
	all, err := domain.History(k.ID, events, s.cfg.Policy())
	if err != nil {
		return nil, err
	}
	rest := all[min(int(first), len(all)):]
	shown := rest[:min(limit, len(rest))]
	causes, err := s.causes(ctx, c, shown)
	if err != nil {
		return nil, err
	}
	out := api.Page[api.Event]{Items: make([]api.Event, len(shown))}
	for i, item := range shown {
		if item.Event, err = hideItems(ctx, s, c, item.Event); err != nil {
			return nil, err
		}
		out.Items[i] = historyEventOf(item, serve.Value(diff))
		out.Items[i].CausedBy = causesOf(item.Event, causes)
	}
	if len(rest) > limit {
		out.NextCursor = serve.Cursor(first+int64(limit), k.ID)
	}
	return &serve.Output[api.Page[api.Event]]{Body: out}, nil
}

// causes finds the causes of the events of a history. A cause that the caller may not see is shown by its id alone,
// as the event shows it.
func (s *Server) causes(
	ctx context.Context, c *serve.Call, items []domain.HistoryItem,
) (map[string]domain.Event, error) {
	var ids []string
	for _, item := range items {
		if item.Event.CausationID != "" {
			ids = append(ids, item.Event.CausationID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	known, err := s.cfg.Finder.Causes(ctx, c.Principal.Tenant, ids)
	if err != nil || c.Principal.SeesAll() {
		return known, err
	}
	visible := map[string]bool{}
	for id, event := range known {
		may, asked := visible[event.Stream]
		if !asked {
			if may, err = s.mayReadStream(ctx, c, event.Stream); err != nil {
				return nil, err
			}
			visible[event.Stream] = may
		}
		if !may {
			delete(known, id)
		}
	}
	return known, nil
}

// mayReadStream tells whether the caller may read a stream.
func (s *Server) mayReadStream(ctx context.Context, c *serve.Call, stream string) (bool, error) {
	id, isItem := domain.ItemOf(stream)
	if !isItem {
		return c.Principal.MaySeeSession(stream), nil
	}
	_, err := s.visibleItem(ctx, c, id)
	if errors.Is(err, domain.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func causesOf(e domain.Event, events map[string]domain.Event) []api.Cause {
	var all []api.Cause
	for _, c := range domain.CausesOf(e, events) {
		one := api.Cause{ID: c.ID}
		if by := c.Event; by != nil {
			one = api.Cause{
				ID: c.ID, Name: by.Name, Stream: by.Stream, Position: by.Position, RecordedAt: serve.Time(by.RecordedAt),
				Actor: string(by.Actor), OnBehalfOf: string(by.OnBehalfOf),
			}
		}
		all = append(all, one)
	}
	return all
}

func historyEventOf(item domain.HistoryItem, diff bool) api.Event {
	e := serve.EventOf(item.Event)
	e.Revision, e.Confidence, e.ConfidencePolicy = item.Revision, &item.Confidence, item.Policy
	e.Changes = changesOf(item.Changes, item.Policy, diff)
	return e
}

func changesOf(changes []domain.Change, policy string, diff bool) []api.Change {
	all := make([]api.Change, len(changes))
	for i, ch := range changes {
		all[i] = api.Change{Field: ch.Field, Before: shown(ch.Before), After: shown(ch.After)}
		if ch.Field == "eval.confidence" {
			all[i].Policy = policy
		}
		if diff && isProse(ch.Field) {
			all[i].Diff = diffOf(ch.Before, ch.After)
		}
	}
	return all
}

// isProse tells which fields are compared word by word.
func isProse(field string) bool {
	switch field {
	case "task", "content", "abstract", "overview":
		return true
	}
	return false
}

func diffOf(before, after any) []api.FieldChange {
	was, _ := before.(string)
	is, _ := after.(string)
	return serve.Map(prose.Diff(was, is), func(e prose.Edit) api.FieldChange {
		return api.FieldChange{Op: string(e.Op), Text: e.Text}
	})
}

// shown formats tags as everywhere in the API.
func shown(value any) any {
	if tags, are := value.(domain.Tags); are {
		return api.Tags(tags)
	}
	return value
}

// past answers about moments of the log: what they are, what happened then, and what changed between two of them.
type past struct{ *Server }

func (s past) pastRoutes() {
	tags := []string{"Questions"}
	serve.Handle(s.api, huma.Operation{
		OperationID: "histogram", Method: http.MethodGet, Path: "/v1/events/histogram", Tags: tags,
		Summary: "Count events over time",
		Description: "Of the events that you read in the log. Without from: from its first event. Without to: to its " +
			"newest event. If filters make too many events to look at, the counts are estimates, and the answer says so.",
	}, s.histogram)
	serve.Lookup(s.api, huma.Operation{
		OperationID: "event", Method: http.MethodGet, Path: "/v1/events/{event_id}", Tags: tags,
		Summary:     "Read one event",
		Description: "For callers who read it in the log. With what caused it.",
		Errors:      []int{http.StatusNotFound},
	}, s.event)
	serve.Handle(s.api, huma.Operation{
		OperationID: "effects", Method: http.MethodGet, Path: "/v1/events/{event_id}/effects", Tags: tags,
		Summary:     "Read what an event caused, oldest first",
		Description: "The events that name it as their cause (causation_id), of those that you read in the log.",
		Responses:   serve.Listed[api.Event](s.api),
		Errors:      []int{http.StatusBadRequest, http.StatusNotFound, http.StatusNotAcceptable},
	}, s.effects)
	serve.Handle(s.api, huma.Operation{
		OperationID: "moment", Method: http.MethodGet, Path: "/v1/log/moment", Tags: tags,
		Summary:     "See which event a time or a position leads to",
		Description: "An answer as of that moment knows this event and those before it. Without as_of: the newest event.",
	}, s.moment)
	serve.Handle(s.api, huma.Operation{
		OperationID: "compare", Method: http.MethodGet, Path: one + "/compare", Tags: tags,
		Summary:     "Compare an item at two moments",
		Description: "With what changed in texts word by word. Before it was remembered, an item has no fields.",
		Errors:      []int{http.StatusNotFound},
	}, s.compare)
}

type momentInput struct {
	AsOf body.AsOf `query:"as_of"`
}

func (s past) moment(ctx context.Context, c *serve.Call, in *momentInput) (*serve.Output[api.Moment], error) {
	at := in.AsOf.Parse(&c.Found, "as_of")
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	at, err := s.resolveAsOf(ctx, c, at)
	if err != nil {
		return nil, err
	}
	head, _, err := s.cfg.Historian.Head(ctx, c.Principal.Tenant)
	if err != nil || head == 0 {
		return &serve.Output[api.Moment]{}, err
	}
	newest, err := s.resolveAsOf(ctx, c, domain.AsOf{Position: head})
	if err != nil {
		return nil, err
	}
	last := newest
	if at.Position > 0 {
		if last, err = s.resolveAsOf(ctx, c, domain.AsOf{Position: at.Position}); err != nil {
			return nil, err
		}
	}
	query := (&Selecting{}).query(c, nil)
	query.After, query.To, query.Limit = last.Position-1, last.Time.Add(time.Microsecond), 1
	found, _, err := s.cfg.Finder.Find(ctx, query)
	out := api.Moment{
		Position: last.Position, RecordedAt: serve.Time(last.Time), HeadPosition: head, HeadAt: serve.Time(newest.Time),
	}
	if len(found) > 0 && found[0].Position == last.Position {
		out.EventID = found[0].EventID
	}
	return &serve.Output[api.Moment]{Body: out}, err
}

type compareInput struct {
	ID   string    `path:"id" doc:"The item's id."`
	From body.AsOf `query:"from" required:"true" doc:"The earlier moment: a time, a date (its beginning, in UTC) or a position of the log."`
	To   body.AsOf `query:"to" doc:"The later moment, in the same forms; now if left out."`
}

// compare answers with what changed in an item between two moments. The item's present state decides whether the
// caller may see it, as in its history.
func (s past) compare(ctx context.Context, c *serve.Call, in *compareInput) (*serve.Output[api.Comparison], error) {
	from, to := in.From.Parse(&c.Found, "from"), in.To.Parse(&c.Found, "to")
	if in.From == "" {
		c.Found.Add("from", "is needed: a time, a date, or a position of the log")
	}
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	k, err := s.visibleItem(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	if from, to, err = s.between(ctx, c, from, to); err != nil {
		return nil, err
	}
	events, err := s.cfg.Historian.Stream(ctx, c.Principal.Tenant, domain.KnowledgeStream(k.ID))
	if err != nil {
		return nil, err
	}
	made, err := domain.Compare(k.ID, events, s.cfg.Policy(), from, to)
	return &serve.Output[api.Comparison]{Body: api.Comparison{
		From: api.ItemState(made.From), To: api.ItemState(made.To), Changes: changesOf(made.Changes, made.Policy, true),
	}}, err
}

// between resolves the moments of a comparison, the second of which may be now.
func (s past) between(ctx context.Context, c *serve.Call, from, to domain.AsOf) (_, _ domain.AsOf, err error) {
	if to.IsNow() {
		to.Time = c.Now
		to.Position, _, err = s.cfg.Historian.Head(ctx, c.Principal.Tenant)
	}
	if err == nil {
		from, err = s.resolveNamed(ctx, c, "from", from)
	}
	if err == nil && (to.Position == 0 || to.Time.IsZero()) {
		to, err = s.resolveNamed(ctx, c, "to", to)
	}
	if err == nil && len(c.Found) == 0 && to.Position < from.Position {
		c.Found.Add("to", "must not be before from")
	}
	return from, to, cmp.Or(err, c.Found.Err())
}

// resolveNamed resolves a moment, and notes one that never was by the name of its parameter.
func (s past) resolveNamed(ctx context.Context, c *serve.Call, field string, at domain.AsOf) (domain.AsOf, error) {
	at, err := s.resolveAsOf(ctx, c, at)
	if invalid, ok := errors.AsType[*domain.Invalid](err); ok {
		c.Found.Add(field, "%s", invalid.Problems[0].Message)
		return at, nil
	}
	return at, err
}
