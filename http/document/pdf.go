package document

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"

	"github.com/annals-kb/annals/http/body"
)

// mostText limits the bytes of a file's text: more than any book.
const mostText = 8 << 20

// The reasons why a file cannot be read. Callers know them without this package.
var (
	ErrUnreadable = body.ErrUnreadable
	ErrTooMuch    = body.ErrTooMuch
)

// PDF is the text of a PDF, with headings in Markdown. A file can cause endless work, endless memory, or a crash: see
// [Apart].
func PDF(content []byte) (text string, err error) {
	defer func() {
		switch r := recover(); {
		case r == nil:
		case r == any(errEnough):
			err = ErrTooMuch
		default: // the library panics on damaged files
			err = fmt.Errorf("%w: %v", ErrUnreadable, r)
		}
	}()
	file, err := pdf.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	p := &pages{}
	for n := 1; n <= file.NumPage(); n++ {
		page := file.Page(n)
		if page.V.IsNull() {
			break
		}
		p.read(page.V.Key("Contents"), page.Resources(), 0)
		p.endLine()
		p.lines = append(p.lines, line{})
	}
	if text = p.markdown(); strings.TrimSpace(text) == "" {
		return "", ErrUnreadable
	}
	return text, nil
}

// errEnough stops reading a file with too much text.
var errEnough = errors.New("enough")

// line is a line of text in one font size; an empty one is a gap.
type line struct {
	text string
	size float64
}

// pages is the text of the pages read so far.
type pages struct {
	lines   []line
	total   int // bytes
	current strings.Builder

	font        *font
	size, scale float64 // font size, and scale of the text matrix
	lineSize    float64
	x, y        float64 // beginning of the current line
	pen         float64 // distance of the pen from there
}

// deepest limits the nesting of form objects with text.
const deepest = 4

// read interprets the program of a page.
func (p *pages) read(program, resources pdf.Value, depth int) {
	fonts := map[string]*font{}
	p.scale, p.font = 1, nil
	pdf.Interpret(program, func(stack *pdf.Stack, operator string) {
		args := make([]pdf.Value, stack.Len())
		for i := len(args) - 1; i >= 0; i-- {
			args[i] = stack.Pop()
		}
		number := func(i int) float64 {
			if i >= len(args) {
				return 0
			}
			return args[i].Float64()
		}
		switch operator {
		case "Tf":
			if len(args) == 2 {
				p.size = number(1)
				p.font = fontNamed(fonts, resources, args[0].Name())
			}
		case "BT":
			p.scale = 1
			p.moveTo(0, 0)
		case "Tm":
			p.scale = number(3)
			p.moveTo(number(4), number(5))
		case "Td", "TD":
			p.moveTo(p.x+number(0)*p.scale, p.y+number(1)*p.scale)
		case "T*":
			p.endLine()
		case "'", `"`:
			p.endLine()
			if len(args) > 0 {
				p.show(args[len(args)-1].RawString())
			}
		case "Tj":
			if len(args) > 0 {
				p.show(args[0].RawString())
			}
		case "TJ":
			if len(args) > 0 {
				p.showAll(args[0])
			}
		case "Do":
			if len(args) > 0 && depth < deepest {
				if form := resources.Key("XObject").Key(args[0].Name()); form.Key("Subtype").Name() == "Form" {
					font, size, scale := p.font, p.size, p.scale
					p.read(form, form.Key("Resources"), depth+1)
					p.font, p.size, p.scale = font, size, scale
				}
			}
		}
	})
}

func fontNamed(known map[string]*font, resources pdf.Value, name string) *font {
	if known[name] == nil {
		known[name] = fontOf(resources.Key("Font").Key(name))
	}
	return known[name]
}

// wide is the gap between letters that counts as a space, in font sizes.
const wide = 0.18

// showAll shows strings with adjustments between them.
func (p *pages) showAll(pieces pdf.Value) {
	for i := range pieces.Len() {
		switch piece := pieces.Index(i); piece.Kind() {
		case pdf.String:
			p.show(piece.RawString())
		case pdf.Integer, pdf.Real:
			p.apart(-piece.Float64() / 1000 * p.size)
		}
	}
}

func (p *pages) show(codes string) {
	text := codes
	if p.font != nil {
		text = p.font.encoding.Decode(codes)
		p.pen += p.font.width(codes) / 1000 * p.size * max(p.scale, -p.scale)
	}
	if p.total += len(text); p.total > mostText {
		panic(errEnough)
	}
	if p.current.Len() == 0 {
		p.lineSize = p.size * max(p.scale, -p.scale)
	}
	p.current.WriteString(text)
}

// apart moves the pen within a line.
func (p *pages) apart(distance float64) {
	if distance > wide*p.size {
		p.space()
	}
	p.pen += distance * max(p.scale, -p.scale)
}

// moveTo moves the pen to the next text, on the same line or another one.
func (p *pages) moveTo(x, y float64) {
	switch down := p.y - y; {
	case down > 0.5 || down < -0.5:
		gap := down > 2*max(p.lineSize, 1) && p.current.Len() > 0
		p.endLine()
		if gap {
			p.lines = append(p.lines, line{})
		}
	case x-(p.x+p.pen) > wide*p.lineSize:
		p.space()
	}
	p.x, p.y, p.pen = x, y, 0
}

// space adds a space between words, except in scripts without spaces.
func (p *pages) space() {
	text := p.current.String()
	if text == "" || strings.HasSuffix(text, " ") || endsInHan(text) {
		return
	}
	p.current.WriteByte(' ')
}

// plain replaces ligatures, and removes the library's marks for unknown codes.
var plain = strings.NewReplacer("\x00", "", "\ufffd", "", "ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl")

func (p *pages) endLine() {
	text := plain.Replace(strings.ToValidUTF8(p.current.String(), ""))
	if text = strings.Join(strings.Fields(text), " "); text != "" {
		p.lines = append(p.lines, line{text: text, size: p.lineSize})
	}
	p.current.Reset()
}

// font decodes codes and knows their widths.
type font struct {
	encoding pdf.TextEncoding
	widths   map[int]float64 // by code, in thousandths of the size
	usual    float64         // for codes without a width
	bytes    int             // of a code
}

// fontOf reads a font once: the library looks up every width again, which takes seconds per page.
func fontOf(v pdf.Value) *font {
	f := &font{encoding: (&pdf.Font{V: v}).Encoder(), widths: map[int]float64{}, usual: 500, bytes: 1}
	if v.Key("Subtype").Name() == "Type0" {
		f.bytes = 2
		f.composite(v.Key("DescendantFonts").Index(0))
		return f
	}
	first, list := int(v.Key("FirstChar").Int64()), v.Key("Widths")
	for i := range min(list.Len(), mostCodes) {
		f.widths[first+i] = list.Index(i).Float64()
	}
	return f
}

const mostCodes = 1 << 16

// composite reads the widths of a composite font: runs of codes, each with a list of widths or with one.
func (f *font) composite(v pdf.Value) {
	f.usual = 1000
	if usual := v.Key("DW"); !usual.IsNull() {
		f.usual = usual.Float64()
	}
	list := v.Key("W")
	for i := 0; i+1 < list.Len() && len(f.widths) < mostCodes; {
		first, second := int(list.Index(i).Int64()), list.Index(i+1)
		if second.Kind() == pdf.Array {
			for n := range min(second.Len(), mostCodes) {
				f.widths[first+n] = second.Index(n).Float64()
			}
			i += 2
			continue
		}
		width := list.Index(i + 2).Float64()
		for code := first; code <= min(int(second.Int64()), first+mostCodes); code++ {
			f.widths[code] = width
		}
		i += 3
	}
}

// width is the sum of the widths of codes, in thousandths of the font size.
func (f *font) width(codes string) float64 {
	wide := 0.0
	for i := 0; i+f.bytes <= len(codes); i += f.bytes {
		code := 0
		for _, b := range []byte(codes[i : i+f.bytes]) {
			code = code<<8 | int(b)
		}
		if width, known := f.widths[code]; known {
			wide += width
		} else {
			wide += f.usual
		}
	}
	return wide
}

// How much larger than the rest headings are, and their longest length in bytes.
const (
	title       = 1.45
	heading     = 1.15
	longHeading = 200
)

// markdown is the text of the pages: lines in larger letters become headings.
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

// usual is the most frequent font size.
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

// collapsed reduces runs of empty lines to one.
func collapsed(text string) string {
	for strings.Contains(text, "\n\n\n") {
		text = strings.ReplaceAll(text, "\n\n\n", "\n\n")
	}
	return text
}

// endsInHan tells whether a text ends with a character of a script without spaces.
func endsInHan(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}
