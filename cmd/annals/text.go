package main

import (
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

var (
	faint = lipgloss.NewStyle().Faint(true)
	bold  = lipgloss.NewStyle().Bold(true)
	green = lipgloss.NewStyle().Foreground(lipgloss.Green)
	amber = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	red   = lipgloss.NewStyle().Foreground(lipgloss.Red)
)

// printable takes out what could do something to a terminal: other people wrote this text.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			return r
		}
		return -1
	}, ansi.Strip(s))
}

// oneLine shortens text to so many columns of one line; Chinese characters take two.
func oneLine(s string, columns int) string {
	return ansi.Truncate(strings.Join(strings.Fields(printable(s)), " "), columns, "…")
}

// indented wraps text at the terminal's width, every line behind the indent.
func (c *console) indented(s, indent string) string {
	wrapped := ansi.Wrap(printable(s), c.width-ansi.StringWidth(indent), "")
	return indent + strings.ReplaceAll(wrapped, "\n", "\n"+indent)
}
