package terminal

import (
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize"
)

// Markup is text with colours whose parts are printable. Other text is made printable when it is printed.
type Markup string

// Style renders text in a colour or a weight.
type Style struct{ style lipgloss.Style }

var (
	Faint  = Style{lipgloss.NewStyle().Faint(true)}
	Bold   = Style{lipgloss.NewStyle().Bold(true)}
	Green  = Style{lipgloss.NewStyle().Foreground(lipgloss.Green)}
	Amber  = Style{lipgloss.NewStyle().Foreground(lipgloss.Yellow)}
	Red    = Style{lipgloss.NewStyle().Foreground(lipgloss.Red)}
	Struck = Style{lipgloss.NewStyle().Foreground(lipgloss.Red).Strikethrough(true)}
)

// Render renders each line by itself, since lipgloss pads lines to a common width.
func (s Style) Render(text string) Markup {
	lines := strings.Split(Printable(text), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = s.style.Render(line)
		}
	}
	return Markup(strings.Join(lines, "\n"))
}

// Markupf formats text that contains markup.
func Markupf(format string, values ...any) Markup {
	return Markup(fmt.Sprintf(format, printable(values)...))
}

// Text formats a value.
func Text(value any) string {
	switch v := value.(type) {
	case Markup:
		return string(v)
	case int:
		return humanize.Comma(int64(v))
	case int64:
		return humanize.Comma(v)
	case time.Time:
		return Moment(v)
	case *time.Time:
		return Moment(OrZero(v))
	}
	return Printable(fmt.Sprint(value))
}

// printable makes texts among the values printable, and formats times. Numbers stay for the format.
func printable(values []any) []any {
	safe := make([]any, len(values))
	for i, value := range values {
		safe[i] = value
		switch value.(type) {
		case Markup:
		case error, fmt.Stringer, *time.Time:
			safe[i] = Text(value)
		default:
			if reflect.ValueOf(value).Kind() == reflect.String {
				safe[i] = Text(value)
			}
		}
	}
	return safe
}

// Printable removes control characters, since other people wrote the text. It escapes characters that change the
// direction of text, since they can hide its order.
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

// OneLine shortens text to a number of columns in one line; Chinese characters take two.
func OneLine(s string, columns int) string {
	return ansi.Truncate(strings.Join(strings.Fields(Printable(s)), " "), columns, "…")
}

// Indented wraps text at the terminal's width and indents every line.
func (c *Console) Indented(s, indent string) string {
	return indent + strings.Join(Wrapped(Printable(s), c.Width-ansi.StringWidth(indent)), "\n"+indent)
}

// Joined joins the parts that are not empty.
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

// Wrapped breaks text between words. A longer word, such as an id, stays whole. Chinese text may break anywhere.
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

// roomy is the width from which on a table leaves room for texts.
const roomy = 120

// Narrow tells whether a table would leave too little room for texts: then [Console.Block] shows them.
func (c *Console) Narrow() bool { return c.Width < roomy }

// Block prints a line with as many facts as fit, and below it texts, wrapped and indented. The first text has at most
// so many lines.
func (c *Console) Block(facts []string, most int, texts ...string) {
	const indent = "  "
	head := ""
	for i, fact := range facts {
		if longer := Joined(indent, head, fact); i == 0 || ansi.StringWidth(longer) <= c.Width {
			head = longer
		}
	}
	c.Lines(ansi.Truncate(head, c.Width, "…"))
	for i, text := range texts {
		lines := Wrapped(text, c.Width-len(indent))
		if i == 0 && len(lines) > most {
			rest := strings.Join(lines[most-1:], " ")
			lines = append(lines[:most-1:most-1], ansi.Truncate(rest, c.Width-len(indent), "…"))
		}
		c.Lines(indent + strings.Join(lines, "\n"+indent))
	}
}

// filled wraps longer lines and indents the continuation like the beginning.
func filled(text string, width int) string {
	var all []string
	for line := range strings.SplitSeq(text, "\n") {
		content := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(content)]
		if ansi.StringWidth(line) <= width {
			content, indent = line, ""
		}
		for _, part := range Wrapped(content, width-len(indent)) {
			all = append(all, indent+part)
		}
	}
	return strings.Join(all, "\n")
}
