package client_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The example in docs/agents.md is run as somebody who copies it would, in a program with nothing around it.
func TestTheExampleInTheDocsRuns(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "\n```go\n")
	example, _, closed := strings.Cut(example, "\n```\n")
	_, promised, commented := strings.Cut(example, "hit.Knowledge.Content) // ")
	promised, _, _ = strings.Cut(promised, "\n")
	if !closed || !commented || promised == "" {
		t.Fatalf("docs/agents.md has no example that says what it prints:\n%s", example)
	}
	url, stop := serve()
	defer stop()
	example = strings.ReplaceAll(example, "http://127.0.0.1:1933", url)
	directory := t.TempDir()
	program := "package main\n\nimport " +
		"(\n\"context\"\n\"fmt\"\n\"log\"\n\n\"github.com/annals-kb/annals/http/client\"\n)\n\nfunc main() {\nctx := context.Background()\n" + example + "\n}\n"
	if err := os.WriteFile(filepath.Join(directory, "main.go"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	printed, err := exec.CommandContext(t.Context(), "go", "run", filepath.Join(directory, "main.go")).CombinedOutput()
	if err != nil || strings.TrimSpace(string(printed)) != promised {
		t.Errorf("%v: %s, not %q", err, printed, promised)
	}
}
