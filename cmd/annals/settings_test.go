package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var setting = regexp.MustCompile(`(?:env:"|Getenv\("|LookupEnv\(")((?:ANNALS|DATABASE|OPENAI|ARK)_[A-Z0-9_,]+)"`)

func TestEverySettingIsInTheREADME(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range setting.FindAllStringSubmatch(string(source), -1) {
			for name := range strings.SplitSeq(match[1], ",") {
				if found++; !strings.Contains(string(readme), "`"+name+"`") {
					t.Errorf("%s reads %s, of which the README says nothing", file, name)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("found %d settings, where are the others?", found)
	}
}
