package record

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/codec"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/body"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

// Finder finds events by what they are about, and by time.
type Finder interface {
	visible.Finder
	// Histogram counts selected events in buckets of equal time, of the whole log without From and To. It ignores Words.
	Histogram(ctx context.Context, query domain.EventQuery, buckets int) (domain.EventHistogram, error)
	// Causes returns, by id, the events with these ids, their causes, the causes of those, and so on, if they exist.
	Causes(ctx context.Context, tenant string, ids []string) (map[string]domain.Event, error)
}

// Record is what operations on the log need.
type Record struct {
	Finder Finder
	Feeds  *Feeds
	// Protections tells what protects the log from changes. Nil if unknown.
	Protections func(context.Context) ([]domain.Protection, error)

	api    *serve.API
	events visible.Events
}

// Routes registers the operations.
func (s Record) Routes(a *serve.API, events visible.Events) {
	s.api, s.events = a, events
	s.Feeds.begin(a, events)
	tags := []string{"Questions"}
	serve.Handle(s.api, huma.Operation{
		OperationID: "events", Method: http.MethodGet, Path: "/v1/events", Tags: tags,
		Summary: "Read the log, or follow it",
		Description: "A page of JSON, the whole list as " + serve.LinesType + " or " + serve.CsvType +
			", or what is recorded from now on and for ever as " +
			serve.StreamType + ": Last-Event-ID resumes. Auditors and admins read everything; members read what happened to " +
			"what they may see now.",
		Parameters: []*huma.Param{serve.Parameter("Last-Event-ID")},
		Responses:  serve.Listed[api.Event](s.api, serve.StreamType),
		Errors:     []int{http.StatusBadRequest, http.StatusNotAcceptable},
	}, s.list)
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
		OperationID: "compare", Method: http.MethodGet, Path: serve.ItemPath + "/compare", Tags: tags,
		Summary:     "Compare an item at two moments",
		Description: "With what changed in texts word by word. Before it was remembered, an item has no fields.",
		Errors:      []int{http.StatusNotFound},
	}, s.compare)
	serve.Handle(s.api, huma.Operation{
		OperationID: "history", Method: http.MethodGet, Path: serve.ItemPath + "/history", Tags: []string{"Knowledge"},
		Summary: "Read what happened to an item, oldest first",
		Description: "In pages, each event with who recorded it and when. Texts that were erased are marked as " +
			"such.",
		Errors: []int{http.StatusBadRequest, http.StatusNotFound},
	}, s.history)
	serve.Lookup(s.api, huma.Operation{
		OperationID: "log-protections", Method: http.MethodGet, Path: "/v1/log/protections", Tags: []string{"Proof"},
		Summary:     "See what keeps the log from being changed",
		Description: "What the database refuses to the role that serves. For auditors and admins.",
		Errors:      []int{http.StatusNotFound},
	}, s.walls)
}

type eventsInput struct {
	visible.Selecting
	Q     string        `query:"q" doc:"Words that the text, the reason or the plain fields contain, all of them, in any case; also parts of words, and Chinese."`
	Order string        `query:"order" enum:"asc,desc" doc:"Oldest or newest first; asc if left out."`
	After serve.Integer `query:"after" doc:"Only positions after this one, which the log must have; with desc, before it."`
	serve.Paging
}

// events answers with the part of the log that the caller may see: as a page, as a whole, or as a stream that follows
// the log.
func (s Record) list(ctx context.Context, c *serve.Call, in *eventsInput) (*serve.Streamed, error) {
	format, err := c.Accepts(serve.JSONType, serve.LinesType, serve.CsvType, serve.StreamType)
	if err != nil {
		return nil, err
	}
	query := in.Query(c, codec.Names())
	query.After = in.After.Read(&c.Found, "after", 0, serve.NoLimit)
	query.Descending = in.Order == "desc"
	query.Words = words(&c.Found, in.Q)
	if !slices.Contains([]string{"", "asc", "desc"}, in.Order) {
		c.Found.Add("order", "must be one of asc, desc")
	}
	if format == serve.StreamType {
		return s.Feeds.Follow(ctx, c, in.Paging, query, nil)
	}
	return s.events.List(c, query).Answer(ctx, c, in.Paging)
}

type histogramInput struct {
	visible.Selecting
	Buckets serve.Integer `query:"buckets" doc:"1 to 500; 60 if left out. A time of few microseconds has fewer."`
}

// histogram counts the events that the caller may see.
func (s Record) histogram(
	ctx context.Context, c *serve.Call, in *histogramInput,
) (*serve.Output[api.EventHistogram], error) {
	const usual, most = 60, 500
	query := in.Query(c, codec.Names())
	buckets := int(in.Buckets.Read(&c.Found, "buckets", 1, most))
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	made, err := s.Finder.Histogram(ctx, query, cmp.Or(buckets, usual))
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
func (s Record) event(ctx context.Context, c *serve.Call, in *eventInput) (out api.Event, err error) {
	event, err := s.events.Find(ctx, c, in.EventID)
	if err != nil {
		return out, err
	}
	shown, err := s.events.Hide(ctx, c, nil, event)
	if err != nil {
		return out, err
	}
	causes, err := s.causes(ctx, c, []domain.HistoryItem{{Event: shown[0]}})
	out = serve.EventOf(shown[0])
	out.CausedBy = causesOf(shown[0], causes)
	return out, err
}

type effectsInput struct {
	EventID string `path:"event_id" doc:"The event's id."`
	serve.Paging
}

// effects lists the events that name an event as their cause. They are all after it.
func (s Record) effects(ctx context.Context, c *serve.Call, in *effectsInput) (*serve.Streamed, error) {
	cause, err := s.events.Find(ctx, c, in.EventID)
	if err = serve.Merge(c.Found, err); err != nil {
		return nil, err
	}
	query := (&visible.Selecting{}).Query(c, nil)
	query.CausationID, query.After = cause.EventID, cause.Position
	return s.events.List(c, query).Answer(ctx, c, in.Paging)
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
