package console

import (
	"net/url"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extended "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/idna"
)

// element is a part of a text in Markdown, for the template "elements". The template writes every element and escapes
// every text, so that HTML in the text stays text.
type element struct {
	Kind    string // of the element
	Text    string
	Address string // of a link
	Host    string // where a link leads
	Start   int    // of an ordered list
	Done    bool   // of a task in a list
	Parts   []element
}

// deepestElement bounds how deep parts nest. What is deeper is shown as it was written.
const deepestElement = 24

// maxMarkdown is the largest text that is read as Markdown. The time for hostile texts grows with the square of their
// size; for this one it is half a second.
const maxMarkdown = 32 << 10

// markdown reads a text as Markdown with the tables, lists of tasks and strikethroughs of GitHub.
func markdown(source string) []element {
	if len(source) > maxMarkdown {
		return []element{{Kind: "long"}, {Kind: "pre", Text: source}}
	}
	parser := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList)).Parser()
	written := []byte(source)
	return partsIn(parser.Parse(text.NewReader(written)), written, 0)
}

func partsIn(parent ast.Node, source []byte, depth int) []element {
	var parts []element
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		parts = append(parts, elementsOf(node, source, depth+1)...)
	}
	return parts
}

// kinds are the elements of nodes that have no values of their own.
var kinds = map[ast.NodeKind]string{
	ast.KindParagraph: "p", ast.KindHeading: "heading", ast.KindBlockquote: "quote", ast.KindListItem: "item",
	ast.KindThematicBreak: "rule", ast.KindCodeSpan: "code", extended.KindStrikethrough: "struck",
	extended.KindTable: "table", extended.KindTableHeader: "head", extended.KindTableRow: "row",
	extended.KindTableCell: "cell",
}

func elementsOf(node ast.Node, source []byte, depth int) []element {
	if depth > deepestElement {
		return []element{{Kind: "text", Text: writtenIn(node, source)}}
	}
	switch node := node.(type) {
	case *ast.Text:
		content := meant(node.Value(source))
		if node.IsRaw() || node.Parent().Kind() == ast.KindCodeSpan {
			content = string(node.Value(source))
		}
		parts := []element{{Kind: "text", Text: content}}
		switch {
		case node.HardLineBreak():
			parts = append(parts, element{Kind: "break"})
		case node.SoftLineBreak():
			parts[0].Text += "\n"
		}
		return parts
	case *ast.String:
		return []element{{Kind: "text", Text: string(node.Value)}}
	case *ast.RawHTML:
		return []element{{Kind: "text", Text: string(node.Segments.Value(source))}}
	case *ast.HTMLBlock:
		return []element{{Kind: "pre", Text: closed(node, source)}}
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return []element{{Kind: "pre", Text: linesIn(node, source)}}
	case *ast.List:
		made := element{Kind: "list", Start: node.Start, Parts: partsIn(node, source, depth)}
		if node.IsOrdered() {
			made.Kind = "ordered"
		}
		return []element{made}
	case *extended.TaskCheckBox:
		return []element{{Kind: "task", Done: node.IsChecked}}
	case *ast.Emphasis:
		return []element{{Kind: []string{"emphasis", "strong"}[min(node.Level, 2)-1], Parts: partsIn(node, source, depth)}}
	case *ast.AutoLink:
		return []element{linkTo(string(node.URL(source)), []element{{Kind: "text", Text: string(node.Label(source))}})}
	case *ast.Link:
		return []element{linkTo(meant(node.Destination), partsIn(node, source, depth))}
	case *ast.Image:
		return []element{linkTo(meant(node.Destination), partsIn(node, source, depth))}
	}
	if kind := kinds[node.Kind()]; kind != "" {
		return []element{{Kind: kind, Parts: partsIn(node, source, depth)}}
	}
	return partsIn(node, source, depth)
}

// meant is what the escapes and references of a text stand for.
func meant(written []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(written))))
}

// linkTo is a link that shows its host. Of an address that a browser must not follow, it is the text with the address.
func linkTo(address string, parts []element) element {
	parsed, err := url.Parse(address)
	link := element{Kind: "link", Address: address, Parts: parts}
	switch {
	case err == nil && slices.Contains([]string{"http", "https"}, parsed.Scheme) && parsed.Hostname() != "":
		if link.Host, err = idna.Lookup.ToASCII(parsed.Hostname()); err != nil {
			link.Kind = "address"
		}
	case err == nil && parsed.Scheme == "mailto" && parsed.Opaque != "":
		link.Host, _, _ = strings.Cut(parsed.Opaque, "?")
	default:
		link.Kind = "address"
	}
	return link
}

// closed is a block of HTML with its last line.
func closed(block *ast.HTMLBlock, source []byte) string {
	if !block.HasClosure() {
		return linesIn(block, source)
	}
	return linesIn(block, source) + string(block.ClosureLine.Value(source))
}

func linesIn(node ast.Node, source []byte) string { return string(node.Lines().Value(source)) }

// writtenIn is the text of a node as it was written, without its marks.
func writtenIn(node ast.Node, source []byte) string {
	var all strings.Builder
	_ = ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if leaf, is := node.(*ast.Text); is && entering {
			all.Write(leaf.Value(source))
			all.WriteByte(' ')
		} else if entering && node.Type() == ast.TypeBlock && node.IsRaw() {
			all.WriteString(linesIn(node, source))
		}
		return ast.WalkContinue, nil
	})
	return all.String()
}
