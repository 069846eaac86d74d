package main

import (
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
)

// grid is a table without lines whose last column wraps within the terminal's width.
type grid struct {
	heads []string
	rows  [][]string
}

func (g *grid) row(cells ...string) { g.rows = append(g.rows, cells) }

func (g *grid) render(width int) string {
	const gap, narrowest = 2, 24
	last := len(g.heads) - 1
	taken := 0
	for column := range last {
		widest := lipgloss.Width(g.heads[column])
		for _, row := range g.rows {
			widest = max(widest, lipgloss.Width(row[column]))
		}
		taken += widest + gap
	}
	rest := max(width-taken, narrowest)
	t := table.New().Rows(g.rows...).
		Border(lipgloss.Border{}).
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).
		BorderHeader(false).BorderColumn(false).
		StyleFunc(func(row, column int) lipgloss.Style {
			style := lipgloss.NewStyle()
			if row == table.HeaderRow {
				style = faint
			}
			if column == last {
				return style.Width(rest)
			}
			return style.PaddingRight(gap)
		})
	if strings.Join(g.heads, "") != "" {
		t.Headers(g.heads...)
	}
	return trimRight(t.Render())
}
