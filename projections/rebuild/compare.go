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

// compared is a table of a verification.
type compared struct {
	name    string
	columns []string
	key     []int // columns that identify a row
	item    int   // the column of the item's id, or of its number
	rows    func(*image) [][]any
}

var comparedTables = [...]compared{
	{"knowledge", rows.KnowledgeColumns, []int{1}, 1, func(i *image) [][]any { return i.knowledge }},
	{"scopes", rows.ScopesColumns, []int{1, 2}, 2, func(i *image) [][]any { return i.scopes }},
	{"votes", rows.VotesColumns, []int{1, 2}, 1, func(i *image) [][]any { return i.votes }},
	{"reports", rows.ReportsColumns, []int{1, 2}, 1, func(i *image) [][]any { return i.reports }},
}

// compare notes rows that are missing, superfluous or different, and adds the rows to their table's checksum: the sum
// of their hashes, which does not depend on their order.
func (e *verification) compare(tenant string, want, have *image) {
	names := namesOf(want, have)
	for _, table := range comparedTables {
		expected := map[string][]any{}
		for _, row := range table.rows(want) {
			expected[table.keyOf(row)] = row
		}
		if table.name == "knowledge" {
			for _, row := range have.unreadable {
				e.report.Rows[table.name]++
				delete(expected, table.keyOf(row))
				e.addWrong("tenant %s, item %s: its row of knowledge cannot be read", tenant, row[table.item])
			}
		}
		for _, row := range table.rows(have) {
			line := lineOf(row)
			hash := sha256.Sum256([]byte(line))
			e.sums[table.name] += binary.BigEndian.Uint64(hash[:])
			e.report.Rows[table.name]++
			key, item := table.keyOf(row), names.of(row[table.item])
			known, found := expected[key]
			delete(expected, key)
			switch {
			case !found:
				e.addWrong("tenant %s, item %s: a row of %s is one too many", tenant, item, table.name)
			case line != lineOf(known):
				e.addWrong("tenant %s, item %s: in %s not what the log says: %s", tenant, item, table.name,
					strings.Join(table.differing(row, known), ", "))
			}
		}
		for _, row := range table.rows(want) {
			if expected[table.keyOf(row)] != nil {
				e.addWrong("tenant %s, item %s: a row of %s is missing", tenant, names.of(row[table.item]), table.name)
			}
		}
	}
}

// difference counts the items that differ from the active version, by column, and by table for the other tables.
func (e *verification) difference(was, have *image) {
	before := map[any][]any{}
	for _, row := range was.knowledge {
		before[row[1]] = row
	}
	for _, row := range have.knowledge {
		old, found := before[row[1]]
		if !found {
			e.report.Changed["(new item)"]++
			continue
		}
		delete(before, row[1])
		e.noteConfidence(old, row)
		for _, column := range comparedTables[0].differing(row, old) {
			if column == "baseline" && len(e.report.Intended) > 0 { // which policies count the voters differs
				continue
			}
			e.report.Changed[column]++
		}
	}
	if len(before) > 0 {
		e.report.Changed["(item gone)"] += int64(len(before))
	}
	for _, table := range comparedTables[1:] {
		now, then := table.byItem(have), table.byItem(was)
		for item, lines := range now {
			if !slices.Equal(lines, then[item]) {
				e.report.Changed[table.name]++
			}
			delete(then, item)
		}
		if len(then) > 0 {
			e.report.Changed[table.name] += int64(len(then))
		}
	}
}

func (c compared) keyOf(row []any) string {
	var key strings.Builder
	for _, column := range c.key {
		fmt.Fprint(&key, row[column], "\x1f")
	}
	return key.String()
}

// differing are the columns in which two rows differ.
func (c compared) differing(a, b []any) []string {
	var columns []string
	for i, column := range c.columns {
		if lineOf(a[i:i+1]) != lineOf(b[i:i+1]) {
			columns = append(columns, column)
		}
	}
	return columns
}

// byItem are each item's rows, sorted. The length of an item's text is compared in its row already.
func (c compared) byItem(i *image) map[any][]string {
	lines := map[any][]string{}
	for _, row := range c.rows(i) {
		if c.name == "scopes" {
			row = row[:3]
		}
		lines[row[c.item]] = append(lines[row[c.item]], lineOf(row))
	}
	for _, list := range lines {
		slices.Sort(list)
	}
	return lines
}

// names are the ids of items by number.
type names map[int64]string

func namesOf(images ...*image) names {
	n := names{}
	for _, i := range images {
		for _, row := range i.knowledge {
			n[row[2].(int64)] = row[1].(string)
		}
	}
	return n
}

// of is an item's id, from its id or its number.
func (n names) of(item any) string {
	if number, ok := item.(int64); ok {
		if id, known := n[number]; known {
			return id
		}
		return fmt.Sprintf("number %d, which is none", number)
	}
	return fmt.Sprint(item)
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
