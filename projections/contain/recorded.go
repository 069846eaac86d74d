package contain

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/rows"
)

// maxContainments limits a list: the newest are listed.
const maxContainments = 500

// List lists the containments of a tenant, the newest first.
func (c *Containments) List(ctx context.Context, tenant string) (all []domain.RecordedContainment, err error) {
	var streams []domain.Stream
	for after := ""; ; after = streams[len(streams)-1].Name {
		page, err := c.Log.Reader.States(ctx, tenant, domain.ContainmentStreams.Of(""), after, events.PageSize)
		if streams = append(streams, page...); err != nil {
			return nil, err
		} else if len(page) < events.PageSize {
			break
		}
	}
	slices.SortFunc(streams, func(a, b domain.Stream) int { return cmp.Compare(b.Position, a.Position) })
	return c.recorded(ctx, tenant, streams[:min(len(streams), maxContainments)])
}

// Find finds a containment. The error matches [domain.ErrNotFound] if there is none.
func (c *Containments) Find(ctx context.Context, tenant, id string) (domain.RecordedContainment, error) {
	stream, err := c.Log.Reader.State(ctx, tenant, domain.ContainmentStreams.Of(id))
	if err == nil && !stream.Exists() {
		err = domain.NoSuchContainment(id)
	}
	if err != nil {
		return domain.RecordedContainment{}, err
	}
	all, err := c.recorded(ctx, tenant, []domain.Stream{stream})
	if err != nil {
		return domain.RecordedContainment{}, err
	}
	return all[0], nil
}

// recorded adds what the events of containments say.
func (c *Containments) recorded(
	ctx context.Context, tenant string, streams []domain.Stream,
) ([]domain.RecordedContainment, error) {
	all, names := make([]domain.RecordedContainment, len(streams)), make([]string, len(streams))
	for i, stream := range streams {
		names[i] = stream.Name
	}
	applied, err := c.Log.Reader.NewestOf(ctx, tenant, names, []string{domain.ContainmentApplied{}.Name()})
	for i, stream := range streams {
		all[i].ID, all[i].Event = domain.ContainmentStreams.ID(stream.Name), applied[stream.Name].EventID
		all[i].Containment, _ = stream.State.(domain.Containment)
		all[i].Applied, _ = applied[stream.Name].Fact.(domain.ContainmentApplied)
	}
	return all, err
}

// EachEffect passes on the events of a containment's transaction, in their order, until yield returns false.
func (c *Containments) EachEffect(
	ctx context.Context, tenant string, r domain.RecordedContainment, yield func(domain.Event) bool,
) error {
	for after := r.Position; ; {
		page, err := c.Log.Reader.Read(ctx, tenant, after, events.PageSize)
		if err != nil {
			return err
		}
		for _, e := range page {
			if e.CausationID != r.Event || !yield(e) {
				return nil
			}
		}
		if len(page) < events.PageSize {
			return nil
		}
		after = page[len(page)-1].Position
	}
}

// Undo are the commands that undo a containment.
func (c *Containments) Undo(
	ctx context.Context, by domain.Principal, r domain.RecordedContainment, reason string,
) (first domain.UndoContainment, then []domain.Command, err error) {
	first = domain.UndoContainment{By: by, ID: r.ID, Reason: reason}
	if !r.UndoneAt.IsZero() {
		return first, nil, nil // it refuses that
	}
	err = c.EachEffect(ctx, by.Tenant, r, func(e domain.Event) bool {
		id, _ := domain.ItemOf(e.Stream)
		target := domain.Target{By: by, ID: id}
		switch f := e.Fact.(type) {
		case domain.ItemQuarantined:
			then = append(then, domain.Readmit{
				Target: target, Containment: r.ID, Quarantined: f, Version: e.Version, Reason: reason,
			})
		case domain.VotesDiscounted:
			then = append(then, domain.DiscountVotes{Target: target, Containment: r.ID, Votes: f.Votes, Again: true})
		case domain.Restored:
			then = append(then, domain.Revive{Target: target, Again: true})
		}
		return true
	})
	if err == nil {
		err = c.place(ctx, by.Tenant, then)
	}
	return first, then, err
}

// place notes the URIs of items that are readmitted, so that a decision on many of them looks none up.
func (c *Containments) place(ctx context.Context, tenant string, commands []domain.Command) error {
	v, err := c.View(ctx)
	if err != nil {
		return err
	}
	for chunk := range slices.Chunk(commands, atOnce) {
		at := map[string]int{}
		for i, command := range chunk {
			if readmit, is := command.(domain.Readmit); is {
				at[readmit.ID] = i
			}
		}
		if len(at) == 0 {
			continue
		}
		var placed []struct {
			ID  string `bun:"id"`
			URI string `bun:"uri"`
		}
		err := v.DB.NewSelect().TableExpr("? AS k", v.Tables.Knowledge).ColumnExpr("k.id, k.uri").
			Where("k.tenant = ?", tenant).Where("k.id IN (?)", bun.List(slices.Collect(maps.Keys(at)))).Scan(ctx, &placed)
		if err != nil {
			return rows.Failed(ctx, "read items", err)
		}
		for _, one := range placed {
			readmit := chunk[at[one.ID]].(domain.Readmit)
			readmit.URI = one.URI
			chunk[at[one.ID]] = readmit
		}
	}
	return nil
}

// Release are the commands that readmit some items of a containment, of which there must be one.
func (c *Containments) Release(
	ctx context.Context, by domain.Principal, r domain.RecordedContainment, ids []string, reason string,
) (first domain.Readmit, then []domain.Command, err error) {
	for i, id := range ids {
		readmit := domain.Readmit{Target: domain.Target{By: by, ID: id}, Containment: r.ID, Named: true, Reason: reason}
		if i == 0 {
			first = readmit
		} else {
			then = append(then, readmit)
		}
	}
	if r.Revived == 0 {
		return first, then, nil
	}
	err = c.EachEffect(ctx, by.Tenant, r, func(e domain.Event) bool {
		if _, revived := e.Fact.(domain.Restored); revived {
			id, _ := domain.ItemOf(e.Stream)
			then = append(then, domain.Revive{Target: domain.Target{By: by, ID: id}, Again: true})
		}
		return true
	})
	return first, then, err
}
