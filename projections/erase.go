package projections

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// An erasure destroys, in the transaction that records it, everything that was computed from the item's
// texts: in every version of every projection, those that are being built and those that wait to be dropped
// among them. A redaction does the same, and what is left of the texts is computed from anew: by the versions
// that are written with the event at once, by the others when they come to it. What is written outside of that
// transaction keeps away from it, see package events.

// noteRedaction notes which items lose texts. One of which something is redacted is folded anew from its whole stream,
// once all of the redactions that come together are known.
func (s *stage) noteRedaction(it *item, event domain.Event) error {
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
		for _, decided := range it.fresh { // what is caught up with was recorded before
			if len(recorded) == 0 || decided.Version > recorded[len(recorded)-1].Version {
				recorded = append(recorded, decided)
			}
		}
		it.history = recorded
	}
	it.refold, it.refoldPending = true, true
	return nil
}

// refoldRedacted folds anew what was redacted since it was settled last.
func (s *stage) refoldRedacted() error {
	for _, id := range s.redacted {
		it := s.items[id]
		if !it.refoldPending {
			continue
		}
		now, err := events.Refold(id, it.history, it.now.Version, s.policy)
		if err != nil {
			return err
		}
		it.now, it.refoldPending = now, false
	}
	return nil
}

// footprint are what erased items have left: their numbers, and the hashes of all pieces of text that they
// ever consisted of, by which their vectors are kept.
type footprint struct {
	tenant  string
	ids     []string
	numbers []int64
	hashes  [][]byte
}

// erase adds to a script what destroys the footprint of the items that a batch has erased. It is called
// before their texts are destroyed, by which vectors are found.
func (all stages) erase(ctx context.Context, script *script) error {
	ids := all[0].redacted
	if len(ids) == 0 {
		return nil
	}
	active := all[0]
	p, tx, tenant := active.projection, active.tx, active.tenant
	if err := events.LockTexts(ctx, tx, tenant); err != nil {
		return err
	}
	left, err := active.footprintOf(ctx, ids)
	if err != nil {
		return fmt.Errorf("find out what to erase: %w", err)
	}
	var entries []entry
	if err := tx.NewSelect().Model(&entries).OrderExpr("name, version").Scan(ctx); err != nil {
		return err
	}
	for _, e := range entries {
		if e.Settings["dropped"] != "" {
			continue
		}
		switch e.Name {
		case knowledgeName:
			if e.State != stateActive {
				err = p.blank(ctx, tx, p.versionOf(e), left, script)
			}
			left.clearVoteTexts(tx, tablesOf(e.Version), script)
		case pastName:
			left.forgetPast(tx, pastTablesOf(e.Version), script)
		}
		if err != nil {
			return fmt.Errorf("erase from version %d: %w", e.Version, err)
		}
	}
	return left.forgetMeaning(ctx, tx, entries, script)
}

// footprintOf folds the items' streams once more, as far as they were recorded before this batch.
func (s *stage) footprintOf(ctx context.Context, ids []string) (footprint, error) {
	left := footprint{tenant: s.tenant, ids: ids}
	streams := make([]string, len(ids))
	for i, id := range ids {
		streams[i] = domain.KnowledgeStream(id)
		left.numbers = append(left.numbers, s.items[id].now.Number)
	}
	recorded, err := events.StreamsWithin(ctx, s.tx, s.tenant, streams)
	if err != nil {
		return left, err
	}
	seen := map[hash]bool{}
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
			for _, piece := range pieces(items[id]) {
				if !seen[piece.hash] {
					seen[piece.hash] = true
					left.hashes = append(left.hashes, piece.hash[:])
				}
			}
		}
	}
	return left, nil
}

// clearVoteTexts takes away what was said in votes and reports; that they were given stays.
func (r footprint) clearVoteTexts(tx bun.IDB, t tables, script *script) {
	script.add(tx.NewUpdate().TableExpr("?", t.votes).Set("query = '', outcome = ''").
		Where("tenant = ?", r.tenant).Where("id IN (?)", bun.List(r.ids)))
	script.add(tx.NewUpdate().TableExpr("?", t.reports).Set("reason = ''").
		Where("tenant = ?", r.tenant).Where("id IN (?)", bun.List(r.ids)))
}

// forgetPast takes away by which words, pieces and tags the items could be found; that they were there stays. Items
// come first, as where the past is written: nobody waits for one who waits.
func (r footprint) forgetPast(tx bun.IDB, t pastTables, script *script) {
	script.add(tx.NewUpdate().TableExpr("?", t.items).Set("tag_bits = ?", anyTags.column()).
		Where("tenant = ?", r.tenant).Where("number IN (?)", bun.List(r.numbers)))
	for _, table := range []bun.Ident{t.words, t.pieces} {
		script.add(tx.NewDelete().TableExpr("?", table).
			Where("tenant = ?", r.tenant).Where("number IN (?)", bun.List(r.numbers)))
	}
}

// forgetMeaning takes away the items' pieces, and the vectors that no other item's pieces need. Searches in
// memory learn of it with the event.
func (r footprint) forgetMeaning(ctx context.Context, tx bun.IDB, entries []entry, script *script) error {
	var spaces []embeddingModel
	if err := tx.NewSelect().Model(&spaces).OrderExpr("number").Scan(ctx); err != nil {
		return err
	}
	for _, s := range spaces {
		vectors := tx.NewDelete().TableExpr("? AS v", meaningTablesOf(0, s).vectors).
			Where("v.tenant = ?", r.tenant).Where("v.text_hash IN (?)", bun.List(r.hashes))
		known := false
		for _, e := range entries {
			if e.Name != meaningName || e.Settings["dropped"] != "" || e.Settings["space"] != s.Name {
				continue
			}
			known = true
			t := meaningTablesOf(e.Version, s)
			script.add(tx.NewDelete().TableExpr("?", t.pieces).
				Where("tenant = ?", r.tenant).Where("number IN (?)", bun.List(r.numbers)))
			vectors.Where("NOT EXISTS (SELECT 1 FROM ? AS m WHERE m.tenant = v.tenant AND m.text_hash = v.text_hash)", t.pieces)
		}
		if known && len(r.hashes) > 0 {
			script.add(vectors)
		}
	}
	return nil
}

// blank takes the texts out of a version that is not read: whether it is written with this batch, too, or is
// being built and will read in the log what happened, or waits to be dropped.
func (p *Knowledge) blank(ctx context.Context, tx bun.IDB, v version, left footprint, script *script) error {
	var rows []row
	err := tx.NewSelect().Model(&rows).ModelTableExpr("? AS k", v.tables.knowledge).
		Where("tenant = ?", left.tenant).Where("id IN (?)", bun.List(left.ids)).Scan(ctx)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	for i := range rows {
		k := rows[i].knowledge()
		gone := tx.NewDelete().TableExpr("?", v.tables.terms).Where("tenant = ?", left.tenant).Where("number = ?", k.Number)
		if !v.unsupported { // an index leads there
			gone.Where("term IN (?)", bun.List(append(documentTermsOf(v.tokenizer, k).Terms, ""))).Where("scope IN (?)", bun.List(k.Scopes))
		}
		script.add(gone)
		blank := *k
		blank.ClearText()
		source, baseline := source(blank.Source), baselineOf(blank.Baseline)
		update := tx.NewUpdate().Model(&row{Source: source, Baseline: baseline, Relations: relationsOf(blank.Relations), Tags: map[string][]string{}}).
			ModelTableExpr("? AS k", v.tables.knowledge).
			Column("task", "content", "abstract", "overview", "tags", "meta", "source", "baseline", "relations", "stale_reason", "suspended_reason", "words").
			Where("tenant = ?", left.tenant).Where("id = ?", k.ID)
		script.add(update)
		script.add(tx.NewUpdate().TableExpr("?", v.tables.knowledge).
			Set("uri = ?", domain.KnowledgeStream(k.ID)). // unique among those alive
			Where("tenant = ?", left.tenant).Where("id = ?", k.ID))
		script.add(tx.NewUpdate().TableExpr("?", v.tables.scopes).Set("bag = NULL, words = 0").
			Where("tenant = ?", left.tenant).Where("number = ?", k.Number))
	}
	return nil
}
