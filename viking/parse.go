package viking

import (
	"bytes"
	"context"
	"errors"
	"mime"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/annals-kb/annals/document"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// textual are the extensions of files that are text whatever anybody says of them.
var textual = []string{
	".md", ".markdown", ".txt", ".text", ".rst", ".org", ".csv", ".tsv", ".log", ".json", ".jsonl", ".yaml", ".yml", ".toml", ".ini", ".xml", ".html", ".htm",
	".go", ".py", ".js", ".ts", ".java", ".c", ".h", ".cpp", ".rs", ".rb", ".sh", ".sql", ".css", ".php", ".swift", ".kt", ".scala", ".tex",
}

// extension is that of a file's name, or what its content type lets expect.
func (f source) extension() string {
	if extension := strings.ToLower(path.Ext(f.name)); extension != "" {
		return extension
	}
	return extensionOf(f.contentType)
}

// kind is the file's content type, as far as anybody knows.
func (f source) kind() string {
	if kind, _, err := mime.ParseMediaType(f.contentType); err == nil && kind != "application/octet-stream" {
		return kind
	}
	kind, _, _ := mime.ParseMediaType(mime.TypeByExtension(f.extension()))
	if kind == "" {
		kind = "application/octet-stream"
	}
	return kind
}

// text is what the file says; false for one that says nothing to read.
func (f source) text() (string, bool) {
	extension, kind := f.extension(), f.kind()
	if !slices.Contains(textual, extension) && !strings.HasPrefix(kind, "text/") && kind != "application/json" {
		return "", false
	}
	if !utf8.Valid(f.bytes) || bytes.IndexByte(f.bytes, 0) >= 0 {
		return "", false
	}
	content := strings.ReplaceAll(strings.TrimPrefix(string(f.bytes), "\ufeff"), "\r\n", "\n")
	if extension == ".html" || extension == ".htm" || kind == "text/html" {
		content = htmlText(content)
	}
	return content, strings.TrimSpace(content) != ""
}

// Documents are files that only a program can read.
const (
	pdfType  = "application/pdf"
	docxType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
)

// readable is what a file says; false for one that says nothing to read. One that would take too much to read is refused.
func (s *Server) readable(ctx context.Context, f source) (string, bool, error) {
	if content, is := f.text(); is {
		return content, true, nil
	}
	content, err := "", document.ErrUnreadable
	switch extension, kind := f.extension(), f.kind(); {
	case (extension == ".pdf" || kind == pdfType) && s.cfg.PDF != nil:
		content, err = s.cfg.PDF(ctx, f.bytes)
	case extension == ".docx" || kind == docxType:
		content, err = document.DOCX(f.bytes)
	}
	switch {
	case errors.Is(err, document.ErrTooMuch):
		return "", false, domain.Refuse(domain.ErrTooLarge, "it would take too much to read the file").WithFix("divide it, or send its text")
	case errors.Is(err, document.ErrUnreadable):
		return "", false, nil
	}
	return content, err == nil, err
}

// whyUnread says that a document was kept as it is, and why; empty for what is no document.
func (f source) whyUnread() string {
	extension, kind := f.extension(), f.kind()
	switch {
	case extension == ".pdf" || kind == pdfType:
		return f.name + " was kept unread: it is damaged, encrypted, or made of images alone"
	case extension == ".docx" || kind == docxType:
		return f.name + " was kept unread: it is damaged or encrypted, or has no text"
	}
	return ""
}

// stem is the name that the file's tree has.
func (f source) stem() string {
	if stem := segment(strings.TrimSuffix(f.name, path.Ext(f.name))); stem != "" {
		return stem
	}
	return "resource"
}

// What an HTML page has that nobody reads, what stands on lines of its own, and what is a heading.
var (
	unread = []string{"script", "style", "noscript", "template", "svg", "nav", "head"}
	blocks = []string{"p", "div", "section", "article", "li", "tr", "br", "ul", "ol", "table", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6"}
	spaces = regexp.MustCompile(`[ \t\r\f\v\x{a0}]*\n[ \t\r\f\v\x{a0}]*`)
	gaps   = regexp.MustCompile(`\n{3,}`)
)

// htmlText is what a page says, its headings as Markdown has them.
func htmlText(page string) string {
	var b strings.Builder
	skipped := 0
	for tokens := html.NewTokenizer(strings.NewReader(page)); ; {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			break
		}
		token := tokens.Token()
		switch kind {
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			opens := kind == html.StartTagToken
			if slices.Contains(unread, token.Data) && kind != html.SelfClosingTagToken {
				if skipped++; !opens {
					skipped = max(skipped-2, 0)
				}
				continue
			}
			if slices.Contains(blocks, token.Data) {
				b.WriteString("\n")
				if level, isHeading := strings.CutPrefix(token.Data, "h"); isHeading && level != "" {
					b.WriteString("\n")
					if opens {
						b.WriteString(strings.Repeat("#", int(level[0]-'0')) + " ")
					}
				}
				if opens && token.Data == "li" {
					b.WriteString("- ")
				}
			}
		case html.TextToken:
			if skipped == 0 {
				b.WriteString(token.Data)
			}
		}
	}
	return strings.TrimSpace(gaps.ReplaceAllString(spaces.ReplaceAllString(b.String(), "\n"), "\n\n"))
}

// section is a part of a long text, with the heading that it stands under.
type section struct{ title, content string }

// How long sections are, in tokens: none longer, and none so short that it says little by itself.
const (
	longSection  = 2000
	shortSection = 200
)

// sections divides a text at its headings, as far as it is too long for one item.
func sections(content string) []section {
	if text.Tokens(content) <= longSection {
		return []section{{title: titleOf(content), content: content}}
	}
	var all []section
	for _, part := range headed(content) {
		for _, piece := range text.Pieces(part.content, longSection) {
			if strings.TrimSpace(piece) == "" {
				continue
			}
			if last := len(all) - 1; last >= 0 && text.Tokens(all[last].content) < shortSection && text.Tokens(all[last].content+piece) <= longSection {
				all[last].content += piece
				continue
			}
			all = append(all, section{title: part.title, content: piece})
		}
	}
	return all
}

// headed divides a text before each of its headings of the first two levels, but for what looks like one in code.
func headed(content string) []section {
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

// titleOf is what a text begins with.
func titleOf(content string) string {
	const most = 60
	for line := range strings.Lines(content) {
		if line = strings.TrimSpace(strings.TrimLeft(line, "# ")); line != "" {
			runes := []rune(line)
			return string(runes[:min(len(runes), most)])
		}
	}
	return ""
}
