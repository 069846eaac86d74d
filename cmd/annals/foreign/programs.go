package foreign

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/markdown"
	"github.com/annals-kb/annals/http/body"
)

// Programs are the programs whose exports are read.
type Programs struct {
	// Decisions tells to read also single messages of Slack that say that they are a decision.
	Decisions bool
}

var _ markdown.Exports = Programs{}

func (Programs) Count(files fs.FS, name string) int {
	const whole = 2000 // more than all files that are looked at
	switch base := path.Base(name); {
	case path.Ext(name) == ".html" || notionTable.MatchString(base):
		return 1
	case base == "channels.json" && isSlack(files, path.Dir(name)):
		return whole
	}
	return 0
}

// Holds tells whether a file is a page, or JSON that is an export of memories.
func (Programs) Holds(name string) bool {
	if ext := strings.ToLower(path.Ext(name)); ext != ".json" && ext != ".af" {
		return ext == ".html"
	}
	read, err := os.ReadFile(name)
	if err != nil {
		return false
	}
	read, _ = io.ReadAll(body.UTF8(bytes.NewReader(read)))
	_, format, err := memories(read, func(string) {})
	return err == nil && format != ""
}

func (Programs) Reads(files fs.FS, name string) (is, covered bool) {
	ext := strings.ToLower(path.Ext(name))
	if ext == ".csv" && notionTable.MatchString(path.Base(name)) {
		is = isNotionTable(files, name)
		return is, !is
	}
	return slices.Contains([]string{".json", ".af", ".html"}, ext), false
}

func (Programs) Items(in *markdown.Input, name string, text []byte) ([]markdown.Item, error) {
	switch strings.ToLower(path.Ext(name)) {
	case ".csv":
		return notion(in, name, text)
	case ".html":
		return page(in, name, text)
	}
	all, format, err := memories(text, func(why string) { in.Leave(name, why) })
	if err == nil && format == "" {
		err = errors.New("is not of a program that is known")
	}
	return all, err
}

func (p Programs) Folder(
	in *markdown.Input, files fs.FS, name, above string, yield func(markdown.Item) error,
) (bool, error) {
	if !isSlack(files, name) {
		return false, nil
	}
	return true, slack(in, files, name, above, p.Decisions, yield)
}
