package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain"
)

// A literal such as "key:", "learning:rule" or 'key;' in SQL repeats what a kind of streams declares. Texts for people
// have the form knowledge:ID.
func TestNoKindOfStreamsIsWrittenTwice(t *testing.T) {
	t.Parallel()
	var names []string
	for _, kind := range domain.StreamKinds {
		if slices.Contains(names, kind.Name) {
			t.Errorf("%s is declared twice", kind.Name)
		}
		names = append(names, kind.Name)
	}
	prefix := regexp.MustCompile(`(^|['"])(` + strings.Join(names, "|") + `)[:;]([^A-Z /]|$)`)
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		room := strings.Split(filepath.ToSlash(path), "/")
		if entry.IsDir() && (strings.HasSuffix(path, "test") || len(room) == 3 && room[2] == "scripts") {
			return filepath.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field: // its tag is documentation
				n.Tag = nil
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && prefix.MatchString(text) {
					t.Errorf("%s: %s writes a kind of streams again: derive it from domain.StreamKinds", files.Position(n.Pos()), n.Value)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
