package main

import (
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
	"testing"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/servertest"
)

// root is the project's directory, as seen from this one.
const root = "../.."

func written(t *testing.T, name string) string {
	content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// pages are the names of everything written for people.
func pages(t *testing.T) []string {
	var names []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && name != "." &&
			(strings.HasPrefix(name, ".") || name == "data" || entry.Name() == "node_modules") {
			return fs.SkipDir
		}
		if strings.HasSuffix(name, ".md") {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestConfigurationNamesEverySettingAndNoOther(t *testing.T) {
	t.Parallel()
	setting := regexp.MustCompile(`\b(ANNALS_[A-Z_]+|DATABASE_URL|[A-Z]+_API_KEY)\b`)
	_, table, _ := strings.Cut(written(t, "docs/configuration.md"), "\n## Settings\n")
	table, _, _ = strings.Cut(table, "\n## ")
	named := map[string]bool{}
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 1 {
			for _, name := range setting.FindAllString(cells[1], -1) {
				named[name] = true
			}
		}
	}
	known := map[string]bool{}
	for _, command := range []string{"serve", "search"} {
		for _, name := range setting.FindAllString(helpOf(t, command), -1) {
			known[name] = true
		}
	}
	for _, read := range regexp.MustCompile(`(?:env:|Getenv\()"([^"]+)"`).FindAllStringSubmatch(sources(t), -1) {
		for _, name := range setting.FindAllString(read[1], -1) {
			known[name] = true
		}
	}
	servertest.Same(t, slices.Sorted(maps.Keys(named)), slices.Sorted(maps.Keys(known)), "docs/configuration.md")
}

// sources is the text of the program's packages.
func sources(t *testing.T) string {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	inFolders, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, inFolders...)
	var all strings.Builder
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	return all.String()
}

func helpOf(t *testing.T, command string) string {
	var said strings.Builder
	c := &terminal.Console{Out: &said, Err: &said, Styled: &said, Width: 100}
	if code := run(t.Context(), append(strings.Fields(command), "--help"), c); code != terminal.ExitOK {
		t.Fatalf("annals %s --help: exit code %d", command, code)
	}
	return said.String()
}

func TestDocsNameOnlyTargetsThatMakeHas(t *testing.T) {
	t.Parallel()
	makefile := written(t, "Makefile")
	for _, name := range pages(t) {
		for _, target := range regexp.MustCompile("(?m)(?:`|^\\$ )make ([a-z-]+)").FindAllStringSubmatch(written(t, name),
			-1) {
			if !regexp.MustCompile(`(?m)^` + target[1] + `:.* ## `).MatchString(makefile) {
				t.Errorf("%s names make %s, which there is not", name, target[1])
			}
		}
	}
}

func TestDocsNameOnlyCommandsAndFlagsThatExist(t *testing.T) {
	t.Parallel()
	helps := map[string]string{}
	for _, name := range pages(t) {
		for _, line := range regexp.MustCompile("(?m)(?:`|^(?:\\$ )?)(?:bin/)?annals ([a-z][^`\n|<>\\\\]*)(?:[`|<>]|$)").FindAllStringSubmatch(written(t, name), -1) {
			words := strings.Fields(line[1])
			command := words[0]
			if slices.Contains([]string{
				"export", "key", "proof", "session", "tenant", "scrub", "report", "directory", "member", "user", "agent", "team",
				"project", "org", "policy", "subscription", "receipt",
			}, command) && len(words) > 1 && words[1] != "…" {
				if !strings.HasPrefix(words[1], "-") {
					command += " " + words[1]
				} else if command == "scrub" {
					command += " recorded" // its first word can be left out
				}
			}
			if command == "contain" && (len(words) < 2 || !slices.Contains([]string{"list", "show", "release"}, words[1])) {
				command += " apply" // likewise
			} else if command == "contain" {
				command += " " + words[1]
			}
			if helps[command] == "" {
				helps[command] = helpOf(t, command)
			}
			for _, flag := range regexp.MustCompile(`\s(--[a-z-]+)`).FindAllStringSubmatch(line[1], -1) {
				if !strings.Contains(helps[command], flag[1]) {
					t.Errorf("%s: annals %s does not know %s", name, command, flag[1])
				}
			}
		}
	}
}

func TestTroubleshootingExplainsEveryMetricAndNoOther(t *testing.T) {
	t.Parallel()
	r := newReader(t, databasetest.SQLite(t))
	r.types(`echo '{"id":"one","type":"tool","content":"a thing"}' | bin/annals import -`)
	r.types(`bin/annals remember 'another thing' --id one || test $? = 4`)
	metric := regexp.MustCompile(`(?m)(?:^# TYPE |\x60)(annals_[a-z_]+)`)
	sometimes := map[string]bool{
		"annals_rebuild_done": true, "annals_rebuild_behind_events": true, // while one runs
		"annals_backup_newest_timestamp_seconds": true, // with a schedule
		"annals_replica_lag_seconds":             true, // on a standby
		"annals_quota_refused_total":             true, // with quotas
	}
	for _, health := range []string{"items", "verified", "stale", "contested", "overdue", "unowned", "median_age_days"} {
		sometimes["annals_scope_"+health] = true // once a group has items
	}
	sets := [2]map[string]bool{sometimes, {}}
	for i, text := range []string{r.get("/metrics"), written(t, "docs/troubleshooting.md")} {
		for _, name := range metric.FindAllStringSubmatch(text, -1) {
			sets[i][name[1]] = true
		}
	}
	servertest.Same(t, slices.Sorted(maps.Keys(sets[1])), slices.Sorted(maps.Keys(sets[0])), "docs/troubleshooting.md")
}

func TestDocsLinkToWhatIsThere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, name := range pages(t) {
		for _, found := range link.FindAllStringSubmatch(written(t, name), -1) {
			target, heading, _ := strings.Cut(found[1], "#")
			if strings.Contains(target, ":") {
				continue // somewhere else
			}
			if target == "" {
				target = filepath.Base(name)
			}
			target = filepath.Join(filepath.Dir(name), target)
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s links to %s: %v", name, found[1], err)
			} else if heading != "" && !slices.Contains(headings(written(t, target)), heading) {
				t.Errorf("%s links to %s, and there is no such heading", name, found[1])
			}
		}
	}
}

// headings are the names that a page's headings have in links.
func headings(page string) []string {
	var names []string
	for line := range strings.Lines(page) {
		if title, isHeading := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); isHeading && strings.HasPrefix(line,
			"#") {
			title = regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			names = append(names, strings.ReplaceAll(title, " ", "-"))
		}
	}
	return names
}

func TestTheArchitecturePageNamesFilesAndWhatIsInThem(t *testing.T) {
	t.Parallel()
	_, table, _ := strings.Cut(written(t, "docs/architecture.md"), "\n## Where is …?\n")
	rows := regexp.MustCompile("(?m)^\\| .+\\? \\| `(.+)` \\| `(.+)` \\|$").FindAllStringSubmatch(table, -1)
	servertest.Same(t, len(rows), 46)
	for _, row := range rows {
		file, err := parser.ParseFile(token.NewFileSet(), row[1], written(t, row[1]), parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(file.Decls, func(d ast.Decl) bool { return declares(d, row[2]) }) {
			t.Errorf("%s declares no %s", row[1], row[2])
		}
	}
}

// declares tells whether a declaration at top level is of a name.
func declares(d ast.Decl, name string) bool {
	if function, is := d.(*ast.FuncDecl); is {
		return function.Name.Name == name
	}
	return slices.ContainsFunc(d.(*ast.GenDecl).Specs, func(s ast.Spec) bool {
		switch s := s.(type) {
		case *ast.TypeSpec:
			return s.Name.Name == name
		case *ast.ValueSpec:
			return slices.ContainsFunc(s.Names, func(n *ast.Ident) bool { return n.Name == name })
		}
		return false
	})
}
