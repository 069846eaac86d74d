package terminal

import (
	"fmt"
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

var (
	Faint = lipgloss.NewStyle().Faint(true)
	Bold  = lipgloss.NewStyle().Bold(true)
	Green = lipgloss.NewStyle().Foreground(lipgloss.Green)
	Amber = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	Red   = lipgloss.NewStyle().Foreground(lipgloss.Red)
)

// Printable takes out what could do something to a terminal: other people wrote this text. Characters that change the
// direction of text are escaped, since they show it in another order than it has.
func Printable(s string) string {
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

// OneLine shortens text to so many columns of one line; Chinese characters take two.
func OneLine(s string, columns int) string {
	return ansi.Truncate(strings.Join(strings.Fields(Printable(s)), " "), columns, "…")
}

// Indented wraps text at the terminal's width, every line behind the indent.
func (c *Console) Indented(s, indent string) string {
	return indent + strings.Join(Wrapped(Printable(s), c.Width-ansi.StringWidth(indent)), "\n"+indent)
}

// Joined joins what there is.
func Joined(separator string, parts ...string) string {
	var there []string
	for _, part := range parts {
		if part != "" {
			there = append(there, part)
		}
	}
	return strings.Join(there, separator)
}

func Padded(s string, columns int) string {
	return s + strings.Repeat(" ", max(0, columns-ansi.StringWidth(s)))
}
