package foreign

import (
	"bytes"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/annals-kb/annals/cmd/annals/markdown"
	"github.com/annals-kb/annals/http/document" // part: documents
)

var (
	pageID = regexp.MustCompile(`(?:^|_)(\d+)\.html$`)
	noText = []string{"toc-macro", "childpages-macro", "plugin_attachments_container"}
)

// confluence reads a page of a space that Confluence has exported as HTML. A file without a page gives no item.
func confluence(in *markdown.Input, file string, text []byte) ([]markdown.Item, error) {
	page, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, errors.New("is no HTML that can be read")
	}
	var main, title, about *html.Node
	var above []string
	for node := range page.Descendants() {
		switch attribute(node, "id") {
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
		if attribute(node, "class") == "page-metadata" {
			about = node
		}
	}
	number := pageID.FindStringSubmatch(file)
	if main == nil || title == nil || number == nil { // the index, a folder, or a page of somebody else
		return nil, nil
	}
	for _, node := range slices.Collect(main.Descendants()) {
		for class := range strings.FieldsSeq(attribute(node, "class")) {
			if slices.Contains(noText, class) && node.Parent != nil {
				node.Parent.RemoveChild(node)
			}
		}
	}
	id := in.ID(path.Join(path.Dir(file), "confluence"), number[1])
	item := markdown.Item{Type: "definition", ID: id, Task: textOf(title)}
	item.Content = textOf(main)
	if text, err := document.HTML(main); err == nil { // part: documents
		item.Content = text // part: documents
	} // part: documents
	if len(above) > 0 {
		item.Task = strings.TrimPrefix(item.Task, above[0]+" : ")
	}
	item.Tags = tagsOf("folder", strings.Join(above, "/"))
	if about != nil {
		for node := range about.Descendants() {
			if class := attribute(node, "class"); class == "author" || class == "editor" { // the last one wrote it
				item.Source = &markdown.Source{SubmittedBy: markdown.LastRunes(textOf(node), 200)}
			}
		}
		item.OccurredAt = markdown.ParseDate(textOf(about)) // in the language of the space
	}
	return []markdown.Item{item}, nil
}

func attribute(node *html.Node, name string) string {
	for _, a := range node.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// textOf is the text of a node, on one line.
func textOf(node *html.Node) string {
	var b strings.Builder
	for inner := range node.Descendants() {
		if inner.Type == html.TextNode {
			b.WriteString(inner.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// tagsOf are tags of one value each, without empty ones.
func tagsOf(pairs ...string) map[string][]string {
	tags := map[string][]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if value := markdown.LastRunes(pairs[i+1], 60); value != "" {
			tags[pairs[i]] = []string{value}
		}
	}
	return tags
}
