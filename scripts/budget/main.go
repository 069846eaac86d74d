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

// The limits.
const (
	// 72,000 are wanted, 4,500 for the console, 5,000 for people and stewardship, which have 11,000.
	maxLines     = 110_200 // of Go without tests
	maxTestLines = 53_800  // 34,000 are wanted, and those of the console
	maxFiles     = 45      // in a folder, without tests
	maxMethods   = 25      // of a type; the suite of events/logtest is a test
	maxHandlers  = 60      // of the two HTTP servers
	maxFileLines = 430
	maxWords     = 30 // of a sentence
	maxSentences = 0
)

// helpTexts is the page with the help of all commands.
const helpTexts = "cmd/annals/help.txt"

// measured has the counts, and where the largest are.
type measured struct {
	lines, testLines   int
	files, methods     map[string]int // by folder, and by folder and type
	fileLines          map[string]int
	sentences, longest map[string]int // by page: sentences over the limit, and the words of the longest
}

func main() {
	m := measured{
		files: map[string]int{}, methods: map[string]int{}, fileLines: map[string]int{}, sentences: map[string]int{},
		longest: map[string]int{},
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
	lines := bytes.Count(text, []byte("\n"))
	switch {
	case isPage:
		m.addSentences(path, string(text))
	case strings.HasSuffix(path, "_test.go"):
		m.testLines += lines
	default:
		m.lines += lines
		m.files[filepath.Dir(path)]++
		m.fileLines[path] = lines
		return m.addMethods(path, text)
	}
	return nil
}

func (m *measured) addMethods(path string, text []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, declaration := range file.Decls {
		method, is := declaration.(*ast.FuncDecl)
		if !is || method.Recv == nil {
			continue
		}
		receiver := method.Recv.List[0].Type
		if pointer, is := receiver.(*ast.StarExpr); is {
			receiver = pointer.X
		}
		if generic, is := receiver.(*ast.IndexExpr); is {
			receiver = generic.X
		}
		if name, is := receiver.(*ast.Ident); is {
			m.methods[filepath.Dir(path)+"."+name.Name]++
		}
	}
	return nil
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
	largest := func(what string, counts map[string]int, limit int) {
		names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
			return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
		})
		if len(names) > 0 {
			row(what, counts[names[0]], limit, strings.Join(names[:min(3, len(names))], " "))
		}
	}
	row("lines of Go", m.lines, maxLines, "")
	row("lines of tests", m.testLines, maxTestLines, "")
	largest("files in a folder", m.files, maxFiles)
	delete(m.methods, "events/logtest.world")
	servers := map[string]int{}
	for name, count := range m.methods {
		if name == "http.Server" || name == "http/viking.Server" {
			servers[name] = count
			delete(m.methods, name)
		}
	}
	largest("methods of an HTTP server", servers, maxHandlers)
	largest("methods of a type", m.methods, maxMethods)
	largest("lines of a file", m.fileLines, maxFileLines)
	sentences := 0
	for _, count := range m.sentences {
		sentences += count
	}
	row(fmt.Sprintf("sentences over %d words", maxWords), sentences, maxSentences, "")
	largest("words of a sentence", m.longest, 1000)
	return errors.Join(t.Flush(), errors.Join(failed...))
}
