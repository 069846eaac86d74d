package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
)

const module = "github.com/annals-kb/annals/"

// background works beside the requests, when its timer says so: some of its functions run during one trace and not
// during the next.
const background = "database/checkpointer.go"

// function is one that was executed.
type function struct {
	name  string // with its receiver's type
	file  string // from the top of the module
	line  int
	calls []string // the names, without packages and receivers, that its body calls, in order
	seen  bool
}

// executed are the functions that a request executed.
type executed []*function

// executedIn reads the counters in dir and finds the functions with a block that ran, without those in background. It
// must run in the module's directory.
func executedIn(ctx context.Context, dir string) (executed, error) {
	text, err := exec.CommandContext(ctx, "go", "tool", "covdata", "textfmt", "-i", dir, "-o", "/dev/stdout").Output()
	if err != nil {
		return nil, fmt.Errorf("go tool covdata: %w", err)
	}
	ran := map[string][]int{} // the first lines of blocks that ran, by file
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		name, block, found := strings.Cut(lines.Text(), ":")
		if !found || !strings.HasPrefix(name, module) || strings.HasSuffix(block, " 0") {
			continue
		}
		var first int
		if _, err := fmt.Sscanf(block, "%d.", &first); err != nil {
			return nil, fmt.Errorf("read %q: %w", lines.Text(), err)
		}
		file := strings.TrimPrefix(name, module)
		if path.Dir(file) != "scripts/trace" && file != background {
			ran[file] = append(ran[file], first)
		}
	}
	var all executed
	for file, lines := range ran {
		list, err := functionsOf(file, lines)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b *function) int {
		return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	return all, nil
}

// functionsOf are the functions of a file that have any of these lines.
func functionsOf(file string, lines []int) (executed, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all executed
	for _, declaration := range parsed.Decls {
		f, is := declaration.(*ast.FuncDecl)
		if !is {
			continue
		}
		first, last := files.Position(f.Pos()).Line, files.Position(f.End()).Line
		if slices.ContainsFunc(lines, func(line int) bool { return first <= line && line <= last }) {
			all = append(all, &function{name: nameOf(f), file: file, line: first, calls: callsIn(f)})
		}
	}
	return all, nil
}

func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	for {
		switch t := receiver.(type) {
		case *ast.StarExpr:
			receiver = t.X
		case *ast.IndexExpr:
			receiver = t.X
		case *ast.IndexListExpr:
			receiver = t.X
		case *ast.Ident:
			return t.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

// callsIn are the functions and methods that a body names, whether it calls them or passes them on.
func callsIn(f *ast.FuncDecl) (names []string) {
	if f.Body == nil {
		return nil
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			names = append(names, n.Sel.Name)
		case *ast.Ident:
			names = append(names, n.Name)
		}
		return true
	})
	return names
}

// total counts functions and files.
func (e executed) total() limit {
	files := map[string]bool{}
	for _, f := range e {
		files[f.file] = true
	}
	return limit{functions: len(e), files: len(files)}
}

// print prints the functions, beginning with the server's entry, each below the first that names it. Functions that
// only an interface or another package calls come last.
func (e executed) print(out io.Writer) {
	byName := map[string][]*function{}
	for _, f := range e {
		name := f.name[strings.LastIndex(f.name, ".")+1:]
		byName[name] = append(byName[name], f)
	}
	var visit func(f *function, depth int)
	visit = func(f *function, depth int) {
		f.seen = true
		_, _ = fmt.Fprintf(out, "%s%s  %s:%d\n", strings.Repeat("  ", min(depth, 20)), f.name, f.file, f.line)
		for _, name := range f.calls {
			for _, called := range byName[name] {
				if !called.seen && (token.IsExported(name) || path.Dir(called.file) == path.Dir(f.file)) {
					visit(called, depth+1)
				}
			}
		}
	}
	entry := func(f *function) bool { return f.file == "http/server.go" }
	for _, first := range []bool{true, false} {
		for _, f := range e {
			if !f.seen && entry(f) == first {
				visit(f, 0)
			}
		}
	}
}
