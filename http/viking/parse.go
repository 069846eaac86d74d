package viking

import (
	"cmp"
	"context"
	"errors"
	"mime"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/http/body"
)

// Documents reads documents as Markdown. An error matches body.ErrUnreadable or body.ErrTooMuch.
type Documents interface {
	PDF(ctx context.Context, content []byte) (string, error)
	DOCX(content []byte) (string, error)
	HTML(page *html.Node) (string, error)
}

// textual are the extensions of files that are always text.
var textual = strings.Fields(`
	.md .markdown .txt .text .rst .org .csv .tsv .log .json .jsonl .yaml .yml .toml .ini .xml .html .htm .tex
	.go .py .js .ts .java .c .h .cpp .rs .rb .sh .sql .css .php .swift .kt .scala
`)

// extension is the extension of the file's name, or the usual one of its content type.
func (f source) extension() string {
	if extension := strings.ToLower(path.Ext(f.name)); extension != "" {
		return extension
	}
	return extensionOf(f.contentType)
}

// prose are the extensions of texts that become several files of Markdown if they are long.
var prose = strings.Fields(".txt .text .rst .org .tex")

// keptName is the name of a text that stays one file, such as code or a Makefile; empty for Markdown, and for what is
// split.
func (f source) keptName() string {
	extension := strings.ToLower(path.Ext(f.name))
	if f.name == "" || !f.isText || !f.mayBeText() || len(f.content) > domain.MaxContent ||
		slices.Contains([]string{"text/html", "text/markdown"}, f.kind()) ||
		slices.Contains([]string{".md", ".markdown"}, extension) ||
		slices.Contains(prose, extension) && len(sections(f.content)) > 1 {
		return ""
	}
	parts := strings.Split(f.name, ".")
	for i := range parts {
		parts[i] = segment(parts[i])
	}
	return strings.Join(parts, ".")
}

// kind is the content type, if known.
func (f source) kind() string {
	if kind, _, err := mime.ParseMediaType(f.contentType); err == nil && kind != anyType {
		return kind
	}
	kind, _, _ := mime.ParseMediaType(mime.TypeByExtension(f.extension()))
	return cmp.Or(kind, anyType)
}

// text is the text of a file; false for a binary file or an unknown encoding.
func (s resources) text(f source) (string, bool) {
	extension, kind := f.extension(), f.kind()
	if !f.mayBeText() {
		return "", false
	}
	content, err := body.Text(f.bytes)
	isHTML := extension == ".html" || extension == ".htm" || kind == "text/html"
	if isHTML && s.documents != nil {
		var page *html.Node
		if page, err = html.Parse(strings.NewReader(content)); err == nil {
			content, err = s.documents.HTML(page)
		}
	}
	return content, err == nil
}

// mayBeText tells whether to treat a file as text: its name or type says so, or neither says anything.
func (f source) mayBeText() bool {
	kind := f.kind()
	return slices.Contains(textual, f.extension()) || strings.HasPrefix(kind, "text/") || kind == "application/json" ||
		kind == anyType
}

// Documents that need a parser. Office documents are archives, too.
const (
	anyType  = "application/octet-stream"
	pdfType  = "application/pdf"
	docxType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
)

// parse reads the text of a file, or tells why it could not. It refuses a file that would take too much time or
// memory.
func (s resources) parse(ctx context.Context, f *source) (why string, err error) {
	if f.content, f.isText = s.text(*f); f.isText || len(f.bytes) == 0 {
		f.isText = true
		return "", nil
	}
	isPDF, isDOCX := f.extension() == ".pdf" || f.kind() == pdfType, f.extension() == ".docx" || f.kind() == docxType
	medium, _, _ := strings.Cut(f.kind(), "/")
	switch {
	case isPDF && s.documents != nil:
		f.content, err = s.documents.PDF(ctx, f.bytes)
		why = "it is damaged, encrypted, or made of images alone"
	case isDOCX && s.documents != nil:
		f.content, err = s.documents.DOCX(f.bytes)
		why = "it is damaged or encrypted, or has no text"
	case slices.Contains([]string{"image", "audio", "video"}, medium): // not read
		return "", nil
	case f.mayBeText():
		return storedUnread("it is no text, or in an encoding that is not known"), nil
	default:
		return storedUnread("files of this kind are not read"), nil
	}
	switch {
	case errors.Is(err, body.ErrTooMuch):
		return storedUnread("it would take too much to read it"), domain.Refuse(
			domain.ErrTooLarge, "it would take too much to read the file",
		).WithFix("divide it, or send its text")
	case errors.Is(err, body.ErrUnreadable):
		return storedUnread(why), nil
	}
	f.isText = err == nil
	return "", err
}

func storedUnread(why string) string { return " was kept unread: " + why }

// stem is the name of the file's tree.
func (f source) stem() string {
	extension := path.Ext(f.name)
	if f.files != nil && extension != ".zip" { // a directory on the host
		extension = ""
	}
	if stem := segment(strings.TrimSuffix(f.name, extension)); stem != "" {
		return stem
	}
	return "resource"
}

// section is a part of a long text with its heading.
type section struct{ title, content string }

// The sizes of sections, in tokens. A section that is too short could not be understood by itself.
const (
	longSection  = 2000
	shortSection = 200
)

// sections splits a text at its headings if it is too long for one item.
func sections(content string) []section {
	if text.Tokens(content) <= longSection {
		return []section{{title: titleOf(content), content: content}}
	}
	var all []section
	for _, part := range splitAtHeadings(content) {
		for _, piece := range text.Pieces(part.content, longSection) {
			if strings.TrimSpace(piece) == "" {
				continue
			}
			if last := len(all) - 1; last >= 0 && text.Tokens(all[last].content) < shortSection &&
				text.Tokens(all[last].content+piece) <= longSection {
				all[last].content += piece
				continue
			}
			all = append(all, section{title: part.title, content: piece})
		}
	}
	return all
}

// splitAtHeadings splits a text before its headings of the first two levels. It ignores lines of code that look like
// headings.
func splitAtHeadings(content string) []section {
	parts := []section{{}}
	inCode := false
	for line := range strings.Lines(content) {
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			inCode = !inCode
		}
		if !inCode && (strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "## ")) {
			parts = append(parts, section{title: strings.TrimSpace(strings.TrimLeft(line, "# "))})
		}
		parts[len(parts)-1].content += line
	}
	for i := range parts {
		if parts[i].title == "" {
			parts[i].title = titleOf(parts[i].content)
		}
	}
	return parts
}

// titleOf is the title of a text.
func titleOf(content string) string {
	const most = 60
	return cut(firstLine(content), most)
}

// firstLine is the first line of a text that is not empty, without heading marks.
func firstLine(content string) string {
	for line := range strings.Lines(content) {
		if line = strings.TrimSpace(strings.TrimLeft(line, "# ")); line != "" {
			return line
		}
	}
	return ""
}
