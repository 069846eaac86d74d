package record

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/body"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

type momentInput struct {
	AsOf body.AsOf `query:"as_of"`
}

func (s Record) moment(ctx context.Context, c *serve.Call, in *momentInput) (*serve.Output[api.Moment], error) {
	at := in.AsOf.Parse(&c.Found, "as_of")
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	at, err := s.events.Resolve(ctx, c, at)
	if err != nil {
		return nil, err
	}
	head, _, err := s.events.Log.Head(ctx, c.Principal.Tenant)
	if err != nil || head == 0 {
		return &serve.Output[api.Moment]{}, err
	}
	newest, err := s.events.Resolve(ctx, c, domain.AsOf{Position: head})
	if err != nil {
		return nil, err
	}
	last := newest
	if at.Position > 0 {
		if last, err = s.events.Resolve(ctx, c, domain.AsOf{Position: at.Position}); err != nil {
			return nil, err
		}
	}
	query := (&visible.Selecting{}).Query(c, nil)
	query.After, query.To, query.Limit = last.Position-1, last.Time.Add(time.Microsecond), 1
	found, _, err := s.Finder.Find(ctx, query)
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
func (s Record) compare(ctx context.Context, c *serve.Call, in *compareInput) (*serve.Output[api.Comparison], error) {
	from, to := in.From.Parse(&c.Found, "from"), in.To.Parse(&c.Found, "to")
	if in.From == "" {
		c.Found.Add("from", "is needed: a time, a date, or a position of the log")
	}
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	k, err := s.events.Items.Find(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	if from, to, err = s.between(ctx, c, from, to); err != nil {
		return nil, err
	}
	events, err := s.events.Log.Stream(ctx, c.Principal.Tenant, domain.KnowledgeStream(k.ID))
	if err != nil {
		return nil, err
	}
	made, err := domain.Compare(k.ID, events, s.api.Policy(), from, to)
	err = cmp.Or(err, s.events.Items.Reader.Hide(ctx, c.Principal, &made))
	return &serve.Output[api.Comparison]{Body: api.Comparison{
		From: api.ItemState(made.From), To: api.ItemState(made.To), Changes: changesOf(made.Changes, made.Policy, true),
	}}, err
}

// between resolves the moments of a comparison, the second of which may be now.
func (s Record) between(ctx context.Context, c *serve.Call, from, to domain.AsOf) (_, _ domain.AsOf, err error) {
	if to.IsNow() {
		to.Time = c.Now
		to.Position, _, err = s.events.Log.Head(ctx, c.Principal.Tenant)
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
func (s Record) resolveNamed(ctx context.Context, c *serve.Call, field string, at domain.AsOf) (domain.AsOf, error) {
	at, err := s.events.Resolve(ctx, c, at)
	if invalid, ok := errors.AsType[*domain.Invalid](err); ok {
		c.Found.Add(field, "%s", invalid.Problems[0].Message)
		return at, nil
	}
	return at, err
}
