package terminal

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Grid is a table without lines. A list has one line per row, see [tabular]; elsewhere the last column wraps.
type Grid struct {
	Heads []string
	rows  [][]string
	Spare []string // the columns that a list leaves out where the terminal is too narrow, in this order
}

const gap = 2

func (g *Grid) Row(cells ...string) { g.rows = append(g.rows, cells) }

// Render wraps the last column within the width.
func (g *Grid) Render(width int) string {
	const narrowest = 24
	widths := g.widths()
	last := len(widths) - 1
	indent := 0
	for _, each := range widths[:last] {
		indent += each + gap
	}
	return g.lines(widths, func(cells []string) []string {
		text := Wrapped(cells[last], max(width-indent, narrowest))
		lines := []string{tableLine(append(cells[:last:last], text[0]), widths)}
		for _, more := range text[1:] {
			lines = append(lines, strings.Repeat(" ", indent)+more)
		}
		return lines
	})
}

// lines joins the lines of all rows, after those of the heads if there are some.
func (g *Grid) lines(widths []int, of func([]string) []string) string {
	var all []string
	if strings.Join(g.Heads, "") != "" {
		all = append(all, Faint.Render(strings.TrimRight(tableLine(g.Heads, widths), " ")))
	}
	for _, row := range g.rows {
		for _, line := range of(row) {
			all = append(all, strings.TrimRight(line, " "))
		}
	}
	return strings.Join(all, "\n")
}

// widths are those of the widest cells.
func (g *Grid) widths() []int {
	widths := make([]int, len(g.Heads))
	for i, head := range g.Heads {
		widths[i] = ansi.StringWidth(head)
		for _, row := range g.rows {
			for line := range strings.Lines(row[i]) {
				widths[i] = max(widths[i], ansi.StringWidth(strings.TrimSuffix(line, "\n")))
			}
		}
	}
	return widths
}

// tableLine puts cells beside each other, cut to their widths.
func tableLine(cells []string, widths []int) string {
	var line strings.Builder
	for i, cell := range cells {
		cell = ansi.Truncate(cell, widths[i], "…")
		line.WriteString(Padded(cell, widths[i]+gap))
	}
	return line.String()
}

// only is the table with these columns alone.
func (g *Grid) only(columns []int) *Grid {
	pick := func(cells []string) []string {
		chosen := make([]string, len(columns))
		for i, column := range columns {
			chosen[i] = cells[column]
		}
		return chosen
	}
	chosen := &Grid{Heads: pick(g.Heads), Spare: g.Spare}
	for _, row := range g.rows {
		chosen.Row(pick(row)...)
	}
	return chosen
}

// Tabular are the flags of the commands that print lists.
type Tabular struct {
	Wide    bool     `group:"table"`
	Columns []string `group:"table" placeholder:"NAME,…"`
	Quiet   bool     `group:"table" short:"q"`
}

// Show prints a list, one line per row. On a terminal, lines are cut to its width with an ellipsis; marks, times and
// numbers stay whole, and of a long id a beginning that names it.
func (t Tabular) Show(c *Console, g *Grid) error {
	g, err := t.chosen(g)
	if err != nil {
		return err
	}
	width := c.Width
	if t.Wide || t.Quiet {
		width = Unbounded
	}
	if len(t.Columns) == 0 {
		g = g.Marked().within(width)
	}
	widths := g.cut(width)
	text := g.lines(widths, func(cells []string) []string {
		last := len(cells) - 1
		first, below, _ := strings.Cut(cells[last], "\n")
		lines := []string{tableLine(append(cells[:last:last], first), widths)}
		for more := range strings.Lines(below) {
			lines = append(lines, "    "+more)
		}
		return lines
	})
	for line := range strings.Lines(text) {
		c.Table(ansi.Truncate(strings.TrimRight(line, "\n"), width, "…"))
	}
	return nil
}

// Empty says why there are no rows. Where ids alone are asked for, that is no part of the answer.
func (t Tabular) Empty(c *Console, why string) {
	if t.Quiet {
		c.Note("%s", why)
		return
	}
	c.Say("%s", why)
}

// idHeads are those of the columns that name the thing in a row, the likeliest first.
var idHeads = []string{"ID", "PREFIX", "SESSION", "TENANT", "#", "STREAM"}

// chosen is the table with the columns that were asked for.
func (t Tabular) chosen(g *Grid) (*Grid, error) {
	if t.Quiet {
		for _, head := range idHeads {
			if i := slices.Index(g.Heads, head); i >= 0 {
				return &Grid{Heads: []string{""}, rows: g.only([]int{i}).rows}, nil
			}
		}
		return nil, Wrong("choose with --columns", "--quiet: this list has no ids")
	}
	if len(t.Columns) == 0 {
		return g, nil
	}
	names := make([]string, len(g.Heads))
	for i, head := range g.Heads {
		names[i] = strings.ReplaceAll(strings.ToLower(strings.ReplaceAll(head, "#", "position")), " ", "-")
	}
	var columns []int
	for _, name := range t.Columns {
		i := slices.Index(names, strings.ToLower(strings.TrimSpace(name)))
		if i < 0 {
			return nil, Wrong("the columns are "+strings.Join(names, ", "), "--columns: there is no column %s", Printable(name))
		}
		columns = append(columns, i)
	}
	return g.only(columns), nil
}

// Mark is the head of the column that says what is unusual about an item, such as contested. It is never cut.
const Mark = "MARK"

// Marked leaves out the column of marks if no row has one.
func (g *Grid) Marked() *Grid {
	i := slices.Index(g.Heads, Mark)
	if i < 0 || slices.ContainsFunc(g.rows, func(cells []string) bool { return cells[i] != "" }) {
		return g
	}
	return g.without(i)
}

// isID tells whether a column names the thing in a row.
func (g *Grid) isID(column int) bool { return slices.Contains(idHeads, g.Heads[column]) }

// leastOf is how narrow a column may become in lines of this width; 0 if it is not cut.
func (g *Grid) leastOf(column, width int) int {
	const text, event, word = 20, 15, 8
	switch {
	case g.Heads[column] == Mark:
		return 0
	case g.isID(column):
		return width / 3
	case column == len(g.Heads)-1:
		return text
	case g.Heads[column] == "WHAT":
		return event // tells "found helpful" from "found harmful"
	}
	for _, row := range g.rows {
		if cell := ansi.Strip(row[column]); cell == "" || cell[0] < '0' || cell[0] > '9' {
			return word
		}
	}
	return 0 // times and numbers
}

// within leaves out the spare columns for which the width is too narrow. Beside marks, ids are cut before that.
func (g *Grid) within(width int) *Grid {
	shortIDs := slices.Contains(g.Heads, Mark)
	for _, spare := range g.Spare {
		needed := -gap
		for i, each := range g.withShortIDs(width) {
			if least := g.leastOf(i, width); least > 0 && (shortIDs || !g.isID(i)) {
				each = min(each, least)
			}
			needed += each + gap
		}
		i := slices.Index(g.Heads, spare)
		if needed > width && i >= 0 {
			g = g.without(i)
		}
	}
	return g
}

func (g *Grid) without(column int) *Grid {
	var rest []int
	for i := range g.Heads {
		if i != column {
			rest = append(rest, i)
		}
	}
	return g.only(rest)
}

// withShortIDs are the widths of the widest cells. An id takes a third of the width, or as much as a UUID in its column.
func (g *Grid) withShortIDs(width int) []int {
	const uuid = 36
	widths := g.widths()
	for i := range widths {
		if !g.isID(i) {
			continue
		}
		most := width / 3
		for _, row := range g.rows {
			id := row[i][strings.Index(row[i], ":")+1:] // of a stream
			if ansi.StringWidth(id) <= uuid {
				most = max(most, ansi.StringWidth(row[i]))
			}
		}
		widths[i] = min(widths[i], most)
	}
	return widths
}

// cut are the widths of the columns, of which the widest are cut until the lines fit, and ids last.
func (g *Grid) cut(width int) []int {
	widths := g.widths()
	if sum(widths) > width {
		widths = g.withShortIDs(width)
	}
	for total := sum(widths); total > width; total-- {
		widest := -1
		for i, each := range widths {
			least := g.leastOf(i, width)
			if least == 0 || each <= least {
				continue
			}
			if widest < 0 || g.isID(widest) && !g.isID(i) || g.isID(widest) == g.isID(i) && each > widths[widest] {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

// sum is how wide lines of such columns are.
func sum(widths []int) int {
	total := gap * (len(widths) - 1)
	for _, each := range widths {
		total += each
	}
	return total
}

// Wrapped breaks text between words. A word that is wider stays whole, such as an id; Chinese text is broken anywhere.
func Wrapped(text string, width int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		if ansi.StringWidth(paragraph) <= width {
			lines = append(lines, paragraph)
			continue
		}
		var line strings.Builder
		columns := 0
		for i, word := range strings.Split(paragraph, " ") {
			switch taken := ansi.StringWidth(word); {
			case columns > 0 && columns+1+taken > width:
				lines, columns = append(lines, line.String()), 0
				line.Reset()
			case i > 0:
				line.WriteByte(' ')
				columns++
			}
			if plain := ansi.Strip(word); ansi.StringWidth(plain) > max(width, len([]rune(plain))) {
				parts := strings.Split(ansi.Hardwrap(word, width, false), "\n")
				lines, word = append(lines, parts[:len(parts)-1]...), parts[len(parts)-1]
			}
			line.WriteString(word)
			columns += ansi.StringWidth(word)
		}
		lines = append(lines, line.String())
	}
	return lines
}

// filled wraps each line that is wider, and indents what follows like its beginning.
func filled(text string, width int) string {
	var all []string
	for line := range strings.SplitSeq(text, "\n") {
		said := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(said)]
		if ansi.StringWidth(line) <= width {
			said, indent = line, ""
		}
		for _, part := range Wrapped(said, width-len(indent)) {
			all = append(all, indent+part)
		}
	}
	return strings.Join(all, "\n")
}
