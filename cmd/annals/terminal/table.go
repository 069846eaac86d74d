package terminal

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
	"github.com/charmbracelet/x/ansi"

	"github.com/annals-kb/annals/domain"
)

// Table is a table without lines. [Console.Table] wraps its last column; [Tabular.Show] prints one line per row.
type Table struct {
	Spare []string // columns that a list omits if the terminal is too narrow, in this order
	heads []string
	rows  [][]string
	rules map[int]string // lines above rows in a list
}

const gap = 2

// NewTable is a table with these heads; without a head line if all of them are empty.
func NewTable(heads ...string) *Table { return &Table{heads: heads} }

// Row adds a row. Text is made printable, numbers and times are formatted, [Markup] stays as it is.
func (t *Table) Row(cells ...any) {
	row := make([]string, len(cells))
	for i, value := range cells {
		row[i] = Text(value)
	}
	t.rows = append(t.rows, row)
}

// Rule adds a line that stands above the next row, unless --columns or --quiet chooses what a list shows.
func (t *Table) Rule(text string) {
	if t.rules == nil {
		t.rules = map[int]string{}
	}
	t.rules[len(t.rows)] = text
}

// Field adds a row with a name and a value, unless the value is empty.
func (t *Table) Field(name string, value any) {
	if Text(value) != "" {
		t.Row(name, value)
	}
}

// Table prints a table whose last column wraps within the width of the terminal.
func (c *Console) Table(t *Table) {
	const narrowest = 24
	last, indent := len(t.heads)-1, 0
	for i := range last {
		indent += t.widest(i) + gap
	}
	wrapped := &Table{heads: t.heads}
	for _, row := range t.rows {
		text := strings.Join(Wrapped(row[last], max(c.Width-indent, narrowest)), "\n")
		wrapped.rows = append(wrapped.rows, append(row[:last:last], text))
	}
	for _, line := range wrapped.lines(table.New().Wrap(true), nil) {
		c.Lines(line)
	}
}

// lines are the lines of a table, after those of the heads if there are some. Some columns have a fixed width.
func (t *Table) lines(shown *table.Table, fixed map[int]int) []string {
	if strings.Join(t.heads, "") != "" {
		shown.Headers(t.heads...)
	} else if len(t.rows) == 0 {
		return nil
	}
	shown.Rows(t.rows...).BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).
		BorderHeader(false).BorderColumn(false).StyleFunc(func(row, column int) lipgloss.Style {
		style := lipgloss.NewStyle()
		if row == table.HeaderRow {
			style = style.Faint(true)
		}
		if column < len(t.heads)-1 {
			style = style.PaddingRight(gap)
		}
		return style.Width(fixed[column])
	})
	lines := strings.Split(strings.TrimRight(shown.Render(), "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return lines
}

// widest is the width of a column.
func (t *Table) widest(column int) int {
	widest := ansi.StringWidth(t.heads[column])
	for _, row := range t.rows {
		for line := range strings.SplitSeq(row[column], "\n") {
			widest = max(widest, ansi.StringWidth(line))
		}
	}
	return widest
}

// only is the table with these columns alone.
func (t *Table) only(columns []int) *Table {
	pick := func(cells []string) []string {
		chosen := make([]string, len(columns))
		for i, column := range columns {
			chosen[i] = cells[column]
		}
		return chosen
	}
	chosen := &Table{heads: pick(t.heads), Spare: t.Spare}
	for _, row := range t.rows {
		chosen.rows = append(chosen.rows, pick(row))
	}
	return chosen
}

// without is the table without a column, if it has it.
func (t *Table) without(head string) *Table {
	var rest []int
	for i, other := range t.heads {
		if other != head {
			rest = append(rest, i)
		}
	}
	return t.only(rest)
}

// Tabular are the flags of the commands that print lists.
type Tabular struct {
	Wide    bool     `group:"table"`
	Columns []string `group:"table" placeholder:"NAME,…"`
	Quiet   bool     `group:"table" short:"q"`
}

// Show prints a list, one line per row. On a terminal it cuts lines to the width with an ellipsis. Marks, times and
// numbers stay whole; of a long id, a beginning that is unique stays.
func (f Tabular) Show(c *Console, t *Table) error {
	rules := t.rules
	t, err := f.chosen(t)
	if err != nil {
		return err
	}
	width := c.Width
	if f.Wide || f.Quiet {
		width = Unbounded
	}
	if f.Quiet || len(f.Columns) > 0 {
		rules = nil
	} else {
		t = t.Marked()
		for _, spare := range t.Spare {
			if _, least := t.fixed(width); least > width {
				t = t.without(spare)
			}
		}
	}
	last := len(t.heads) - 1
	first, below := &Table{heads: t.heads}, make([]string, len(t.rows))
	for i, row := range t.rows {
		cells := slices.Clone(row)
		cells[last], below[i], _ = strings.Cut(row[last], "\n")
		first.rows = append(first.rows, cells)
	}
	shown, fixed := table.New().Wrap(false), map[int]int{}
	if width < Unbounded {
		shown.Width(width)
		fixed, _ = first.fixed(width)
	}
	lines := first.lines(shown, fixed)
	for i, line := range lines {
		row := i - (len(lines) - len(t.rows))
		if rule := rules[row]; rule != "" {
			c.Lines(string(Faint.Render(ansi.Truncate(rule, width, "…"))))
		}
		c.Lines(ansi.Truncate(line, width, "…"))
		if row >= 0 && below[row] != "" {
			for more := range strings.SplitSeq(below[row], "\n") {
				c.Lines(ansi.Truncate("    "+more, width, "…"))
			}
		}
	}
	return nil
}

// Chosen tells whether the flags ask for a certain table.
func (f Tabular) Chosen() bool { return f.Wide || f.Quiet || len(f.Columns) > 0 }

// Empty explains why there are no rows, unless --quiet is set.
func (f Tabular) Empty(c *Console, why string) {
	if f.Quiet {
		c.Note("%s", why)
		return
	}
	c.Say("%s", why)
}

// idHeads are the names of columns with ids, the likeliest first.
var idHeads = []string{"ID", "PREFIX", "SESSION", "TENANT", "#", "STREAM"}

// chosen is the table with the columns of --columns or --quiet.
func (f Tabular) chosen(t *Table) (*Table, error) {
	if f.Quiet {
		for _, head := range idHeads {
			if i := slices.Index(t.heads, head); i >= 0 {
				return &Table{heads: []string{""}, rows: t.only([]int{i}).rows}, nil
			}
		}
		return nil, Wrong("choose with --columns", "--quiet: this list has no ids")
	}
	if len(f.Columns) == 0 {
		return t, nil
	}
	names := make([]string, len(t.heads))
	for i, head := range t.heads {
		names[i] = strings.ReplaceAll(strings.ToLower(strings.ReplaceAll(head, "#", "position")), " ", "-")
	}
	var columns []int
	for _, name := range f.Columns {
		i := slices.Index(names, strings.ToLower(strings.TrimSpace(name)))
		if i < 0 {
			return nil, Wrong("the columns are "+strings.Join(names, ", "), "--columns: there is no column %s", Printable(name))
		}
		columns = append(columns, i)
	}
	return t.only(columns), nil
}

// Mark is the head of the column with unusual states, such as contested. It is never cut.
const Mark = "MARK"

// Marked removes the column of marks if no row has one.
func (t *Table) Marked() *Table {
	i := slices.Index(t.heads, Mark)
	if i < 0 || slices.ContainsFunc(t.rows, func(cells []string) bool { return cells[i] != "" }) {
		return t
	}
	return t.without(Mark)
}

// fixed are the widths of the columns that are not cut within a width, or only as far as necessary, such as ids. Least
// is the width that the table needs with them.
func (t *Table) fixed(width int) (fixed map[int]int, least int) {
	const text, word = 20, 8
	uuid := len(domain.KnowledgeStream("")) + 36
	whole, last := map[int]int{}, len(t.heads)-1
	fixed = map[int]int{}
	var ids []int
	room := width - min(t.widest(last), text) // for whole columns before the last one
	for i, head := range t.heads {
		widest := t.widest(i)
		needed := min(widest, word)
		switch number := !slices.ContainsFunc(t.rows, func(row []string) bool { // or a time
			plain := ansi.Strip(row[i])
			return plain == "" || plain[0] < '0' || plain[0] > '9'
		}); {
		case slices.Contains(idHeads, head):
			widest = min(widest, max(uuid, width/3))
			ids, needed, fixed[i] = append(ids, i), widest, widest+gap
		case head == Mark, number, head == "WHAT" && i < last: // found helpful or found harmful
			needed, fixed[i] = widest, widest+gap
		case i == last:
			needed = min(widest, text)
		}
		if i < last {
			whole[i] = widest + gap
			room -= whole[i]
			needed += gap
		}
		least += needed
	}
	if room >= 0 {
		return whole, least
	}
	dropped := !slices.ContainsFunc(t.Spare, func(spare string) bool { return slices.Contains(t.heads, spare) })
	for _, i := range ids {
		if longer := least - width; longer > 0 && (dropped || slices.Contains(t.heads, Mark)) {
			shorter := max(fixed[i]-longer, min(fixed[i], width/3))
			least, fixed[i] = least-fixed[i]+shorter, shorter
		}
	}
	return fixed, least
}
