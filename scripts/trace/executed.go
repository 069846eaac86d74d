package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
)

const module = "github.com/annals-kb/annals/"

// background works beside the requests, when its timer says so: some of its functions run during one trace and not
// during the next.
const background = "database/checkpointer.go"

// executed are the functions that a request executed, by file from the top of the module.
type executed map[string][]string

// executedIn reads the counters in dir, without those of this command and of background.
func executedIn(ctx context.Context, dir string) (executed, error) {
	text, err := exec.CommandContext(ctx, "go", "tool", "covdata", "func", "-i", dir).Output()
	if err != nil {
		return nil, fmt.Errorf("go tool covdata: %w", err)
	}
	all := executed{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		fields := strings.Fields(lines.Text()) // as in: example.com/log/append.go:12: Log.append 83.3%
		position, ours := strings.CutPrefix(fields[0], module)
		if !ours || len(fields) != 3 || fields[2] == "0.0%" {
			continue
		}
		file, _, _ := strings.Cut(position, ":")
		if path.Dir(file) != "scripts/trace" && file != background {
			all[file] = append(all[file], fields[1])
		}
	}
	return all, nil
}

// table is that of docs/architecture.md.
func (e executed) table() string {
	functions, files := map[string]int{}, map[string]int{}
	for file, names := range e {
		for _, row := range []string{"`" + path.Dir(file) + "`", "all"} {
			functions[row], files[row] = functions[row]+len(names), files[row]+1
		}
	}
	var table strings.Builder
	table.WriteString("| folder | functions | files |\n|---|---|---|\n")
	for _, row := range slices.Sorted(maps.Keys(files)) {
		_, _ = fmt.Fprintf(&table, "| %s | %d | %d |\n", row, functions[row], files[row])
	}
	return table.String()
}

// replaceIn replaces the table of a request in a page.
func (e executed) replaceIn(page, request string) string {
	table := regexp.MustCompile("(One warm `" + request + "` [^\n]*\n\n)(\\|[^\n]*\n)+")
	return table.ReplaceAllString(page, "${1}"+e.table())
}

// print prints the functions of a request by file, and their counts by folder.
func (e executed) print(out io.Writer, request string) {
	_, _ = fmt.Fprintf(out, "# %s\n", request)
	for _, file := range slices.Sorted(maps.Keys(e)) {
		_, _ = fmt.Fprintf(out, "%s  %d\n  %s\n", file, len(e[file]), strings.Join(e[file], "\n  "))
	}
	_, _ = fmt.Fprint(out, e.table())
}
