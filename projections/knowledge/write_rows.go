package knowledge

import (
	"maps"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/projections/rows"
)

// Write adds the statements that write the changed items to the version's tables. Items share statements, except that
// rows of the index are deleted item by item.
func (s *Stage) Write(script *rows.Script) error {
	if s.err != nil {
		return s.err
	}
	if err := s.refoldRedacted(); err != nil {
		return err
	}
	const usual = 4 << 10 // bytes of SQL for an item
	if script.Engine == database.Postgres {
		script.Text = slices.Grow(script.Text, usual*len(s.order))
	}
	var fresh, revised, counted []rows.Row
	var index indexChange
	votes, reports := s.voteChanges()
	released := s.released()
	for _, id := range s.order {
		it := s.items[id]
		moved, wording := s.reindex(it)
		if moved {
			index.add(s, it, wording)
		}
		r := rows.RowOf(s.tenant, it.now, wording.Words)
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
		script.AddQuery(s.tx.NewDelete().TableExpr("?", s.tables.Knowledge.Name).
			Where("tenant = ?", s.tenant).Where("id IN (?)", bun.List(released)))
	}
	for _, part := range []struct {
		rows   []rows.Row
		update []string
	}{ // votes and reports set only counters, so that a large content is not written again
		{revised, rows.RevisedColumns}, {counted, rows.CountedColumns}, {fresh, nil},
	} {
		if err := s.writeRows(script, part.rows, part.update); err != nil {
			return err
		}
	}
	s.clearVotes(script)
	votes.write(script, s, s.tables.Votes, rows.VotesColumns, "event_id", "")
	reports.write(script, s, s.tables.Reports, rows.ReportsColumns, "reporter",
		"ON CONFLICT (tenant, id, reporter) DO UPDATE SET "+
			setting(s.tables.Reports.Stored([]string{"event_id", "reason", "at", "suspended"})))
	index.write(script, s)
	return nil
}

// released are the items whose former URI another item of the batch has now. An update of either row first could
// break the uniqueness of URIs. So these rows are deleted and inserted again.
func (s *Stage) released() []string {
	var released []string
	for _, id := range s.order {
		it := s.items[id]
		uri := it.was.Text.URI
		if it.was.Exists() && rows.IsLive(&it.was) && s.holders[uri] != "" && s.holders[uri] != id {
			released = append(released, id)
		}
	}
	return released
}

// setting sets columns to the values of the row that was to be inserted.
func setting(columns []string) string {
	sets := make([]string, len(columns))
	for i, column := range columns {
		sets[i] = column + " = EXCLUDED." + column
	}
	return strings.Join(sets, ", ")
}

func (s *Stage) writeRows(script *rows.Script, list []rows.Row, update []string) error {
	if len(list) == 0 {
		return nil
	}
	all := make([][]any, len(list))
	for i := range list {
		values, err := list[i].Values(rows.KnowledgeColumns)
		if err != nil {
			return err
		}
		all[i] = values
	}
	then := ""
	if update != nil {
		then = "ON CONFLICT (tenant, id) DO UPDATE SET " + setting(s.tables.Knowledge.Stored(update))
	}
	s.tables.Knowledge.Insert(script, rows.KnowledgeColumns, all, then)
	return nil
}

// rowsChange has the rows of votes or of reports that differ between loaded and current items.
type rowsChange struct {
	gone map[string][]string // ids of events, or reporters, by item
	made [][]any
}

func (s *Stage) voteChanges() (votes, reports rowsChange) {
	votes.gone, reports.gone = map[string][]string{}, map[string][]string{}
	for _, id := range s.order {
		it := s.items[id]
		if it.refold {
			it.votes, it.reports = nil, nil
		}
		for eventID, verdict := range it.votes {
			if it.now.Votes[eventID].Verdict != verdict { // a discounted one is written again
				votes.gone[id] = append(votes.gone[id], eventID)
			}
		}
		for eventID, vote := range it.now.Votes {
			if it.votes[eventID] != vote.Verdict {
				votes.made = append(votes.made, rows.VoteRowOf(s.tenant, id, vote).Values())
			}
		}
		for reporter := range it.reports {
			if _, stays := it.now.Reports[reporter]; !stays {
				reports.gone[id] = append(reports.gone[id], string(reporter))
			}
		}
		for _, report := range it.now.Reports {
			if was := it.reports[report.Reporter]; was.EventID != report.EventID || was.Suspended != report.Suspended {
				reports.made = append(reports.made, rows.ReportRowOf(s.tenant, id, report).Values())
			}
		}
	}
	for _, made := range [][][]any{votes.made, reports.made} {
		slices.SortStableFunc(made, func(a, b []any) int { return strings.Compare(a[2].(string), b[2].(string)) })
	}
	return votes, reports
}

// clearVotes deletes the votes and reports of items that are folded again.
func (s *Stage) clearVotes(script *rows.Script) {
	var ids []string
	for _, id := range s.order {
		if s.items[id].refold {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return
	}
	for _, table := range []bun.Ident{s.tables.Votes.Name, s.tables.Reports.Name} {
		script.AddQuery(s.tx.NewDelete().TableExpr("?", table).Where("tenant = ?", s.tenant).
			Where("id IN (?)", bun.List(ids)))
	}
}

func (c rowsChange) write(script *rows.Script, s *Stage, t rows.Source, columns []string, key, then string) {
	for _, id := range slices.Sorted(maps.Keys(c.gone)) {
		slices.Sort(c.gone[id])
		script.AddQuery(s.tx.NewDelete().TableExpr("?", t.Name).Where("tenant = ?", s.tenant).
			Where("id = ?", id).Where("? IN (?)", bun.Ident(key), bun.List(c.gone[id])))
	}
	t.Insert(script, columns, c.made, then)
}
