package record

import (
	"context"
	"maps"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

type historyInput struct {
	ID   string        `path:"id" doc:"The item's id."`
	Diff serve.Boolean `query:"diff" doc:"true: show what changed in texts word by word, too."`
	serve.Paging
}

func (s Record) history(
	ctx context.Context, c *serve.Call, in *historyInput,
) (*serve.Output[api.Page[api.Event]], error) {
	limit := in.Size(c)
	diff := in.Diff.Read(&c.Found, "diff")
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	k, err := s.events.Items.Find(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	first, err := serve.PlaceOf(in.Cursor, k.ID)
	if err != nil {
		return nil, err
	}
	events, err := s.events.Log.Stream(ctx, c.Principal.Tenant, domain.KnowledgeStream(k.ID))
	if err != nil {
		return nil, err
	}
	all, err := domain.History(k.ID, events, s.api.Policy())
	if err != nil {
		return nil, err
	}
	rest := all[min(int(first), len(all)):]
	shown := rest[:min(limit, len(rest))]
	if err := s.events.HideHistory(ctx, c, shown); err != nil {
		return nil, err
	}
	causes, err := s.causes(ctx, c, shown)
	if err != nil {
		return nil, err
	}
	out := api.Page[api.Event]{Items: make([]api.Event, len(shown))}
	for i, item := range shown {
		out.Items[i] = HistoryEventOf(item, serve.Value(diff))
		out.Items[i].CausedBy = causesOf(item.Event, causes)
	}
	if len(rest) > limit {
		out.NextCursor = serve.Cursor(first+int64(limit), k.ID)
	}
	return &serve.Output[api.Page[api.Event]]{Body: out}, nil
}

// causes finds the causes of the events of a history, whose references are hidden already. A chain of causes ends
// before the first one that the caller may not see.
func (s Record) causes(
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
	known, err := s.Finder.Causes(ctx, c.Principal.Tenant, ids)
	if err != nil {
		return nil, err
	}
	shown, err := s.events.Hide(ctx, c, nil, slices.Collect(maps.Values(known))...)
	for _, event := range shown {
		known[event.EventID] = event
	}
	return known, err
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

// HistoryEventOf is an event of an item with what it changed; with diff, word by word, too.
func HistoryEventOf(item domain.HistoryItem, diff bool) api.Event {
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
		if diff && slices.Contains(prose, ch.Field) {
			all[i].Diff = diffOf(ch.Before, ch.After)
		}
	}
	return all
}

// prose are the fields that are compared word by word.
var prose = []string{"task", "content", "abstract", "overview"}

func diffOf(before, after any) []api.FieldChange {
	was, _ := before.(string)
	is, _ := after.(string)
	return serve.Map(text.Diff(was, is), func(e text.Edit) api.FieldChange {
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
