package http

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/codec"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/body"
	"github.com/annals-kb/annals/http/serve"
)

// Selecting are the parameters that choose events.
type Selecting struct {
	Actor         string       `query:"actor" doc:"Who did it, or for whom: an entity such as user:123."`
	OnBehalfOf    string       `query:"on_behalf_of" doc:"For whom it was done: an entity such as user:123."`
	Name          []string     `query:"name,explode" doc:"Several are alternatives. Example: knowledge.remembered. An asterisk at the end stands for anything: knowledge.*."`
	Stream        string       `query:"stream" doc:"Of one thing, by its name: knowledge:profile_001, session:mia/planning."`
	Scope         string       `query:"scope" doc:"Whom the item reached when it happened, or reaches now: a scope such as project:456 or public."`
	Owner         string       `query:"owner" doc:"Whose the item was when it happened, or is now: an entity such as user:123."`
	From          serve.Moment `query:"from" doc:"Recorded at or after this time or date."`
	To            serve.Moment `query:"to" doc:"Recorded before it."`
	OccurredFrom  serve.Moment `query:"occurred_from" doc:"Happened in the world at or after this time or date; only what says when it did."`
	OccurredTo    serve.Moment `query:"occurred_to" doc:"Happened before it."`
	TraceID       string       `query:"trace_id" doc:"Of the traceparent, of a vote, or of what was remembered."`
	CorrelationID string       `query:"correlation_id"`
	RequestID     string       `query:"request_id"`
}

type eventsInput struct {
	Selecting
	Q     string        `query:"q" doc:"Words that the text, the reason or the plain fields contain, all of them, in any case; also parts of words, and Chinese."`
	Order string        `query:"order" enum:"asc,desc" doc:"Oldest or newest first; asc if left out."`
	After serve.Integer `query:"after" doc:"Only positions after this one, which the log must have; with desc, before it."`
	serve.Paging
}

// events answers with the part of the log that the caller may see: as a page, as a whole, or as a stream that follows
// the log.
func (s *Server) events(ctx context.Context, c *serve.Call, in *eventsInput) (*serve.Streamed, error) {
	format, err := c.Accepts(serve.JSONType, serve.LinesType, serve.CsvType, serve.StreamType)
	if err != nil {
		return nil, err
	}
	query := in.query(c, codec.Names())
	query.After = in.After.Read(&c.Found, "after", 0, serve.NoLimit)
	query.Descending = in.Order == "desc"
	query.Words = words(&c.Found, in.Q)
	if !slices.Contains([]string{"", "asc", "desc"}, in.Order) {
		c.Found.Add("order", "must be one of asc, desc")
	}
	if format == serve.StreamType {
		return s.follow(ctx, c, in, query, nil)
	}
	return s.eventList(c, query).Answer(ctx, c, in.Paging)
}

type histogramInput struct {
	Selecting
	Buckets serve.Integer `query:"buckets" doc:"1 to 500; 60 if left out. A time of few microseconds has fewer."`
}

// histogram counts the events that the caller may see.
func (s past) histogram(
	ctx context.Context, c *serve.Call, in *histogramInput,
) (*serve.Output[api.EventHistogram], error) {
	const usual, most = 60, 500
	query := in.query(c, codec.Names())
	buckets := int(in.Buckets.Read(&c.Found, "buckets", 1, most))
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	made, err := s.cfg.Finder.Histogram(ctx, query, cmp.Or(buckets, usual))
	out := api.EventHistogram{Buckets: make([]api.EventBucket, len(made.Buckets)), Estimated: made.Estimated}
	for i, b := range made.Buckets {
		out.Buckets[i] = api.EventBucket{From: b.From, To: b.To, Count: b.Count, FirstPosition: b.First}
	}
	return &serve.Output[api.EventHistogram]{Body: out}, err
}

type eventInput struct {
	EventID string `path:"event_id" doc:"The event's id: of Annals-Events, or of a history."`
}

// event answers with one event as a list shows it, and with what caused it.
func (s past) event(ctx context.Context, c *serve.Call, in *eventInput) (out api.Event, err error) {
	event, err := s.visibleEvent(ctx, c, in.EventID)
	if err != nil {
		return out, err
	}
	causes, err := s.causes(ctx, c, []domain.HistoryItem{{Event: event}})
	if err != nil {
		return out, err
	}
	event, err = hideItems(ctx, s.Server, c, event)
	out = serve.EventOf(event)
	out.CausedBy = causesOf(event, causes)
	return out, err
}

type effectsInput struct {
	EventID string `path:"event_id" doc:"The event's id."`
	serve.Paging
}

// effects lists the events that name an event as their cause. They are all after it.
func (s past) effects(ctx context.Context, c *serve.Call, in *effectsInput) (*serve.Streamed, error) {
	cause, err := s.visibleEvent(ctx, c, in.EventID)
	if err = serve.Merge(c.Found, err); err != nil {
		return nil, err
	}
	query := (&Selecting{}).query(c, nil)
	query.CausationID, query.After = cause.EventID, cause.Position
	return s.eventList(c, query).Answer(ctx, c, in.Paging)
}

// visibleEvent finds an event if the caller reads it in lists.
func (s past) visibleEvent(ctx context.Context, c *serve.Call, id string) (domain.Event, error) {
	query := (&Selecting{}).query(c, nil)
	query.EventID = id
	found, _, err := s.cfg.Finder.Find(ctx, query)
	if err == nil && len(found) == 0 {
		err = domain.NoSuchEvent()
	}
	if err != nil {
		return domain.Event{}, err
	}
	return found[0], nil
}

// hideItems takes items that the caller may not see out of the event of a merge.
func hideItems(ctx context.Context, s *Server, c *serve.Call, e domain.Event) (domain.Event, error) {
	return domain.HideItems(e, c.Principal, func(id string) (bool, error) {
		return s.mayReadStream(ctx, c, domain.KnowledgeStream(id))
	})
}

// eventList is the list of the events that a query selects.
func (s *Server) eventList(c *serve.Call, query domain.EventQuery) serve.Listing[api.Event] {
	return serve.Listing[api.Event]{
		Name: "events", Asked: query, Columns: serve.EventColumns,
		Page: func(ctx context.Context, place int64, limit int) ([]api.Event, int64, error) {
			asked := query
			asked.Limit = limit
			if place != 0 {
				asked.After = place
			}
			found, next, err := s.cfg.Finder.Find(ctx, asked)
			if err == nil && len(found) == 0 {
				err = s.reached(ctx, asked, place != 0)
			}
			items := make([]api.Event, len(found))
			for i, e := range found {
				shown, hideErr := hideItems(ctx, s, c, e)
				items[i], err = serve.EventOf(shown), cmp.Or(err, hideErr)
			}
			return items, next, err
		},
	}
}

// reached refuses a position beyond the end of the log. A caller that knows such a position has read another log,
// such as this one before an older backup was restored. It would wait for ever.
func (s *Server) reached(ctx context.Context, q domain.EventQuery, byCursor bool) error {
	if q.Descending || q.After == 0 {
		return nil
	}
	head, _, err := s.cfg.Historian.Head(ctx, q.Tenant)
	if err != nil || q.After <= head {
		return err
	}
	field := "after"
	if byCursor {
		field = "cursor"
	}
	var p domain.Problems
	p.Add(field, "is beyond the log, which ends at %d", head)
	return p.Err()
}

// query reads the parameters, and notes invalid ones.
func (in *Selecting) query(c *serve.Call, known []string) domain.EventQuery {
	found := &c.Found
	for field, value := range map[string]string{
		"trace_id": in.TraceID, "correlation_id": in.CorrelationID, "request_id": in.RequestID,
	} {
		serve.CheckText(found, field, value)
	}
	streamNamed(found, in.Stream)
	if in.Scope != "" {
		if _, err := domain.ParseScope(in.Scope); err != nil {
			found.Add("scope", "%s", err)
		}
	}
	q := domain.EventQuery{
		Tenant: c.Principal.Tenant, Stream: in.Stream, Scope: domain.Scope(in.Scope),
		Actor: entity(found, "actor", in.Actor), OnBehalfOf: entity(found, "on_behalf_of", in.OnBehalfOf),
		Owner: entity(found, "owner", in.Owner), Names: named(found, splitCommas(in.Name), known),
		TraceID: in.TraceID, CorrelationID: in.CorrelationID, RequestID: in.RequestID,
	}
	q.From, q.To = between(found, "from", in.From, "to", in.To)
	q.OccurredFrom, q.OccurredTo = between(found, "occurred_from", in.OccurredFrom, "occurred_to", in.OccurredTo)
	if !c.Principal.SeesAll() {
		q.Only = &c.Principal
	}
	return q
}

// words splits a question about events into words in lower case.
func words(found *domain.Problems, q string) []string {
	serve.CheckText(found, "q", q)
	all := strings.Fields(strings.ToLower(q))
	if q != "" && len(all) == 0 {
		found.Add("q", body.Empty)
	}
	return all
}

// streamNamed notes a name that no stream can have: a query for it would never find anything.
func streamNamed(found *domain.Problems, name string) {
	before := len(*found)
	serve.CheckText(found, "stream", name)
	if name == "" || len(*found) > before {
		return
	}
	if err := domain.CheckStream(name); err != nil {
		found.Add("stream", "%s", err)
	}
}

func entity(found *domain.Problems, field, given string) domain.Entity {
	if given == "" {
		return ""
	}
	parsed, err := domain.ParseEntity(given)
	if err != nil {
		found.Add(field, "%s", err)
	}
	return parsed
}

// between reads two times, the earlier first.
func between(
	found *domain.Problems, first string, from serve.Moment, last string, to serve.Moment,
) (time.Time, time.Time) {
	begin, end := from.Read(found, first), to.Read(found, last)
	if !begin.IsZero() && !end.IsZero() && !begin.Before(end) {
		found.Add(last, "must be after %s", first)
	}
	return begin, end
}

var eventName = regexp.MustCompile(`^[a-z_]{1,64}(\.[a-z_]{0,64})?\*?$`)

// named returns the given names. It notes a name that no fact has: a query for it would never find anything.
func named(found *domain.Problems, given, known []string) []string {
	var names []string
	for _, name := range given {
		before := len(names)
		if beginning, open := strings.CutSuffix(name, "*"); open && eventName.MatchString(name) {
			for _, k := range known {
				if strings.HasPrefix(k, beginning) {
					names = append(names, k)
				}
			}
		} else if slices.Contains(known, name) {
			names = append(names, name)
		}
		if len(names) == before {
			found.Add("name", "must be the name of a fact, or end in an asterisk: %s", strings.Join(known, ", "))
			return nil
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
