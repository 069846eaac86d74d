package terminal

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Table is a table without lines. [Console.Table] wraps its last column; [Tabular.Show] prints one line per row.
type Table struct {
	Spare []string // columns that a list omits if the terminal is too narrow, in this order
	heads []string
	rows  [][]string
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

// Field adds a row with a name and a value, unless the value is empty.
func (t *Table) Field(name string, value any) {
	if Text(value) != "" {
		t.Row(name, value)
	}
}

// Table prints a table whose last column wraps within the width of the terminal.
func (c *Console) Table(t *Table) {
	const narrowest = 24
	columns := t.columns(c.Width)
	last, indent := len(columns)-1, 0
	for _, each := range columns[:last] {
		indent += each.width + gap
	}
	c.Lines(t.lines(columns, func(cells []string) []string {
		text := Wrapped(cells[last], max(c.Width-indent, narrowest))
		lines := []string{tableLine(append(cells[:last:last], text[0]), columns)}
		for _, more := range text[1:] {
			lines = append(lines, strings.Repeat(" ", indent)+more)
		}
		return lines
	}))
}

// lines joins the lines of all rows, after those of the heads if there are some.
func (t *Table) lines(columns []column, of func([]string) []string) string {
	var all []string
	if strings.Join(t.heads, "") != "" {
		all = append(all, string(Faint.Render(strings.TrimRight(tableLine(t.heads, columns), " "))))
	}
	for _, row := range t.rows {
		for _, line := range of(row) {
			all = append(all, strings.TrimRight(line, " "))
		}
	}
	return strings.Join(all, "\n")
}

// tableLine puts cells beside each other, cut to their widths.
func tableLine(cells []string, columns []column) string {
	var line strings.Builder
	for i, cell := range cells {
		line.WriteString(Padded(ansi.Truncate(cell, columns[i].width, "…"), columns[i].width+gap))
	}
	return line.String()
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

func (t *Table) without(column int) *Table {
	var rest []int
	for i := range t.heads {
		if i != column {
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
	t, err := f.chosen(t)
	if err != nil {
		return err
	}
	width := c.Width
	if f.Wide || f.Quiet {
		width = Unbounded
	}
	if len(f.Columns) == 0 {
		t = t.Marked()
	}
	columns := t.columns(width)
	if len(f.Columns) == 0 {
		t, columns = t.withoutSpare(columns, width)
	}
	cut(columns, width)
	text := t.lines(columns, func(cells []string) []string {
		last := len(cells) - 1
		first, below, _ := strings.Cut(cells[last], "\n")
		lines := []string{tableLine(append(cells[:last:last], first), columns)}
		for more := range strings.Lines(below) {
			lines = append(lines, "    "+more)
		}
		return lines
	})
	for line := range strings.Lines(text) {
		c.Lines(ansi.Truncate(strings.TrimRight(line, "\n"), width, "…"))
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
	return t.without(i)
}

// column is the width of a column.
type column struct {
	width int  // of the widest cell
	least int  // the smallest width
	short int  // of an id: the width of the widest UUID, or a third of the line
	id    bool // ids are cut last
}

func (t *Table) columns(width int) []column {
	const uuid, text, event, word = 36, 20, 15, 8
	all := make([]column, len(t.heads))
	for i, head := range t.heads {
		c := column{width: ansi.StringWidth(head), short: width / 3, id: slices.Contains(idHeads, head)}
		numbers := true // or times
		for _, row := range t.rows {
			for line := range strings.Lines(row[i]) {
				c.width = max(c.width, ansi.StringWidth(strings.TrimSuffix(line, "\n")))
			}
			plain := ansi.Strip(row[i])
			numbers = numbers && plain != "" && plain[0] >= '0' && plain[0] <= '9'
			if _, id, _ := strings.Cut(":"+plain, ":"); ansi.StringWidth(id[strings.Index(id, ":")+1:]) <= uuid {
				c.short = max(c.short, ansi.StringWidth(plain))
			}
		}
		switch {
		case head == Mark:
			c.least = c.width
		case c.id:
			c.least = width / 3
		case i == len(t.heads)-1:
			c.least = text
		case head == "WHAT":
			c.least = event // distinguishes "found helpful" from "found harmful"
		case numbers:
			c.least = c.width
		default:
			c.least = word
		}
		c.least = min(c.least, c.width)
		all[i] = c
	}
	return all
}

// withoutSpare removes spare columns until the lines fit. If there are marks, ids are cut before that.
func (t *Table) withoutSpare(columns []column, width int) (*Table, []column) {
	cutIDs := slices.Contains(t.heads, Mark)
	for _, spare := range t.Spare {
		needed := -gap
		for _, each := range columns {
			least := each.least
			if each.id && !cutIDs {
				least = min(each.width, each.short)
			}
			needed += least + gap
		}
		if i := slices.Index(t.heads, spare); needed > width && i >= 0 {
			t, columns = t.without(i), slices.Delete(columns, i, i+1)
		}
	}
	return t, columns
}

// cut narrows the widest columns until the lines fit, and ids last.
func cut(columns []column, width int) {
	total := -gap
	for _, each := range columns {
		total += each.width + gap
	}
	for i, each := range columns {
		if most := min(each.width, each.short); each.id && total > width {
			total, columns[i].width = total-each.width+most, most
		}
	}
	for ; total > width; total-- {
		widest := -1
		for i, each := range columns {
			if each.width <= each.least {
				continue
			}
			before := column{id: true}
			if widest >= 0 {
				before = columns[widest]
			}
			if before.id && !each.id || before.id == each.id && each.width > before.width {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		columns[widest].width--
	}
}
