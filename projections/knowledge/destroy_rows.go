package knowledge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

// An erasure destroys everything that was computed from the item's texts, in the transaction that records it. That is
// in every version of every projection, including those being built and those waiting to be dropped. A redaction does
// the same; what it leaves of the texts is computed again, at once in written versions, and in others when they reach
// the event. Package events keeps writers outside of that transaction away.

// noteRedaction notes which items lose texts. An item with a redaction is folded again from its whole stream, once
// all redactions of the batch are known.
func (s *Stage) noteRedaction(it *item, event domain.Event) error {
	switch n := len(it.history); {
	case n == 0:
		it.fresh = append(it.fresh, event)
	case event.Version > it.history[n-1].Version:
		it.history = append(it.history, event)
	}
	if domain.Destroys(event.Fact) == nil {
		return nil
	}
	if !slices.Contains(s.redacted, it.now.ID) {
		s.redacted = append(s.redacted, it.now.ID)
	}
	if _, redacted := event.Fact.(domain.Redacted); !redacted {
		return nil
	}
	if it.history == nil {
		recorded, err := events.StreamsWithin(s.ctx, s.tx, s.tenant, []string{event.Stream})
		if err != nil {
			return err
		}
		for _, decided := range it.fresh { // during a catch-up the batch is recorded already
			if len(recorded) == 0 || decided.Version > recorded[len(recorded)-1].Version {
				recorded = append(recorded, decided)
			}
		}
		it.history = recorded
	}
	it.refold, it.refoldPending = true, true
	return nil
}

// refoldRedacted folds the items again that were redacted since the last call.
func (s *Stage) refoldRedacted() error {
	for _, id := range s.redacted {
		it := s.items[id]
		if !it.refoldPending {
			continue
		}
		now, err := events.Refold(id, it.history, it.now.Version, s.policy)
		if err != nil {
			return err
		}
		it.now, it.refoldPending, s.votes[id] = now, false, true
	}
	return nil
}

// erase adds the statements that destroy the footprint of a batch's erased items. It runs before their texts are
// destroyed, because these lead to the vectors.
func (all stages) erase(ctx context.Context, script *rows.Script) error {
	ids := all[0].redacted
	if len(ids) == 0 {
		return nil
	}
	active := all[0]
	c, tx, tenant := active.catalogue, active.tx, active.tenant
	if err := events.LockTexts(ctx, tx, tenant); err != nil {
		return err
	}
	for _, s := range all {
		s.erased = true
	}
	left, err := active.footprintOf(ids)
	if err != nil {
		return fmt.Errorf("find out what to erase: %w", err)
	}
	var entries []catalogue.Entry
	if err := tx.NewSelect().Model(&entries).OrderExpr("name, version").Scan(ctx); err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name != catalogue.KnowledgeName || e.Settings["dropped"] != "" {
			continue
		}
		err := c.LookAt(ctx, tx, false, e)
		v := c.VersionOf(e)
		var items []*domain.Knowledge
		if err == nil {
			items, err = itemsOf(ctx, tx, v.Tables, left)
		}
		if err == nil {
			err = words.Erase(ctx, tx, c.DB.Engine, v, tenant, items)
		}
		if err == nil && e.State != catalogue.StateActive {
			err = blank(tx, v.Tables, left.Tenant, items, script)
		}
		clearVoteTexts(tx, v.Tables, left, script)
		if err != nil {
			return fmt.Errorf("erase from version %d: %w", e.Version, err)
		}
	}
	for _, erase := range active.erasers {
		if err := erase(ctx, tx, entries, left, script); err != nil {
			return err
		}
	}
	return nil
}

// footprintOf folds the items' streams up to this batch.
func (s *Stage) footprintOf(ids []string) (catalogue.Footprint, error) {
	left := catalogue.Footprint{Tenant: s.tenant, IDs: ids}
	streams := make([]string, len(ids))
	for i, id := range ids {
		streams[i] = domain.KnowledgeStream(id)
		left.Numbers = append(left.Numbers, s.items[id].now.Number)
	}
	recorded, err := events.StreamsWithin(s.ctx, s.tx, s.tenant, streams)
	if err != nil {
		return left, err
	}
	items := map[string]*domain.Knowledge{}
	for _, event := range recorded {
		id, _ := domain.ItemOf(event.Stream)
		if items[id] == nil {
			items[id] = &domain.Knowledge{ID: id}
		}
		if err := items[id].Evolve(event.Fact, event.Metadata(), s.policy); err != nil {
			return left, fmt.Errorf("fold %s: %w", event.Stream, err)
		}
		switch event.Fact.(type) {
		case domain.Remembered, domain.Revised:
			left.Revisions = append(left.Revisions, *items[id])
		}
	}
	return left, nil
}

// clearVoteTexts deletes the texts of votes and reports; the votes and reports stay.
func clearVoteTexts(tx bun.IDB, t rows.Tables, r catalogue.Footprint, script *rows.Script) {
	empty := func(table rows.Source, columns ...string) {
		for _, column := range table.Stored(columns) {
			script.AddQuery(tx.NewUpdate().TableExpr("?", table.Name).Set("? = ''", bun.Ident(column)).
				Where("tenant = ?", r.Tenant).Where("id IN (?)", bun.List(r.IDs)))
		}
	}
	empty(t.Votes, "query", "outcome")
	empty(t.Reports, "reason")
}

// itemsOf are the items as a version has them.
func itemsOf(
	ctx context.Context, tx bun.IDB, t rows.Tables, left catalogue.Footprint,
) (items []*domain.Knowledge, err error) {
	err = rows.ScanAll(ctx, rows.Select(tx).ModelTableExpr("? AS k", t.Knowledge).
		Where("tenant = ?", left.Tenant).Where("id IN (?)", bun.List(left.IDs)),
		func(r *rows.Row) { items = append(items, &r.Knowledge) })
	return items, err
}

// blank deletes the texts of items from a version that is not active: a written one, one being built that will read
// the event later, or one waiting to be dropped.
func blank(tx bun.IDB, t rows.Tables, tenant string, items []*domain.Knowledge, script *rows.Script) error {
	for _, k := range items {
		blank := *k
		blank.ClearText()
		row := rows.RowOf(tenant, &blank, 0)
		update := tx.NewUpdate().TableExpr("? AS k", t.Knowledge.Name).
			Where("tenant = ?", tenant).Where("id = ?", k.ID)
		for _, column := range t.Knowledge.Stored(strings.Fields(`task content abstract overview tags meta source baseline
			relations stale_reason suspended_reason words`)) {
			value, err := row.Values([]string{column})
			if err != nil {
				return err
			}
			update = update.Set("? = ?", bun.Ident(column), value[0])
		}
		script.AddQuery(update)
		script.AddQuery(tx.NewUpdate().TableExpr("?", t.Knowledge.Name).
			Set("uri = ?", domain.KnowledgeStream(k.ID)). // unique among live items
			Where("tenant = ?", tenant).Where("id = ?", k.ID))
	}
	return nil
}
