package document

import (
	"unicode/utf16"

	"github.com/ledongthuc/pdf"
)

// codes say which text each code of a font stands for.
type codes struct {
	text  map[string]string
	width [5]bool // of which numbers of bytes there are codes
}

// unicodes reads what a font says for readers: nil if it says nothing. A code is looked up, not searched for, since
// there are as many as characters.
func unicodes(font pdf.Value) pdf.TextEncoding {
	program := font.Key("ToUnicode")
	if program.Kind() != pdf.Stream {
		return nil
	}
	c, howMany := &codes{text: map[string]string{}}, 0
	pdf.Interpret(program, func(stack *pdf.Stack, operator string) {
		switch operator {
		case "endbfchar":
			for range howMany {
				to, from := stack.Pop(), stack.Pop()
				c.note(from.RawString(), utf16Text(to.RawString()))
			}
		case "endbfrange":
			for range howMany {
				to, last, first := stack.Pop(), stack.Pop(), stack.Pop()
				c.run(first.RawString(), last.RawString(), to)
			}
		case "begincodespacerange", "beginbfchar", "beginbfrange":
			howMany = int(min(stack.Pop().Int64(), mostCodes))
		case "endcodespacerange":
			for range howMany {
				stack.Pop()
				stack.Pop()
			}
		case "findresource": // of which a dictionary is wanted: any will do
			stack.Pop()
			stack.Pop()
			stack.Push(font)
		case "begincmap":
			stack.Push(font)
		case "endcmap":
			stack.Pop()
		case "defineresource":
			stack.Pop()
			stack.Pop()
		}
	})
	if len(c.text) == 0 {
		return nil
	}
	return c
}

func (c *codes) note(code, text string) {
	if n := len(code); n > 0 && n < len(c.width) {
		c.width[n], c.text[code] = true, text
	}
}

// run notes the codes from one to another: a text of its own for each, or those that follow one.
func (c *codes) run(first, last string, to pdf.Value) {
	if len(first) != len(last) || len(first) == 0 || len(first) >= len(c.width) {
		return
	}
	from, through := number(first), number(last)
	for n := 0; n <= through-from && n < mostCodes && len(c.text) < mostCodes; n++ {
		code := []byte(first)
		for i, v := len(code)-1, from+n; i >= 0; i, v = i-1, v>>8 {
			code[i] = byte(v)
		}
		if to.Kind() == pdf.Array {
			if n < to.Len() {
				c.note(string(code), utf16Text(to.Index(n).RawString()))
			}
			continue
		}
		text := []rune(utf16Text(to.RawString()))
		if len(text) == 0 {
			return
		}
		text[len(text)-1] += rune(n)
		c.note(string(code), string(text))
	}
}

func number(code string) int {
	n := 0
	for _, b := range []byte(code) {
		n = n<<8 | int(b)
	}
	return n
}

func utf16Text(raw string) string {
	units := make([]uint16, 0, len(raw)/2)
	for i := 0; i+1 < len(raw); i += 2 {
		units = append(units, uint16(raw[i])<<8|uint16(raw[i+1]))
	}
	return string(utf16.Decode(units))
}

// Decode implements [pdf.TextEncoding]. What no code stands for is left out.
func (c *codes) Decode(raw string) string {
	var text []byte
	for len(raw) > 0 {
		n := 1
		for width := min(len(raw), len(c.width)-1); width > 0; width-- {
			if c.width[width] {
				n = width
				break
			}
		}
		text = append(text, c.text[raw[:n]]...)
		raw = raw[n:]
	}
	return string(text)
}
