package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Table prints columns of figures, right-aligned under their heads.
type Table struct{ w *tabwriter.Writer }

// NewTable begins a table.
func NewTable(to io.Writer, heads ...string) *Table {
	t := &Table{tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)}
	t.Row(anyOf(heads)...)
	return t
}

// Row adds a row; floats keep three decimals.
func (t *Table) Row(cells ...any) {
	parts := make([]string, len(cells))
	for i, cell := range cells {
		if number, ok := cell.(float64); ok {
			parts[i] = fmt.Sprintf("%.3f", number)
			continue
		}
		parts[i] = fmt.Sprint(cell)
	}
	fmt.Fprintln(t.w, strings.Join(parts, "\t")+"\t")
}

// End prints the table.
func (t *Table) End() error { return t.w.Flush() }

func anyOf(list []string) []any {
	all := make([]any, len(list))
	for i, s := range list {
		all[i] = s
	}
	return all
}
