package foreign

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/JohannesKaufmann/dom"
	"golang.org/x/net/html"

	"github.com/annals-kb/annals/cmd/annals/markdown"
)

// notionTable is the name of a database that Notion has exported, with its id.
var notionTable = regexp.MustCompile(`^(.*?)[ -]?([0-9a-f]{32})(_all)?\.csv$`)

// isNotionTable tells whether a file of CSV has rows that no other file has: the pages of a database have its rows,
// too, and the file _all has those of every view.
func isNotionTable(files fs.FS, name string) bool {
	found := notionTable.FindStringSubmatch(path.Base(name))
	if found == nil {
		return false
	}
	stem := path.Join(path.Dir(name), strings.TrimSuffix(strings.TrimSuffix(path.Base(name), ".csv"), "_all"))
	for _, folder := range []string{stem, path.Join(path.Dir(name), found[1])} {
		if info, err := fs.Stat(files, folder); err == nil && info.IsDir() {
			return false
		}
	}
	_, err := fs.Stat(files, stem+"_all.csv")
	return found[3] != "" || err != nil
}

// notion reads the rows of a database: the first column is the title. A row may have fewer values or more.
func notion(in *markdown.Input, file string, text []byte) ([]markdown.Item, error) {
	table := csv.NewReader(bytes.NewReader(text))
	table.FieldsPerRecord, table.LazyQuotes = -1, true
	rows, err := table.ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, errors.New("is no table that can be read")
	}
	name, seen := notionTable.FindStringSubmatch(path.Base(file))[1], map[string]int{}
	var all []markdown.Item
	for _, row := range rows[1:] {
		var lines []string
		item := markdown.Item{Type: "definition", Tags: tagsOf("folder", path.Dir(file))}
		for i, value := range row[:min(len(row), len(rows[0]))] {
			if value != "" {
				lines = append(lines, rows[0][i]+": "+value)
			}
			if key := strings.ToLower(rows[0][i]); item.OccurredAt == nil && strings.Contains(key, "date") || key == "created" {
				from, _, _ := strings.Cut(value, " → ")
				item.OccurredAt = markdown.ParseDate(from)
			}
		}
		title := row[0]
		if seen[title]++; seen[title] > 1 {
			title = fmt.Sprintf("%s (%d)", title, seen[title])
		}
		item.ID, item.Task = in.ID(file, title), strings.TrimSpace(name+": "+row[0])
		if item.Content = strings.Join(lines, "\n"); item.Content != "" {
			all = append(all, item)
		}
	}
	return all, nil
}

// notionPage is a page in the form in which Notion exports Markdown: the title, the properties, and the text.
func notionPage(article *html.Node) string {
	var title, text string
	var properties []string
	for _, node := range slices.Collect(article.Descendants()) {
		switch class := dom.GetAttributeOr(node, "class", ""); {
		case class == "page-title":
			title = textOf(node)
		case class == "page-body":
			text = contentOf(node)
		case strings.HasPrefix(class, "property-row"):
			var cells []string
			for cell := range node.ChildNodes() {
				cells = append(cells, strings.TrimPrefix(textOf(cell), "@"))
			}
			if len(cells) == 2 && cells[1] != "" {
				properties = append(properties, strings.Join(cells, ": ")+"\n")
			}
		}
	}
	return "# " + title + "\n\n" + strings.Join(properties, "") + "\n" + text
}
