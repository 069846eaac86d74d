package main

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/annals-kb/annals/http/servertest"
)

var listedModule = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

func TestEveryDependencyIsListedWithItsReason(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	var required, listed []string
	for _, r := range parsed.Require {
		if !r.Indirect {
			required = append(required, r.Mod.Path)
		}
	}
	page, err := os.ReadFile("../../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range listedModule.FindAllStringSubmatch(string(page), -1) {
		listed = append(listed, row[1])
	}
	slices.Sort(required)
	slices.Sort(listed)
	servertest.Same(t, listed, required, "docs/dependencies.md does not list what go.mod requires")
}
