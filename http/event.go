package http

import (
	"context"
	"encoding/hex"
	"regexp"
	"slices"
	"time"

	"github.com/annals-kb/annals/domain"
)

// event is a fact as the log keeps it.
type event struct {
	Name           string     `json:"name" example:"knowledge.remembered"`
	Stream         string     `json:"stream" example:"knowledge:profile_001"`
	Version        int64      `json:"version" doc:"Within the stream: 1, 2, 3 …"`
	Position       int64      `json:"position" doc:"In the tenant's log: 1, 2, 3 … without a gap."`
	EventID        string     `json:"event_id"`
	SchemaVersion  int        `json:"schema_version"`
	RecordedAt     time.Time  `json:"recorded_at"`
	OccurredAt     *time.Time `json:"occurred_at,omitempty" doc:"When it happened in the world, if somebody said."`
	Actor          string     `json:"actor" doc:"Who did it."`
	OnBehalfOf     string     `json:"on_behalf_of,omitempty" doc:"For whom."`
	Authentication string     `json:"authentication" doc:"How we know."`
	RequestID      string     `json:"request_id,omitempty"`
	CorrelationID  string     `json:"correlation_id,omitempty"`
	CausationID    string     `json:"causation_id,omitempty"`
	Traceparent    string     `json:"traceparent,omitempty"`
	ReasonCode     string     `json:"reason_code,omitempty"`
	Reason         string     `json:"reason,omitempty" doc:"Why, as somebody wrote it."`
	Data           object     `json:"data,omitempty" doc:"The plain fields, as recorded."`
	Text           object     `json:"text,omitempty" doc:"What people wrote; missing if there was nothing, or if it was erased."`
	TextErased     bool       `json:"text_erased,omitempty" doc:"There was text, and it was destroyed."`
	Hash           string     `json:"hash,omitempty" doc:"SHA-256 over the canonical encoding of the whole record, in hexadecimal."`

	Changes    []change `json:"changes,omitempty" doc:"In an item's history: what it changed."`
	Revision   int64    `json:"revision,omitempty" doc:"In an item's history: the item's, after it."`
	Confidence *float64 `json:"confidence,omitempty" doc:"In an item's history: the item's, after it."`
	CausedBy   []cause  `json:"caused_by,omitempty" doc:"In an item's history: what caused it, what caused that, and so on back to where it began."`
}

// change is what an event changed in one field.
type change struct {
	Field  string `json:"field" example:"content"`
	Before any    `json:"before,omitempty" doc:"Missing if there was nothing."`
	After  any    `json:"after,omitempty" doc:"Missing if nothing is left."`
	Diff   []edit `json:"diff,omitempty" doc:"With diff=true, for what people wrote: before and after, word by word, Chinese by character."`
}

func eventOf(e domain.Event) event {
	return event{
		Name: e.Name, Stream: e.Stream, Version: e.Version, Position: e.Position,
		EventID: e.EventID, SchemaVersion: e.SchemaVersion, RecordedAt: e.RecordedAt.UTC(),
		OccurredAt: known(e.OccurredAt), Actor: string(e.Actor), OnBehalfOf: string(e.OnBehalfOf),
		Authentication: e.Authentication, RequestID: e.RequestID, CorrelationID: e.CorrelationID,
		CausationID: e.CausationID, Traceparent: e.Traceparent, ReasonCode: e.ReasonCode,
		Reason: reasonOf(e.Fact), Data: object(e.Data), Text: object(e.Text),
		TextErased: e.TextErased, Hash: hex.EncodeToString(e.Hash),
	}
}

// reasonOf is why, for facts that have a why.
func reasonOf(fact domain.Fact) string {
	switch f := fact.(type) {
	case domain.ReportedStale:
		return f.Reason
	case domain.Confirmed:
		return f.Reason
	case domain.Superseded:
		return f.Reason
	case domain.Deleted:
		return f.Reason
	case domain.Restored:
		return f.Reason
	case domain.ProjectionFailed:
		return f.Reason
	}
	return ""
}

type eventsInput struct {
	Actor  string   `query:"actor" doc:"Who did it, or for whom: an entity such as user:123."`
	Name   []string `query:"name,explode" doc:"Several are alternatives. Example: knowledge.remembered."`
	Stream string   `query:"stream" doc:"Example: knowledge:profile_001."`
	From   moment   `query:"from" doc:"Recorded at or after this time or date."`
	To     moment   `query:"to" doc:"Recorded before it."`
	Order  string   `query:"order" enum:"asc,desc" doc:"Oldest or newest first; asc if left out."`
	After  integer  `query:"after" doc:"Only positions after this one; with desc, before it."`
	Limit  integer  `query:"limit" doc:"1 to 500; 100 if left out."`
	Cursor string   `query:"cursor" doc:"next_cursor of the page before, with the same filters."`
}

var eventName = regexp.MustCompile(`^[a-z_]{1,64}\.[a-z_]{1,64}$`)

func (s *Server) events(ctx context.Context, c *call, in *eventsInput) (*paged[event], error) {
	query := in.query(c)
	if err := c.found.Err(); err != nil {
		return nil, err
	}
	if !c.principal.SeesAll() {
		return nil, domain.Refuse(domain.ErrForbidden, "only auditors and admins read the log").
			WithFix("ask for the history of one item")
	}
	asked := query
	place, err := placeOf(in.Cursor, asked)
	if err != nil {
		return nil, err
	}
	if place != 0 {
		query.After = place
	}
	all, next, err := s.cfg.Historian.Find(ctx, query)
	if err != nil {
		return nil, err
	}
	out := page[event]{Items: make([]event, len(all)), NextCursor: cursor(next, asked)}
	for i, e := range all {
		out.Items[i] = eventOf(e)
	}
	return &paged[event]{Body: out}, nil
}

func (in *eventsInput) query(c *call) domain.EventQuery {
	found := &c.found
	if in.Actor != "" {
		if _, err := domain.ParseEntity(in.Actor); err != nil {
			found.Add("actor", "%s", err)
		}
	}
	names := apart(in.Name)
	if slices.ContainsFunc(names, func(name string) bool { return !eventName.MatchString(name) }) {
		found.Add("name", "must be the name of a fact, such as knowledge.remembered")
	}
	text(found, "stream", in.Stream)
	if !slices.Contains([]string{"", "asc", "desc"}, in.Order) {
		found.Add("order", "must be one of asc, desc")
	}
	return domain.EventQuery{
		Tenant: c.principal.Tenant, After: in.After.read(found, "after", 0, 1<<62),
		Limit:      int(in.Limit.read(found, "limit", 1, 500)),
		Descending: in.Order == "desc", Stream: in.Stream, Actor: domain.Entity(in.Actor), Names: names,
		From: in.From.read(found, "from"), To: in.To.read(found, "to"),
	}
}
