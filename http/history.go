package http

import (
	"context"
	"errors"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
	prose "github.com/annals-kb/annals/text"
)

type historyInput struct {
	ID     string  `path:"id" doc:"The item's id."`
	Diff   boolean `query:"diff" doc:"true: show what changed in texts word by word, too."`
	Limit  integer `query:"limit" doc:"1 to 500; 100 if left out."`
	Cursor string  `query:"cursor" doc:"next_cursor of the page before."`
}

func (s *Server) history(ctx context.Context, c *call, in *historyInput) (*output[api.Page[api.Event]], error) {
	const usual, most = 100, 500
	limit := int(in.Limit.read(&c.found, "limit", 1, most))
	if limit == 0 {
		limit = usual
	}
	diff := in.Diff.read(&c.found, "diff")
	if err := c.found.Err(); err != nil {
		return nil, err
	}
	k, err := s.visibleItem(ctx, c, in.ID)
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
		out.Items[i] = historyEventOf(item, valueOf(diff))
		out.Items[i].CausedBy = causesOf(item.Event, causes)
	}
	if len(rest) > limit {
		out.NextCursor = cursor(first+int64(limit), k.ID)
	}
	return &output[api.Page[api.Event]]{out}, nil
}

// causes finds the causes of the events of a history. A cause that the caller may not see is shown by its id alone,
// as the event shows it.
func (s *Server) causes(ctx context.Context, c *call, items []domain.HistoryItem) (map[string]domain.Event, error) {
	var ids []string
	for _, item := range items {
		if item.Event.CausationID != "" {
			ids = append(ids, item.Event.CausationID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	known, err := s.cfg.Historian.Causes(ctx, c.principal.Tenant, ids)
	if err != nil || c.principal.SeesAll() {
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
func (s *Server) mayReadStream(ctx context.Context, c *call, stream string) (bool, error) {
	id, isItem := domain.ItemOf(stream)
	if !isItem {
		return c.principal.MaySeeSession(stream), nil
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
				ID: c.ID, Name: by.Name, Stream: by.Stream, Position: by.Position, RecordedAt: known(by.RecordedAt),
				Actor: string(by.Actor), OnBehalfOf: string(by.OnBehalfOf),
			}
		}
		all = append(all, one)
	}
	return all
}

func historyEventOf(item domain.HistoryItem, diff bool) api.Event {
	e := eventOf(item.Event)
	e.Revision, e.Confidence, e.ConfidencePolicy = item.Revision, &item.Confidence, item.Policy
	for _, ch := range item.Changes {
		shown := api.Change{Field: ch.Field, Before: shown(ch.Before), After: shown(ch.After)}
		if ch.Field == "eval.confidence" {
			shown.Policy = item.Policy
		}
		if diff && isProse(ch.Field) {
			shown.Diff = diffOf(ch.Before, ch.After)
		}
		e.Changes = append(e.Changes, shown)
	}
	return e
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
	var edits []api.FieldChange
	for _, e := range prose.Diff(was, is) {
		edits = append(edits, api.FieldChange{Op: string(e.Op), Text: e.Text})
	}
	return edits
}

// shown formats tags as everywhere in the API.
func shown(value any) any {
	if tags, are := value.(domain.Tags); are {
		return api.Tags(tags)
	}
	return value
}
