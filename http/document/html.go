package document

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/JohannesKaufmann/dom"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
)

// mostCells limits the cells of a table, with those that others span and those that fill up its rows.
const mostCells = 1_000_000

// The converter writes < and > as references. Two characters that no text has stand for them until it is done.
var (
	hidden = strings.NewReplacer("<", "\ufdd0", ">", "\ufdd1")
	shown  = strings.NewReplacer("\ufdd0", "<", "\ufdd1", ">")

	breaks  = regexp.MustCompile(` *(?:\\?<br /> *)+`)
	newline = regexp.MustCompile(`\s*\n\s*`)
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
	for _, tag := range []string{"td", "th"} { // of tables for layout
		c.Register.TagType(tag, converter.TagTypeBlock, converter.PriorityEarly)
	}
	for _, node := range slices.Collect(part.Descendants()) {
		translate(node)
	}
	for _, node := range slices.Collect(part.Descendants()) {
		if dom.NodeName(node) == "table" {
			tabulate(node)
		}
	}
	text, err := c.ConvertNode(part)
	if err != nil {
		return "", fmt.Errorf("read HTML: %w", err)
	}
	return strings.TrimSpace(shown.Replace(breaks.ReplaceAllString(string(text), " "))), nil
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
	class, above := dom.GetAttributeOr(node, "class", ""), node.Parent
	kind := admonition.FindStringSubmatch(class)
	switch {
	case node.Type == html.TextNode:
		node.Data = hidden.Replace(node.Data)
	case node.Type != html.ElementNode || above == nil:
	case node.Data == "input" && dom.GetAttributeOr(node, "type", "") == "checkbox":
		_, done := dom.GetAttribute(node, "checked")
		dom.ReplaceNode(node, checkbox(done))
	case strings.HasPrefix(class, "checkbox checkbox-"):
		dom.ReplaceNode(node, checkbox(class == "checkbox checkbox-on"))
	case node.Data == "li" && strings.Contains(dom.GetAttributeOr(above, "class", ""), "inline-task-list"):
		node.InsertBefore(checkbox(dom.HasClass(node, "checked")), node.FirstChild)
	case node.Data == "script" && dom.GetAttributeOr(node, "type", "") == "syntaxhighlighter" && node.FirstChild != nil:
		code := strings.TrimPrefix(strings.TrimSpace(node.FirstChild.Data), "<![CDATA[")
		node.Data, node.FirstChild.Data = "pre", strings.TrimSuffix(code, "]]>")
		fallthrough
	case node.Data == "pre":
		about := class + " " + dom.GetAttributeOr(node, "data-syntaxhighlighter-params", "")
		if named := dom.GetAttributeOr(node, "data-language", "") + dom.GetAttributeOr(node, "data-lang", ""); named != "" {
			about = "lang-" + named
		}
		if above.Parent != nil { // the languages of Sphinx and GitHub stand up to two elements above
			about += " " + dom.GetAttributeOr(above, "class", "") + " " + dom.GetAttributeOr(above.Parent, "class", "")
		}
		if found := language.FindStringSubmatch(about); found != nil && found[1] != "default" && found[1] != "none" {
			node.Attr = []html.Attribute{{Key: "class", Val: "language-" + found[1]}}
		}
	case node.Data == "figure" && dom.HasClass(node, "callout"):
		node.Data = "blockquote"
	case kind != nil:
		node.Data = "blockquote"
		node.InsertBefore(textNode("[!"+strings.ToUpper(kind[1])+"] "), node.FirstChild)
	}
}

// tabulate makes each cell of a table one line, as Markdown demands.
func tabulate(table *html.Node) {
	cells := dom.FindAllNodes(table, func(node *html.Node) bool {
		return slices.Contains([]string{"td", "th"}, dom.NodeName(node))
	})
	widths, widest, all := map[*html.Node]int{}, 0, 0
	for _, cell := range cells {
		columns, _ := strconv.Atoi(dom.GetAttributeOr(cell, "colspan", "1"))
		rows, _ := strconv.Atoi(dom.GetAttributeOr(cell, "rowspan", "1"))
		columns, rows = min(max(columns, 1), mostCells), min(max(rows, 1), mostCells)
		widths[cell.Parent] += columns
		widest, all = max(widest, widths[cell.Parent]), all+columns*rows
	}
	if len(cells) == 1 || max(all, widest*len(widths)) > mostCells {
		table.Attr = []html.Attribute{{Key: "role", Val: "presentation"}}
	}
	if dom.GetAttributeOr(table, "role", "") == "presentation" { // a layout, which the converter leaves
		return
	}
	for above := range table.Ancestors() {
		if slices.Contains([]string{"a", "b", "strong", "i", "em", "del", "s", "strike"}, above.Data) {
			above.Data = "div" // the converter leaves the tables in such an element
		}
	}
	for _, cell := range cells {
		if cell.Data != "div" { // of a table in a cell
			for _, node := range slices.Collect(cell.Descendants()) {
				flatten(node)
			}
		}
	}
}

// flatten makes a part of a cell one that the converter takes in a table: text, or a block of text.
func flatten(node *html.Node) {
	switch dom.NodeName(node) {
	case "#text":
		node.Data = strings.ReplaceAll(node.Data, "|", `\|`)
	case "li":
		node.InsertBefore(textNode("- "), node.FirstChild)
		node.Data = "div"
	case "h1", "h2", "h3", "h4", "h5", "h6", "hr", "ul", "ol", "blockquote", "table", "tr", "td", "th":
		node.Data = "div"
	case "pre":
		code := newline.ReplaceAllString(strings.TrimSpace(dom.CollectText(node)), "` `")
		node.Data, node.FirstChild, node.LastChild = "div", nil, nil
		node.AppendChild(textNode("`" + strings.ReplaceAll(code, "|", `\|`) + "`"))
	}
}

func textNode(text string) *html.Node { return &html.Node{Type: html.TextNode, Data: text} }

// checkbox is a task in Markdown.
func checkbox(done bool) *html.Node {
	if done {
		return textNode("[x] ")
	}
	return textNode("[ ] ")
}
