package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/servertest"
)

// completed are the candidates for the last of the words, without their descriptions.
func completed(t *testing.T, words ...string) []string {
	t.Helper()
	var out bytes.Buffer
	c := &terminal.Console{Out: &out, Err: &out}
	parser, err := newParser(&grammar{}, c, func(int) {}, "")
	if err != nil {
		t.Fatal(err)
	}
	complete(t.Context(), c, parser.Model, words)
	var found []string
	for line := range strings.Lines(out.String()) {
		word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		found = append(found, word)
	}
	return found
}

func TestCompletionOffersWhatFits(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"re":                              {"remember", "revise", "restore", "review", "report", "receipt", "rebuild", "replay", "release"},
		"rebuild ":                        {"knowledge"},
		"export ":                         {"knowledge", "files", "markdown", "log"},
		"feedback some-id ":               {"helpful", "harmful"},
		"feedback some-id --trace x ":     {"helpful", "harmful"},
		"feedback some-id --trace ":       nil,
		"feedback some-id --retract h":    {"helpful", "harmful"},
		"context ":                        {"start", "focus", "query", "analysis"},
		"search question --order s":       {"score"},
		"search question --order = s":     {"score"},
		"search question --order=s":       {"--order=score"},
		"remember text --type st":         {"strategy"},
		"remember text -t x --type=def":   {"--type=definition"},
		"import --upd":                    {"--update"},
		"import ":                         {filesPlease},
		"export log --output ":            {filesPlease},
		"completion f":                    {"fish"},
		"search question --is":            {"--is-stale"},
		"get some-id ":                    nil,
		"nonsense --type ":                nil,
		"revise some-id --polarity neg":   {"negative"},
		"import file --server http://x -": completed(t, "import", "-"),
	} {
		servertest.Same(t, completed(t, strings.Split(line, " ")...), want, line)
	}
}

func TestEveryCommandTeachesByExample(t *testing.T) {
	t.Parallel()
	parser, err := newParser(&grammar{}, &terminal.Console{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, func(int) {}, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Leaves(true) {
		if !strings.Contains(command.Detail, "annals "+command.Path()) {
			t.Errorf("annals %s --help shows no example of itself", command.Path())
		}
		if command.Help == "" {
			t.Errorf("annals %s does not say what it does", command.Path())
		}
		for _, argument := range command.Positional {
			if argument.Help == "" {
				t.Errorf("annals %s <%s> does not say what it is", command.Path(), argument.Name)
			}
		}
		for _, flag := range command.Flags {
			if flag.Help == "" {
				t.Errorf("annals %s --%s does not say what it does", command.Path(), flag.Name)
			}
		}
	}
}
