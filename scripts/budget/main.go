package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

const (
	maxMethods   = 60 // reachable on a type: its own, and those of the types of this module that it embeds
	maxWords     = 30 // of a sentence
	maxSentences = 0
)

// support are the folders of what tests are made with.
var support = regexp.MustCompile(`(^|/)(databasetest|servertest|logtest|projectiontest|browsertest)/`)

// module begins the paths of imports of this module.
const module = "github.com/annals-kb/annals/"

// helpTexts is the page with the help of all commands.
const helpTexts = "cmd/annals/help.txt"

// measured has the counts, and where the largest are.
type measured struct {
	lines              map[string][3]int   // by room
	methods            map[string]int      // by folder and type
	embedded           map[string][]string // by folder and type: what it embeds of this module
	sentences, longest map[string]int      // by page: sentences over the limit, and the words of the longest
}

func main() {
	m := measured{
		lines: map[string][3]int{}, methods: map[string]int{}, embedded: map[string][]string{},
		sentences: map[string]int{}, longest: map[string]int{},
	}
	err := errors.Join(filepath.WalkDir(".", m.visit), m.print())
	if err != nil {
		fmt.Fprintln(os.Stderr, "budget:", err)
		os.Exit(1)
	}
}

// visit counts one file.
func (m *measured) visit(path string, entry fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if name := entry.Name(); entry.IsDir() && (name == "testdata" || name != "." && strings.HasPrefix(name, ".")) {
		return filepath.SkipDir
	}
	isPage := path == "README.md" || path == helpTexts || filepath.Dir(path) == "docs" && filepath.Ext(path) == ".md"
	if entry.IsDir() || filepath.Ext(path) != ".go" && !isPage {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if isPage {
		m.addSentences(path, string(text))
		return nil
	}
	room, _, _ := strings.Cut(filepath.ToSlash(path), "/")
	lines, isTest := m.lines[room], strings.HasSuffix(path, "_test.go")
	of := 0
	switch {
	case isTest:
		of = 2
	case support.MatchString(filepath.ToSlash(path)):
		of = 1
	}
	lines[of] += bytes.Count(text, []byte("\n"))
	m.lines[room] = lines
	if isTest {
		return nil
	}
	return m.addMethods(path, text)
}

// addMethods counts the methods of a file's types, and notes what the types embed.
func (m *measured) addMethods(path string, text []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	folder := filepath.ToSlash(filepath.Dir(path)) + "."
	folders := map[string]string{"": folder} // by the name of a package in this file
	for _, imported := range file.Imports {
		of, isOurs := strings.CutPrefix(strings.Trim(imported.Path.Value, `"`), module)
		name := of[strings.LastIndex(of, "/")+1:]
		if imported.Name != nil {
			name = imported.Name.Name
		}
		if isOurs {
			folders[name] = of + "."
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.FuncDecl:
			if n.Recv != nil {
				m.methods[nameOf(n.Recv.List[0].Type, folders)]++
			}
		case *ast.TypeSpec:
			structure, is := n.Type.(*ast.StructType)
			for i := 0; is && i < len(structure.Fields.List); i++ {
				if field := structure.Fields.List[i]; field.Names == nil {
					m.embedded[folder+n.Name.Name] = append(m.embedded[folder+n.Name.Name], nameOf(field.Type, folders))
				}
			}
		}
		return true
	})
	return nil
}

// nameOf is the folder and the name of a type; empty for a type of another module.
func nameOf(expression ast.Expr, folders map[string]string) string {
	switch e := expression.(type) {
	case *ast.StarExpr:
		return nameOf(e.X, folders)
	case *ast.IndexExpr:
		return nameOf(e.X, folders)
	case *ast.Ident:
		return folders[""] + e.Name
	case *ast.SelectorExpr:
		if of, isOurs := folders[fmt.Sprint(e.X)]; isOurs {
			return of + e.Sel.Name
		}
	}
	return ""
}

// reachable counts the methods of a type and of what it embeds.
func (m *measured) reachable(name string) int {
	reached := []string{name}
	count := 0
	for i := 0; i < len(reached); i++ {
		count += m.methods[reached[i]]
		for _, inner := range m.embedded[reached[i]] {
			if !slices.Contains(reached, inner) {
				reached = append(reached, inner)
			}
		}
	}
	return count
}

var (
	codeBlock   = regexp.MustCompile("(?s)```.*?```|(?m)^    .*$")
	code        = regexp.MustCompile("`[^`]*`")
	link        = regexp.MustCompile(`\]\([^)]*\)`)
	paragraphs  = regexp.MustCompile(`\n\s*\n|\n\s*(?:[*-]|\d+\.)\s|\n#|\||·|\n(?:--|<)|\n\S+ {2,}`)
	sentenceEnd = regexp.MustCompile(`[.!?]["”)*_]*(?:\s+|$)`)
)

// addSentences counts the sentences of a page that are too long. Inline code counts as one word. Tables, lists and
// headings end a sentence.
func (m *measured) addSentences(path, text string) {
	text = link.ReplaceAllString(code.ReplaceAllString(codeBlock.ReplaceAllString(text, "\n\n"), "code"), "]")
	for _, paragraph := range paragraphs.Split(text, -1) {
		for _, sentence := range sentenceEnd.Split(paragraph, -1) {
			words := len(strings.Fields(sentence))
			if m.longest[path] = max(m.longest[path], words); words > maxWords {
				m.sentences[path]++
			}
		}
	}
}

// print prints the figures, and returns an error for those beyond their limits.
func (m *measured) print() error {
	var failed []error
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	row := func(what string, value, limit int, where string) {
		_, _ = fmt.Fprintf(t, "%s\t%d\tat most %d\t%s\n", what, value, limit, where)
		if value > limit {
			failed = append(failed, fmt.Errorf("%s: %d is more than %d: %s", what, value, limit, where))
		}
	}
	for _, room := range slices.Sorted(maps.Keys(m.lines)) {
		for i, what := range []string{"product", "support of tests", "tests"} {
			if m.lines[room][i] > 0 {
				_, _ = fmt.Fprintf(t, "lines of %s, %s\t%d\n", room, what, m.lines[room][i])
			}
		}
	}
	largest := slices.MaxFunc(slices.Sorted(maps.Keys(m.methods)), func(a, b string) int {
		return cmp.Compare(m.reachable(a), m.reachable(b))
	})
	row("methods reachable on a type", m.reachable(largest), maxMethods, "most on "+largest)
	sentences := 0
	for _, count := range m.sentences {
		sentences += count
	}
	longest := slices.MaxFunc(slices.Collect(maps.Keys(m.longest)), func(a, b string) int {
		return cmp.Compare(m.longest[a], m.longest[b])
	})
	row(fmt.Sprintf("sentences over %d words", maxWords), sentences, maxSentences, "longest in "+longest)
	return errors.Join(t.Flush(), errors.Join(failed...))
}
