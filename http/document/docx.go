package document

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// mostXML limits the unpacked bytes of a document.
const mostXML = 64 << 20

// DOCX is the text of a Word document, with headings and lists in Markdown.
func DOCX(content []byte) (string, error) {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	const main = "word/document.xml"
	file, err := archive.Open(main)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	limited := &io.LimitedReader{R: file, N: mostXML}
	text, err := paragraphs(xml.NewDecoder(limited))
	switch {
	case limited.N <= 0, errors.Is(err, ErrTooMuch):
		return "", ErrTooMuch
	case err != nil:
		return "", fmt.Errorf("%w: %w", ErrUnreadable, err)
	case strings.TrimSpace(text) == "":
		return "", ErrUnreadable
	}
	return text, nil
}

// paragraph is the current paragraph of a document.
type paragraph struct {
	text  strings.Builder
	style string
	item  bool // of a list
}

// paragraphs reads the text. It ignores the prefixes of names, which vary without a difference in meaning.
func paragraphs(decoder *xml.Decoder) (string, error) {
	var all strings.Builder
	p, cells := &paragraph{}, 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return collapsed(strings.TrimSpace(all.String())), nil
		}
		if err != nil {
			return "", err
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "p":
				if cells == 0 {
					p = &paragraph{}
				}
			case "pStyle":
				p.style = value(t)
			case "numPr":
				p.item = true
			case "tab":
				p.text.WriteString("\t")
			case "br", "cr":
				p.text.WriteString("\n")
			case "tr":
				p = &paragraph{}
			case "tc":
				if cells++; p.text.Len() > 0 {
					p.text.WriteString("| ")
				}
			case "t":
				var text string
				if err := decoder.DecodeElement(&text, &t); err != nil {
					return "", err
				}
				p.text.WriteString(text)
			case "delText", "instrText": // deleted text, and instructions of fields
				if err := decoder.Skip(); err != nil {
					return "", err
				}
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "tc":
				cells = max(cells-1, 0)
			case "p":
				if cells > 0 {
					p.text.WriteString(" ")
					continue
				}
				p.end(&all)
			case "tr":
				p.end(&all)
			}
			if all.Len() > mostText {
				return "", ErrTooMuch
			}
		}
	}
}

func value(t xml.StartElement) string {
	for _, a := range t.Attr {
		if a.Name.Local == "val" {
			return a.Value
		}
	}
	return ""
}

// end writes a paragraph. Styles have English names, whatever the program's language, or numbers.
func (p *paragraph) end(to *strings.Builder) {
	text := strings.TrimSpace(p.text.String())
	p.text.Reset()
	if text == "" {
		return
	}
	style := strings.ToLower(p.style)
	level := strings.TrimPrefix(style, "heading")
	switch {
	case style == "title":
		text = "# " + text
	case len(style) == 1 && style >= "1" && style <= "6":
		text = strings.Repeat("#", int(style[0]-'0')) + " " + text
	case level != style && len(level) == 1 && level >= "1" && level <= "6":
		text = strings.Repeat("#", int(level[0]-'0')) + " " + text
	case p.item:
		text = "- " + text
	}
	to.WriteString(text + "\n\n")
}
