package http

import (
	"context"
	"encoding/json"

	"github.com/annals-kb/annals/domain"
)

type historyInput struct {
	ID     string  `path:"id" doc:"The item's id."`
	Limit  integer `query:"limit" doc:"1 to 500; 100 if left out."`
	Cursor string  `query:"cursor" doc:"next_cursor of the page before."`
}

func (s *Server) history(ctx context.Context, c *call, in *historyInput) (*paged[event], error) {
	const usual, most = 100, 500
	limit := int(in.Limit.read(&c.found, "limit", 1, most))
	if limit == 0 {
		limit = usual
	}
	if err := c.found.Err(); err != nil {
		return nil, err
	}
	k, err := s.seen(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	first, err := placeOf(in.Cursor, k.ID)
	if err != nil {
		return nil, err
	}
	events, err := s.cfg.Historian.Stream(ctx, c.principal.Tenant, domain.KnowledgeStream(k.ID))
	if err != nil {
		return nil, err
	}
	all, err := domain.History(k.ID, events, s.cfg.Policy)
	if err != nil {
		return nil, err
	}
	rest := all[min(int(first), len(all)):]
	out := page[event]{Items: make([]event, 0, min(limit, len(rest)))}
	for _, item := range rest[:min(limit, len(rest))] {
		out.Items = append(out.Items, episodeOf(item))
	}
	if len(rest) > limit {
		out.NextCursor = cursor(first+int64(limit), k.ID)
	}
	return &paged[event]{Body: out}, nil
}

func episodeOf(item domain.HistoryItem) event {
	e := eventOf(item.Event)
	e.Revision, e.Confidence = item.Revision, &item.Confidence
	for _, ch := range item.Changes {
		e.Changes = append(e.Changes, change{Field: ch.Field, Before: shown(ch.Before), After: shown(ch.After)})
	}
	return e
}

// shown writes tags as the API does everywhere.
func shown(value any) any {
	switch v := value.(type) {
	case domain.Tags:
		return tags(v)
	case json.RawMessage:
		return object(v)
	}
	return value
}
