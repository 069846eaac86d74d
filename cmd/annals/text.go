package main

import (
	"fmt"
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

// printable takes out what could do something to a terminal: other people wrote this text. Characters that change the
// direction of text are escaped, since they show it in another order than it has.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			return r
		}
		return -1
	}, ansi.Strip(s))
	return directions.Replace(s)
}

// directions escapes the characters of Unicode with the property Bidi_Control.
var directions = func() *strings.Replacer {
	var pairs []string
	for _, r := range "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" {
		pairs = append(pairs, string(r), fmt.Sprintf("<U+%04X>", r))
	}
	return strings.NewReplacer(pairs...)
}()

// oneLine shortens text to so many columns of one line; Chinese characters take two.
func oneLine(s string, columns int) string {
	return ansi.Truncate(strings.Join(strings.Fields(printable(s)), " "), columns, "…")
}

// indented wraps text at the terminal's width, every line behind the indent.
func (c *console) indented(s, indent string) string {
	return indent + strings.Join(wrapped(printable(s), c.width-ansi.StringWidth(indent)), "\n"+indent)
}
