package rebuild

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// compared is a table whose rows a verification compares.
type compared struct {
	name    string
	columns []string
	key     int // how many columns, from the first, identify a row
	item    int // the column of the item's id, or of its number
	rows    func(*image) [][]any
}

var comparedTables = [...]compared{
	{"knowledge", rows.KnowledgeColumns, 2, 1, func(i *image) [][]any { return i.knowledge }},
	{"votes", rows.VotesColumns, 3, 1, func(i *image) [][]any { return i.votes }},
	{"reports", rows.ReportsColumns, 3, 1, func(i *image) [][]any { return i.reports }},
}

// eachPair passes the rows of two images that have the same key, or nil for one that is missing.
func eachPair(was, is *image, each func(t compared, was, is []any)) {
	for _, t := range comparedTables {
		left := map[string][]any{}
		for _, row := range t.rows(was) {
			left[lineOf(row[:t.key])] = row
		}
		for _, row := range t.rows(is) {
			key := lineOf(row[:t.key])
			each(t, left[key], row)
			delete(left, key)
		}
		for _, row := range t.rows(was) {
			if _, missing := left[lineOf(row[:t.key])]; missing {
				each(t, row, nil)
			}
		}
	}
}

// compare notes rows that are missing, superfluous or different, and adds the rows to their table's checksum: the sum
// of their hashes, which does not depend on their order.
func (e *verification) compare(tenant string, want, have *image) {
	ids := map[any]string{} // by number
	for _, row := range slices.Concat(want.knowledge, have.knowledge) {
		ids[row[2]] = row[1].(string)
	}
	eachPair(want, have, func(t compared, expected, is []any) {
		item := slices.Concat(expected, is)[t.item]
		if id, found := ids[item]; found {
			item = id
		}
		line := lineOf(is)
		if is != nil {
			hash := sha256.Sum256([]byte(line))
			e.sums[t.name] += binary.BigEndian.Uint64(hash[:])
			e.report.Rows[t.name]++
		}
		switch {
		case is == nil:
			e.addWrong("tenant %s, item %s: a row of %s is missing", tenant, item, t.name)
		case len(is) < len(t.columns):
			e.addWrong("tenant %s, item %s: its row of %s cannot be read", tenant, item, t.name)
		case expected == nil:
			e.addWrong("tenant %s, item %s: a row of %s is one too many", tenant, item, t.name)
		case line != lineOf(expected):
			e.addWrong("tenant %s, item %s: in %s not what the log says: %s", tenant, item, t.name,
				strings.Join(t.differing(expected, is), ", "))
		}
	})
}

// difference counts the items that differ from the active version, by column, and by table for the other tables.
func (e *verification) difference(was, have *image) {
	others := map[string]bool{} // tables and items
	eachPair(was, have, func(t compared, before, is []any) {
		switch {
		case t.name != "knowledge":
			differs := before == nil || is == nil || lineOf(before) != lineOf(is)
			if item := fmt.Sprint(t.name, slices.Concat(before, is)[t.item]); differs && !others[item] {
				others[item] = true
				e.report.Changed[t.name]++
			}
		case before == nil:
			e.report.Changed["(new item)"]++
		case len(is) < len(t.columns): // it is missing, or cannot be read
			e.report.Changed["(item gone)"]++
		default:
			e.noteConfidence(before, is)
			for _, column := range t.differing(before, is) {
				// A baseline has the voters that some policies count.
				if column != "baseline" || !slices.Contains(e.report.Intended, "confidence") {
					e.report.Changed[column]++
				}
			}
		}
	})
}

// differing are the columns in which two rows differ.
func (c compared) differing(a, b []any) (columns []string) {
	if lineOf(a) == lineOf(b) {
		return nil
	}
	for i, column := range c.columns {
		if lineOf(a[i:i+1]) != lineOf(b[i:i+1]) {
			columns = append(columns, column)
		}
	}
	return columns
}

// lineOf writes a row so that equal rows of different origin have equal lines.
func lineOf(row []any) string {
	var line strings.Builder
	for _, value := range row {
		switch v := value.(type) {
		case string:
			line.WriteString(v)
		case *string:
			if v == nil {
				line.WriteString("\x00")
			} else {
				line.WriteString(*v)
			}
		case database.Time:
			if !v.IsZero() {
				line.WriteString(v.String())
			}
		default:
			fmt.Fprint(&line, v)
		}
		line.WriteByte(0x1f)
	}
	return line.String()
}

// Columns of an item's row by which noteConfidence describes a change of confidence.
var (
	statusColumn     = slices.Index(rows.KnowledgeColumns, "status")
	confidenceColumn = slices.Index(rows.KnowledgeColumns, "confidence")
	helpfulColumn    = slices.Index(rows.KnowledgeColumns, "helpful")
	harmfulColumn    = slices.Index(rows.KnowledgeColumns, "harmful")
	reportersColumn  = slices.Index(rows.KnowledgeColumns, "stale_reporters")
)

// noteConfidence adds to the impact how an item's confidence changes, if answers may contain the item.
func (e *verification) noteConfidence(was, have []any) {
	switch domain.Status(have[statusColumn].(string)) {
	case domain.Active, domain.IsSuperseded:
	default:
		return
	}
	e.report.Impact.Confidence.Note(domain.ConfidenceMove{
		Tenant: have[0].(string), ID: have[1].(string),
		Before: was[confidenceColumn].(float64), After: have[confidenceColumn].(float64),
		Helpful: have[helpfulColumn].(int), Harmful: have[harmfulColumn].(int), Reporters: have[reportersColumn].(int),
	})
}
