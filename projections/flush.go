package projections

import (
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

// write adds to a script what brings the version's tables to what Apply made of the items: a
// statement per table, however many items there are.
func (s *stage) write(script *script) error {
	if s.err != nil {
		return s.err
	}
	if err := s.refoldRedacted(); err != nil {
		return err
	}
	const usual = 4 << 10 // bytes of SQL for an item
	if script.engine == database.Postgres {
		script.Text = slices.Grow(script.Text, usual*len(s.order))
	}
	var fresh, revised, counted []row
	var index indexChange
	votes, reports := s.voteChanges()
	released := s.released()
	for _, id := range s.order {
		it := s.items[id]
		moved, wording := s.reindex(it)
		if moved {
			index.add(s.tenant, it, wording)
		}
		r := rowOf(s.tenant, it.now, wording.words)
		switch {
		case !it.was.Exists() || slices.Contains(released, id):
			fresh = append(fresh, r)
		case it.was.Revision != it.now.Revision:
			revised = append(revised, r)
		default:
			counted = append(counted, r)
		}
	}
	if len(released) > 0 {
		script.add(s.tx.NewDelete().TableExpr("?", s.tables.knowledge).
			Where("tenant = ?", s.tenant).Where("id IN (?)", bun.List(released)))
	}
	for _, part := range []struct {
		rows   []row
		update string
	}{{revised, everything}, {counted, counters}, {fresh, ""}} {
		if err := s.writeRows(script, part.rows, part.update); err != nil {
			return err
		}
	}
	s.clearVotes(script)
	votes.write(script, s)
	reports.write(script, s)
	index.write(script, s)
	return nil
}

// released are the items that gave up a URI which another item of the batch has now. Whichever row is
// updated first, that URI would stand in two: these rows go, and are inserted again as they are now.
func (s *stage) released() []string {
	var released []string
	for _, id := range s.order {
		it := s.items[id]
		uri := it.was.Text.URI
		if it.was.Exists() && isAlive(&it.was) && s.holders[uri] != "" && s.holders[uri] != id {
			released = append(released, id)
		}
	}
	return released
}

// What an update of an existing row sets. Votes and reports leave the text alone, so that a large
// content is not written again for a counter.
const (
	counters = `helpful = EXCLUDED.helpful, harmful = EXCLUDED.harmful, confidence = EXCLUDED.confidence,
		stale_reporters = EXCLUDED.stale_reporters, stale_since = EXCLUDED.stale_since,
		stale_reason = EXCLUDED.stale_reason, confirmed_at = EXCLUDED.confirmed_at,
		confirm_until = EXCLUDED.confirm_until, suspended_reporters = EXCLUDED.suspended_reporters,
		suspended_since = EXCLUDED.suspended_since, suspended_reason = EXCLUDED.suspended_reason,
		expired_confidence = EXCLUDED.expired_confidence, version = EXCLUDED.version, position = EXCLUDED.position`
	everything = counters + `,
		type = EXCLUDED.type, category = EXCLUDED.category, polarity = EXCLUDED.polarity,
		owner = EXCLUDED.owner, visibility = EXCLUDED.visibility, status = EXCLUDED.status,
		superseded_by = EXCLUDED.superseded_by, held = EXCLUDED.held, uri = EXCLUDED.uri,
		task = EXCLUDED.task, content = EXCLUDED.content, abstract = EXCLUDED.abstract,
		overview = EXCLUDED.overview, tags = EXCLUDED.tags, meta = EXCLUDED.meta, source = EXCLUDED.source,
		scopes = EXCLUDED.scopes, relations = EXCLUDED.relations, baseline = EXCLUDED.baseline, words = EXCLUDED.words,
		revision = EXCLUDED.revision, updated_at = EXCLUDED.updated_at`
)

func (s *stage) writeRows(script *script, rows []row, update string) error {
	if len(rows) == 0 {
		return nil
	}
	all := make([][]any, len(rows))
	for i := range rows {
		values, err := rows[i].values()
		if err != nil {
			return fmt.Errorf("%s: %w", rows[i].ID, err)
		}
		all[i] = values
	}
	if update != "" {
		update = "ON CONFLICT (tenant, id) DO UPDATE SET " + update
	}
	script.insert(s.tables.knowledge, knowledgeColumns, all, update)
	return nil
}

// votesChange and reportsChange are the rows that differ between what was loaded and what is.
type votesChange struct {
	gone [][]string // id, event id
	made []voteRow
}

type reportsChange struct {
	gone [][]string
	made []reportRow
}

func (s *stage) voteChanges() (votes votesChange, reports reportsChange) {
	for _, id := range s.order {
		it := s.items[id]
		if it.refold {
			it.votes, it.reports = nil, nil
		}
		for eventID := range it.votes {
			if _, stays := it.now.Votes[eventID]; !stays {
				votes.gone = append(votes.gone, []string{id, eventID})
			}
		}
		for eventID, vote := range it.now.Votes {
			if !it.votes[eventID] {
				votes.made = append(votes.made, voteRowOf(s.tenant, id, vote))
			}
		}
		for reporter := range it.reports {
			if _, stays := it.now.Reports[reporter]; !stays {
				reports.gone = append(reports.gone, []string{id, string(reporter)})
			}
		}
		for _, report := range it.now.Reports {
			if was := it.reports[report.Reporter]; was.EventID != report.EventID || was.Suspended != report.Suspended {
				reports.made = append(reports.made, reportRowOf(s.tenant, id, report))
			}
		}
	}
	slices.SortFunc(votes.gone, func(a, b []string) int { return strings.Compare(a[1], b[1]) })
	slices.SortFunc(votes.made, func(a, b voteRow) int { return strings.Compare(a.EventID, b.EventID) })
	slices.SortFunc(reports.made, func(a, b reportRow) int { return strings.Compare(a.EventID, b.EventID) })
	return votes, reports
}

// clearVotes makes place for the votes and reports of items that are told anew.
func (s *stage) clearVotes(script *script) {
	var ids []string
	for _, id := range s.order {
		if s.items[id].refold {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return
	}
	for _, table := range []bun.Ident{s.tables.votes, s.tables.reports} {
		script.add(s.tx.NewDelete().TableExpr("?", table).Where("tenant = ?", s.tenant).Where("id IN (?)", bun.List(ids)))
	}
}

func (c votesChange) write(script *script, s *stage) {
	if len(c.gone) > 0 {
		gone := s.tx.NewDelete().TableExpr("?", s.tables.votes).Where("tenant = ?", s.tenant)
		if script.engine == database.SQLite { // which keeps them by item
			gone = gone.Where("(id, event_id) IN (?)", pairsOf(c.gone))
		} else {
			gone = gone.Where("event_id IN (?)", bun.List(eventsOf(c.gone)))
		}
		script.add(gone)
	}
	if len(c.made) > 0 {
		script.add(s.tx.NewInsert().Model(&c.made).ModelTableExpr("? AS v", s.tables.votes))
	}
}

func (c reportsChange) write(script *script, s *stage) {
	if len(c.gone) > 0 {
		script.add(s.tx.NewDelete().TableExpr("?", s.tables.reports).
			Where("tenant = ?", s.tenant).Where("(id, reporter) IN (?)", pairsOf(c.gone)))
	}
	if len(c.made) > 0 {
		script.add(s.tx.NewInsert().Model(&c.made).ModelTableExpr("? AS r", s.tables.reports).
			On("CONFLICT (tenant, id, reporter) DO UPDATE").
			Set("event_id = EXCLUDED.event_id, reason = EXCLUDED.reason, at = EXCLUDED.at, suspended = EXCLUDED.suspended"))
	}
}
