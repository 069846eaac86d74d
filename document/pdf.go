package document

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
)

// mostText is how much a file may say, in bytes: more than any book.
const mostText = 8 << 20

// Why a file is not read.
var (
	// ErrUnreadable is that it says nothing that could be read: it is damaged, encrypted, or made of images.
	ErrUnreadable = errors.New("unreadable")
	// ErrTooMuch is that reading it would take too long, too much room, or give too much.
	ErrTooMuch = errors.New("too much to read")
)

// PDF is what a PDF says, its headings as Markdown has them. It may be led into endless work, endless memory, and a
// crash: see [Apart].
func PDF(content []byte) (text string, err error) {
	defer func() {
		switch r := recover(); {
		case r == nil:
		case r == any(errEnough):
			err = ErrTooMuch
		default: // the library says so of what is damaged
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

// errEnough ends the reading of what says too much.
var errEnough = errors.New("enough")

// line is what stands beside one another, in letters of one size; an empty one is a gap.
type line struct {
	text string
	size float64
}

// pages are what the pages read so far say.
type pages struct {
	lines   []line
	said    int // bytes
	current strings.Builder

	font        *font
	size, scale float64 // of the font, and what the text's matrix makes of it
	lineSize    float64
	x, y        float64 // where the line begins that is written
	pen         float64 // how far from there the pen is
}

// deepest is how deep pictures may lie in one another that have text in them.
const deepest = 4

// read follows a page's program: what it shows, and where.
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

// wide is how far letters are set apart that have a space between them, in sizes of theirs.
const wide = 0.18

// showAll shows pieces, which may be set apart.
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
	if p.said += len(text); p.said > mostText {
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

// moveTo goes where the next text stands: on the same line, or on another one.
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

// space sets words apart, but for those that are written without.
func (p *pages) space() {
	said := p.current.String()
	if said == "" || strings.HasSuffix(said, " ") || endsInHan(said) {
		return
	}
	p.current.WriteByte(' ')
}

// plain spells ligatures out, and leaves out what is no character: the library's sign for unknown codes.
var plain = strings.NewReplacer("\x00", "", "\ufffd", "", "ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl")

func (p *pages) endLine() {
	text := plain.Replace(strings.ToValidUTF8(p.current.String(), ""))
	if text = strings.Join(strings.Fields(text), " "); text != "" {
		p.lines = append(p.lines, line{text: text, size: p.lineSize})
	}
	p.current.Reset()
}

// font is how codes are read, and how wide what they show is.
type font struct {
	encoding pdf.TextEncoding
	widths   map[int]float64 // by code, in thousandths of the size
	usual    float64         // of codes that are not there
	bytes    int             // of a code
}

// fontOf reads a font once: the library looks for each width anew, which takes seconds for a page.
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

// composite reads the widths of a font of many characters: runs of codes, each with a list of widths or with one.
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

// width is how wide codes are, in thousandths of the size.
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
