package foreign

import (
	"bytes"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/JohannesKaufmann/dom"
	"golang.org/x/net/html"

	"github.com/annals-kb/annals/cmd/annals/markdown"
	"github.com/annals-kb/annals/http/document" // part: documents
)

var (
	pageID    = regexp.MustCompile(`(?:^|[/_])(\d+)\.html$`)
	pageLinks = regexp.MustCompile(`\[[^\]\n]*\]\((?:[^)\s]*_)?\d+\.html\)|[\s-]`)
	noText    = []string{"toc-macro", "childpages-macro", "plugin_pagetree", "plugin_attachments_container"}
)

// page reads a page that Confluence or Notion has exported as HTML.
func page(in *markdown.Input, file string, text []byte) ([]markdown.Item, error) {
	page, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, errors.New("is no HTML that can be read")
	}
	for node := range page.Descendants() {
		if dom.NodeName(node) == "article" && strings.HasPrefix(dom.GetAttributeOr(node, "class", ""), "page") {
			return in.Note(file, notionPage(node))
		}
	}
	return confluence(in, file, page)
}

// confluence reads a page of a space of Confluence.
func confluence(in *markdown.Input, file string, page *html.Node) ([]markdown.Item, error) {
	var main, title, about *html.Node
	var above []string
	for node := range page.Descendants() {
		switch dom.GetAttributeOr(node, "id", "") {
		case "main-content":
			main = node
		case "title-text":
			title = node
		case "breadcrumbs":
			for crumb := range node.Descendants() {
				if crumb.Type == html.ElementNode && crumb.Data == "a" {
					above = append(above, textOf(crumb))
				}
			}
		}
		if dom.GetAttributeOr(node, "class", "") == "page-metadata" {
			about = node
		}
	}
	number := pageID.FindStringSubmatch(file)
	if main == nil || title == nil || number == nil {
		return nil, errors.New("is no page of Confluence or Notion")
	}
	for _, node := range slices.Collect(main.Descendants()) {
		if slices.ContainsFunc(noText, func(class string) bool { return dom.HasClass(node, class) }) {
			dom.RemoveNode(node)
		}
	}
	id := in.ID(path.Join(path.Dir(file), "confluence"), number[1])
	item := markdown.Item{Type: "definition", ID: id, Task: textOf(title), Meta: in.From(file, "")}
	if item.Content = contentOf(main); pageLinks.ReplaceAllString(item.Content, "") == "" {
		return nil, errors.New("has no text but links to other pages")
	}
	if len(above) > 0 {
		item.Task = strings.TrimPrefix(item.Task, above[0]+" : ")
	}
	item.Tags = tagsOf("folder", strings.Join(above, "/"))
	if about != nil {
		for node := range about.Descendants() {
			if class := dom.GetAttributeOr(node, "class", ""); class == "author" || class == "editor" { // the last one wrote it
				item.Source = &markdown.Source{SubmittedBy: markdown.LastRunes(textOf(node), 200)}
			}
		}
		item.OccurredAt = markdown.ParseDate(textOf(about)) // in the language of the space
	}
	return []markdown.Item{item}, nil
}

// textOf is the text of a node, on one line.
func textOf(node *html.Node) string { return strings.Join(strings.Fields(dom.CollectText(node)), " ") }

// contentOf is the text of a node, as Markdown.
func contentOf(node *html.Node) string {
	content := textOf(node)
	if text, err := document.HTML(node); err == nil { // part: documents
		content = text // part: documents
	} // part: documents
	return content
}

// tagsOf are tags of one value each, without empty ones.
func tagsOf(pairs ...string) map[string][]string {
	tags := map[string][]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if value := markdown.LastRunes(pairs[i+1], 60); value != "" && value != "." {
			tags[pairs[i]] = []string{value}
		}
	}
	return tags
}
