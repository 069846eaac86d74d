package document

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
)

// HTML is the text of a page, or of a part of one, as Markdown. What is not read, such as scripts and navigation, is
// left out. It changes the nodes.
func HTML(part *html.Node) (string, error) {
	c := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(commonmark.WithListEndComment(false)),
		table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal),
			table.WithNewlineBehavior(table.NewlineBehaviorPreserve))),
		converter.WithEscapeMode(converter.EscapeModeDisabled))
	for _, tag := range []string{"nav", "svg", "template", "noscript"} {
		c.Register.TagType(tag, converter.TagTypeRemove, converter.PriorityEarly)
	}
	// The converter writes < and > as references. Two characters that no text has stand for them meanwhile.
	hide := strings.NewReplacer("<", "\ufdd0", ">", "\ufdd1")
	show := strings.NewReplacer("\ufdd0", "<", "\ufdd1", ">", " "+separator, ";", separator, ";")
	c.Register.TextTransformer(func(_ converter.Context, text string) string {
		return hide.Replace(text)
	}, converter.PriorityEarly)
	for _, node := range slices.Collect(part.Descendants()) {
		translate(node)
	}
	for _, node := range slices.Collect(part.Descendants()) {
		if isElement(node, "table") {
			tabulate(node)
		}
	}
	text, err := c.ConvertNode(part)
	if err != nil {
		return "", fmt.Errorf("read HTML: %w", err)
	}
	return strings.TrimSpace(show.Replace(string(text))), nil
}

var (
	language = regexp.MustCompile(
		`(?:brush: *|sourceCode |\b(?:highlight-source|highlight|lang|language)-)([A-Za-z][\w+#-]*)`)
	admonition = regexp.MustCompile(
		`\b(?:confluence-information-macro|admonition|markdown-alert|callout|alert|aui-message)[ -]{1,2}` +
			`(info|note|tip|hint|important|success|warning|caution|danger|error|attention)(?:rmation)?\b`)
)

// translate writes what has no element of its own in a form that the converter knows: checkboxes, admonitions, and
// the languages of code.
func translate(node *html.Node) {
	class, above := attribute(node, "class"), node.Parent
	kind := admonition.FindStringSubmatch(class)
	switch {
	case node.Type != html.ElementNode || above == nil:
	case isElement(node, "input") && attribute(node, "type") == "checkbox":
		done := slices.ContainsFunc(node.Attr, func(a html.Attribute) bool { return a.Key == "checked" })
		above.InsertBefore(checkbox(done), node)
		above.RemoveChild(node)
	case strings.HasPrefix(class, "checkbox checkbox-"):
		above.InsertBefore(checkbox(class == "checkbox checkbox-on"), node)
		above.RemoveChild(node)
	case isElement(node, "li") && strings.Contains(attribute(above, "class"), "inline-task-list"):
		node.InsertBefore(checkbox(slices.Contains(strings.Fields(class), "checked")), node.FirstChild)
	case isElement(node, "script") && attribute(node, "type") == "syntaxhighlighter" && node.FirstChild != nil:
		code := strings.TrimPrefix(strings.TrimSpace(node.FirstChild.Data), "<![CDATA[")
		node.Data, node.FirstChild.Data = "pre", strings.TrimSuffix(code, "]]>")
		fallthrough
	case isElement(node, "pre"):
		about := class + " " + attribute(node, "data-syntaxhighlighter-params")
		if named := attribute(node, "data-language") + attribute(node, "data-lang"); named != "" {
			about = "lang-" + named
		}
		if above.Parent != nil { // the languages of Sphinx and GitHub stand up to two elements above
			about += " " + attribute(above, "class") + " " + attribute(above.Parent, "class")
		}
		if found := language.FindStringSubmatch(about); found != nil && found[1] != "default" && found[1] != "none" {
			node.Attr = []html.Attribute{{Key: "class", Val: "language-" + found[1]}}
		}
	case isElement(node, "figure") && slices.Contains(strings.Fields(class), "callout"):
		node.Data = "blockquote"
	case kind != nil:
		node.Data = "blockquote"
		first := element("p")
		first.AppendChild(textNode("[!" + strings.ToUpper(kind[1]) + "]"))
		node.InsertBefore(first, node.FirstChild)
	}
}

// separator stands for the end of a part of a list in a cell until all is written.
const separator = "\ufdd2"

// mostCells limits the cells of a table, with those that others span and those that fill up its rows.
const mostCells = 1_000_000

var (
	blocks = strings.Fields("address article aside blockquote br caption center dd details div dl dt figcaption figure " +
		"footer h1 h2 h3 h4 h5 h6 header hr li main ol p section summary table tbody td tfoot th thead tr ul")
	siblings = []string{"li", "tr", "td", "th"} // blocks of which several make a list
	inline   = []string{"a", "b", "strong", "i", "em", "del", "s", "strike"}
)

// tabulate makes each cell of a table one line, as Markdown demands. The cells of a table for layout become paragraphs.
func tabulate(table *html.Node) {
	for above := range table.Ancestors() {
		if isElement(above, inline...) {
			above.Data = "div" // the converter leaves no table in such an element
		}
	}
	cells, widths, all := cellsOf(table), map[*html.Node]int{}, 0
	for _, cell := range cells {
		columns, rows := spanOf(cell, "colspan"), spanOf(cell, "rowspan")
		widths[cell.Parent] += columns
		all += columns * rows
	}
	for _, width := range widths {
		all = max(all, width*len(widths))
	}
	deep := false
	for node := range table.Descendants() {
		deep = deep || isElement(node, "table", "h1", "h2", "h3")
	}
	if attribute(table, "role") == "presentation" || len(widths) == 1 && deep || all > mostCells {
		table.Attr = []html.Attribute{{Key: "role", Val: "presentation"}} // so that the converter leaves it
		for _, cell := range cells {
			cell.Data = "div"
		}
		return
	}
	for _, cell := range cells {
		for _, node := range slices.Collect(cell.Descendants()) {
			flatten(node)
		}
	}
}

// cellsOf are the cells of a table without those of tables in it.
func cellsOf(part *html.Node) (cells []*html.Node) {
	for node := range part.ChildNodes() {
		switch {
		case isElement(node, "td", "th"):
			cells = append(cells, node)
		case !isElement(node, "table"):
			cells = append(cells, cellsOf(node)...)
		}
	}
	return cells
}

// spanOf is how many columns or rows a cell takes.
func spanOf(cell *html.Node, name string) int {
	span, err := strconv.Atoi(attribute(cell, name))
	if err != nil {
		return 1
	}
	return min(max(span, 1), mostCells)
}

// flatten makes a part of a cell a part of a line.
func flatten(node *html.Node) {
	switch {
	case node.Type == html.TextNode:
		node.Data = strings.ReplaceAll(node.Data, "|", `\|`)
	case isElement(node, "pre"):
		node.Data = "span"
		var code strings.Builder
		for part := range node.Descendants() {
			if part.Type == html.TextNode {
				code.WriteString(part.Data)
			} else if isElement(part, "br", "div") {
				code.WriteString("\n")
			}
		}
		node.FirstChild, node.LastChild = nil, nil
		for line := range strings.Lines(code.String()) {
			if line = strings.TrimSpace(line); line != "" {
				written := element("code")
				written.AppendChild(textNode(strings.ReplaceAll(line, "|", `\|`)))
				node.AppendChild(textNode(" "))
				node.AppendChild(written)
			}
		}
	case isElement(node, blocks...):
		before := " "
		for other := node.PrevSibling; other != nil && isElement(node, siblings...); other = other.PrevSibling {
			if other.Type == html.ElementNode {
				before = separator + " "
				break
			}
		}
		node.InsertBefore(textNode(before), node.FirstChild)
		node.AppendChild(textNode(" "))
		node.Data = "span"
	}
}

func isElement(node *html.Node, names ...string) bool {
	return node.Type == html.ElementNode && slices.Contains(names, node.Data)
}

func attribute(node *html.Node, name string) string {
	for _, a := range node.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func element(name string) *html.Node { return &html.Node{Type: html.ElementNode, Data: name} }

func textNode(text string) *html.Node { return &html.Node{Type: html.TextNode, Data: text} }

// checkbox is a task in Markdown.
func checkbox(done bool) *html.Node {
	if done {
		return textNode("[x] ")
	}
	return textNode("[ ] ")
}
