package document

import (
	"github.com/ledongthuc/pdf"
)

// font is how codes are read, and how wide what they show is.
type font struct {
	encoding pdf.TextEncoding
	widths   map[int]float64 // by code, in thousandths of the size
	usual    float64         // of codes that are not there
	bytes    int             // of a code
}

// fontOf reads a font. What a program for readers says of its codes counts more than how it is said to be encoded.
func fontOf(v pdf.Value) *font {
	f := &font{widths: map[int]float64{}, usual: 500, bytes: 1}
	f.encoding = unicodes(v)
	if f.encoding == nil {
		whole := pdf.Font{V: v}
		f.encoding = whole.Encoder()
	}
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
