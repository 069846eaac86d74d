package visible

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

// Events are the events that callers may see.
type Events struct {
	Log     Log
	Watcher Watcher
	Finder  Finder
	Items   Items
}

// Log reads the log of a tenant.
type Log interface {
	// Stream returns every event of a stream, oldest first; none if there is no such stream.
	Stream(ctx context.Context, tenant, stream string) ([]domain.Event, error)
	// Head is the newest position of the tenant's log, and the id of the event there.
	Head(ctx context.Context, tenant string) (position int64, eventID string, err error)
}

// Watcher tells when logs grow.
type Watcher interface {
	// Watch signals when the tenant's log may have grown. Call it before reading, and call leave when done.
	Watch(tenant string) (grown <-chan struct{}, leave func())
}

// Finder finds events by what they are about, and positions by time.
type Finder interface {
	// Find returns a page of the log and where the following page begins (domain.EventQuery.After), 0 at the end.
	Find(ctx context.Context, query domain.EventQuery) (events []domain.Event, next int64, err error)
	// Resolve returns the position of a log at a time in the past, or a refusal that names the field as_of.
	Resolve(ctx context.Context, tenant string, at domain.AsOf) (domain.AsOf, error)
}

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

// Find finds an event if the caller reads it in lists.
func (s Events) Find(ctx context.Context, c *serve.Call, id string) (domain.Event, error) {
	query := (&Selecting{}).Query(c, nil)
	query.EventID = id
	found, _, err := s.Finder.Find(ctx, query)
	if err == nil && len(found) == 0 {
		err = domain.NoSuchEvent()
	}
	if err != nil {
		return domain.Event{}, err
	}
	return found[0], nil
}

// MayRead tells whether the caller may read a stream.
func (s Events) MayRead(ctx context.Context, c *serve.Call, stream string) (bool, error) {
	id, isItem := domain.ItemOf(stream)
	if !isItem || c.Principal.SeesAll() {
		return c.Principal.SeesAll() || c.Principal.MaySeeSession(stream), nil
	}
	_, err := s.Items.Find(ctx, c, id)
	if errors.Is(err, domain.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Hide returns events without their references to items and events that the caller may not see. Of a search for words,
// it leaves out events that have them in what is hidden alone.
func (s Events) Hide(
	ctx context.Context, c *serve.Call, words []string, events ...domain.Event,
) ([]domain.Event, error) {
	events = slices.Clone(events)
	all := make([]domain.Referrer, len(events))
	for i := range events {
		all[i] = &events[i]
	}
	err := s.Items.Reader.Hide(ctx, c.Principal, all...)
	if len(words) > 0 {
		events = slices.DeleteFunc(events, func(e domain.Event) bool { return !e.Mentions(words) })
	}
	return events, err
}

// Hides tells whether an event refers to something that the caller may not see.
func (s Events) Hides(ctx context.Context, c *serve.Call, event domain.Event) (bool, error) {
	shown, err := s.Hide(ctx, c, nil, event)
	return err == nil && (!bytes.Equal(shown[0].Data, event.Data) || shown[0].CausationID != event.CausationID ||
		shown[0].CorrelationID != event.CorrelationID), err
}

// HideHistory does the same as [Events.Hide] in place, for what a history says.
func (s Events) HideHistory(ctx context.Context, c *serve.Call, items []domain.HistoryItem) error {
	all := make([]domain.Referrer, len(items))
	for i := range items {
		all[i] = &items[i]
	}
	return s.Items.Reader.Hide(ctx, c.Principal, all...)
}

// List is the list of the events that a query selects.
func (s Events) List(c *serve.Call, query domain.EventQuery) serve.Listing[api.Event] {
	return serve.Listing[api.Event]{
		Name: "events", Query: query, Columns: serve.EventColumns,
		Page: func(ctx context.Context, place int64, limit int) ([]api.Event, int64, error) {
			page := query
			page.Limit = limit
			if place != 0 {
				page.After = place
			}
			found, next, err := s.Finder.Find(ctx, page)
			if err == nil && len(found) == 0 {
				err = s.CheckReached(ctx, page, place != 0)
			}
			shown, hideErr := s.Hide(ctx, c, query.Words, found...)
			return serve.Map(shown, serve.EventOf), next, cmp.Or(err, hideErr)
		},
	}
}

// CheckReached refuses a position beyond the end of the log. A caller that knows such a position has read another log,
// such as this one before an older backup was restored. It would wait for ever.
func (s Events) CheckReached(ctx context.Context, q domain.EventQuery, byCursor bool) error {
	if q.Descending || q.After == 0 {
		return nil
	}
	head, _, err := s.Log.Head(ctx, q.Tenant)
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

// Query reads the parameters, and notes invalid ones.
func (in *Selecting) Query(c *serve.Call, known []string) domain.EventQuery {
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
		Actor: serve.Entity(found, "actor", in.Actor), OnBehalfOf: serve.Entity(found, "on_behalf_of", in.OnBehalfOf),
		Owner: serve.Entity(found, "owner", in.Owner), Names: named(found, serve.SplitCommas(in.Name), known),
		TraceID: in.TraceID, CorrelationID: in.CorrelationID, RequestID: in.RequestID,
	}
	q.From, q.To = serve.Between(found, "from", in.From, "to", in.To)
	q.OccurredFrom, q.OccurredTo = serve.Between(found, "occurred_from", in.OccurredFrom, "occurred_to", in.OccurredTo)
	if !c.Principal.SeesAll() {
		q.Only = &c.Principal
	}
	return q
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

var eventName = regexp.MustCompile(`^[a-z_]{1,64}(\.[a-z_]{0,64})?\*?$`)

// named returns the names that patterns select. It notes a name that no fact has: it would never be found.
func named(found *domain.Problems, patterns, known []string) []string {
	var names []string
	for _, name := range patterns {
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
