package document

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

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

func (p *pages) endLine() {
	if text := strings.Join(strings.Fields(strings.ToValidUTF8(p.current.String(), "")), " "); text != "" {
		p.lines = append(p.lines, line{text: strings.ReplaceAll(text, "\x00", ""), size: p.lineSize})
	}
	p.current.Reset()
}
