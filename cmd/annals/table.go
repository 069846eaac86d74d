package main

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// grid is a table without lines. A list has one line per row, see [tabular]; elsewhere the last column wraps.
type grid struct {
	heads []string
	rows  [][]string
	spare []string // the columns that a list leaves out where the terminal is too narrow, in this order
}

const gap = 2

func (g *grid) row(cells ...string) { g.rows = append(g.rows, cells) }

// render wraps the last column within the width.
func (g *grid) render(width int) string {
	const narrowest = 24
	widths := g.widths()
	last := len(widths) - 1
	indent := 0
	for _, each := range widths[:last] {
		indent += each + gap
	}
	return g.lines(widths, func(cells []string) []string {
		text := wrapped(cells[last], max(width-indent, narrowest))
		lines := []string{tableLine(append(cells[:last:last], text[0]), widths)}
		for _, more := range text[1:] {
			lines = append(lines, strings.Repeat(" ", indent)+more)
		}
		return lines
	})
}

// lines joins the lines of all rows, after those of the heads if there are some.
func (g *grid) lines(widths []int, of func([]string) []string) string {
	var all []string
	if strings.Join(g.heads, "") != "" {
		all = append(all, faint.Render(strings.TrimRight(tableLine(g.heads, widths), " ")))
	}
	for _, row := range g.rows {
		for _, line := range of(row) {
			all = append(all, strings.TrimRight(line, " "))
		}
	}
	return strings.Join(all, "\n")
}

// widths are those of the widest cells.
func (g *grid) widths() []int {
	widths := make([]int, len(g.heads))
	for i, head := range g.heads {
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
		line.WriteString(padded(cell, widths[i]+gap))
	}
	return line.String()
}

// only is the table with these columns alone.
func (g *grid) only(columns []int) *grid {
	pick := func(cells []string) []string {
		chosen := make([]string, len(columns))
		for i, column := range columns {
			chosen[i] = cells[column]
		}
		return chosen
	}
	chosen := &grid{heads: pick(g.heads), spare: g.spare}
	for _, row := range g.rows {
		chosen.row(pick(row)...)
	}
	return chosen
}

// tabular are the flags of the commands that print lists.
type tabular struct {
	Wide    bool     `group:"table" help:"Print whole lines with all columns, however narrow the terminal is."`
	Columns []string `group:"table" placeholder:"NAME,…" help:"Print these columns, such as id,scope."`
	Quiet   bool     `group:"table" short:"q" help:"Print only the ids."`
}

// show prints a list, one line per row. On a terminal, lines are cut to its width with an ellipsis; ids, times and
// numbers stay whole.
func (t tabular) show(c *console, g *grid) error {
	g, err := t.chosen(g)
	if err != nil {
		return err
	}
	width := c.width
	if t.Wide || t.Quiet {
		width = unbounded
	} else if len(t.Columns) == 0 {
		g = g.within(width)
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
		c.say("%s", ansi.Truncate(strings.TrimRight(line, "\n"), width, "…"))
	}
	return nil
}

// empty says why there are no rows. Where ids alone are asked for, that is no part of the answer.
func (t tabular) empty(c *console, why string) {
	if t.Quiet {
		c.note("%s", why)
		return
	}
	c.say("%s", why)
}

// idHeads are those of the columns that name the thing in a row, the likeliest first.
var idHeads = []string{"ID", "PREFIX", "SESSION", "TENANT", "#", "STREAM"}

// chosen is the table with the columns that were asked for.
func (t tabular) chosen(g *grid) (*grid, error) {
	if t.Quiet {
		for _, head := range idHeads {
			if i := slices.Index(g.heads, head); i >= 0 {
				return &grid{heads: []string{""}, rows: g.only([]int{i}).rows}, nil
			}
		}
		return nil, wrong("choose with --columns", "--quiet: this list has no ids")
	}
	if len(t.Columns) == 0 {
		return g, nil
	}
	names := make([]string, len(g.heads))
	for i, head := range g.heads {
		names[i] = strings.ReplaceAll(strings.ToLower(strings.ReplaceAll(head, "#", "position")), " ", "-")
	}
	var columns []int
	for _, name := range t.Columns {
		i := slices.Index(names, strings.ToLower(strings.TrimSpace(name)))
		if i < 0 {
			return nil, wrong("the columns are "+strings.Join(names, ", "), "--columns: there is no column %s", printable(name))
		}
		columns = append(columns, i)
	}
	return g.only(columns), nil
}

// leastOf is how narrow a column may become; 0 if it is not cut.
func (g *grid) leastOf(column int) int {
	const text, word = 20, 8
	switch {
	case slices.Contains(idHeads, g.heads[column]):
		return 0
	case column == len(g.heads)-1:
		return text
	}
	for _, row := range g.rows {
		if cell := ansi.Strip(row[column]); cell == "" || cell[0] < '0' || cell[0] > '9' {
			return word
		}
	}
	return 0 // times and numbers
}

// within leaves out the spare columns for which the width is too narrow.
func (g *grid) within(width int) *grid {
	for _, spare := range g.spare {
		needed := -gap
		for i, each := range g.widths() {
			if least := g.leastOf(i); least > 0 {
				each = min(each, least)
			}
			needed += each + gap
		}
		i := slices.Index(g.heads, spare)
		if needed <= width || i < 0 {
			break
		}
		var rest []int
		for column := range g.heads {
			if column != i {
				rest = append(rest, column)
			}
		}
		g = g.only(rest)
	}
	return g
}

// cut are the widths of the columns, of which the widest are cut until the lines fit.
func (g *grid) cut(width int) []int {
	widths := g.widths()
	total := gap * (len(widths) - 1)
	for _, each := range widths {
		total += each
	}
	for ; total > width; total-- {
		widest := -1
		for i, each := range widths {
			if least := g.leastOf(i); least > 0 && each > least && (widest < 0 || each > widths[widest]) {
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

// wrapped breaks text between words. A word that is wider stays whole, such as an id; Chinese text is broken anywhere.
func wrapped(text string, width int) []string {
	var lines []string
	for _, paragraph := range strings.Split(text, "\n") {
		line := ""
		for _, word := range strings.Split(paragraph, " ") {
			if line != "" && ansi.StringWidth(line)+1+ansi.StringWidth(word) > width {
				lines, line = append(lines, line), ""
			} else if line != "" {
				line += " "
			}
			if plain := ansi.Strip(word); ansi.StringWidth(plain) > max(width, len([]rune(plain))) {
				parts := strings.Split(ansi.Hardwrap(word, width, false), "\n")
				lines, word = append(lines, parts[:len(parts)-1]...), parts[len(parts)-1]
			}
			line += word
		}
		lines = append(lines, line)
	}
	return lines
}
