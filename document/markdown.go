package document

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// How much larger than everything else headings are set, and how long they are at most, in bytes.
const (
	title       = 1.45
	heading     = 1.15
	longHeading = 200
)

// markdown is what the pages say: lines in larger letters are headings.
func (p *pages) markdown() string {
	usual := p.usual()
	var b strings.Builder
	for i, l := range p.lines {
		mark := ""
		switch {
		case l.text == "" || usual == 0 || len(l.text) > longHeading:
		case l.size >= usual*title:
			mark = "# "
		case l.size >= usual*heading:
			mark = "## "
		}
		if mark != "" && i > 0 && p.lines[i-1].text != "" {
			b.WriteString("\n")
		}
		b.WriteString(mark + l.text + "\n")
		if mark != "" {
			b.WriteString("\n")
		}
	}
	return strings.TrimSpace(collapsed(b.String()))
}

// usual is the size that most letters have.
func (p *pages) usual() float64 {
	letters := map[float64]int{}
	most := 0.0
	for _, l := range p.lines {
		if letters[l.size] += len(l.text); letters[l.size] > letters[most] {
			most = l.size
		}
	}
	return most
}

// collapsed has no more than one empty line between others.
func collapsed(text string) string {
	for strings.Contains(text, "\n\n\n") {
		text = strings.ReplaceAll(text, "\n\n\n", "\n\n")
	}
	return text
}

// endsInHan tells whether a text ends with a character of those that are written without spaces.
func endsInHan(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}
