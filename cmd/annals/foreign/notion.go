package foreign

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"

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

// notion reads the rows of a database: the first column is the title.
func notion(in *markdown.Input, file string, text []byte) ([]markdown.Item, error) {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, errors.New("is no table that can be read")
	}
	name := notionTable.FindStringSubmatch(path.Base(file))[1]
	var all []markdown.Item
	for _, row := range rows[1:] {
		item := markdown.Item{ID: in.ID(file, row[0]), Type: "definition", Tags: tagsOf("folder", path.Dir(file))}
		item.Task = strings.TrimSpace(name + ": " + row[0])
		var lines []string
		for i, value := range row {
			if value != "" {
				lines = append(lines, rows[0][i]+": "+value)
			}
			if key := strings.ToLower(rows[0][i]); item.OccurredAt == nil && strings.Contains(key, "date") || key == "created" {
				from, _, _ := strings.Cut(value, " → ")
				item.OccurredAt = markdown.ParseDate(from)
			}
		}
		item.Content = strings.Join(lines, "\n")
		all = append(all, item)
	}
	return all, nil
}
