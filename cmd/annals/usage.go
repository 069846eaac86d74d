package main

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// misuse turns what kong says about the command line into a failure with a fix. What a command or
// a flag of ours says goes before it.
func misuse(err error) error {
	fix := "annals --help lists the commands"
	if parsing, ok := errors.AsType[*kong.ParseError](err); ok {
		if node := parsing.Context.Selected(); node != nil {
			fix = node.FullPath() + " --help shows how"
			if len(node.Positional) > 0 && strings.HasPrefix(err.Error(), "unexpected argument") {
				fix = "several words that belong together need quotes; " + fix
			}
		}
	}
	if f, ok := errors.AsType[*failure](err); ok {
		ours := *f
		ours.Fix = cmp.Or(f.Fix, fix)
		return &ours
	}
	return &failure{Code: exitUsage, Detail: inOurWords(err.Error()), Fix: fix}
}

// kongSays tells what people read in its place. The value that was given is left out:
// it may be a secret.
var kongSays = []struct {
	kong *regexp.Regexp
	ours string
}{
	{regexp.MustCompile(`^expected "(<.*>.*)"$`), "$1 is missing"},
	{regexp.MustCompile(`^expected one of (.*)$`), "say which: $1"},
	{regexp.MustCompile(`^(--\S+): expected .* \(short flag\); perhaps try .*$`), "$1 needs a value; one that begins with - is written $1=-…"},
	{regexp.MustCompile(`^(--\S+): (?:expected \S+ value but got|missing value).*$`), "$1 needs a value"},
	{regexp.MustCompile(`^(--\S+): bool value must be .*$`), "$1 must be true or false"},
	{regexp.MustCompile(`^(--\S+) must be one of (.*) but got .*$`), "$1 must be one of $2"},
	{regexp.MustCompile(`(?s)^--\S+: (.*) \(from envar (\w+)=.*\)$`), "$2 in the environment: $1"},
}

var (
	apart  = regexp.MustCompile(`",\s*"`)
	quoted = regexp.MustCompile(`"([^"]*)"`)
)

func inOurWords(said string) string {
	for _, p := range kongSays {
		if p.kong.MatchString(said) {
			said = p.kong.ReplaceAllString(said, p.ours)
			return quoted.ReplaceAllString(apart.ReplaceAllString(said, ", "), "$1")
		}
	}
	return said
}

// asksForJSON tells whether the words do, which the parser does not where it stumbles before.
func asksForJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.ContainsFunc(args, func(arg string) bool {
		given, json := strings.CutPrefix(arg, "--json")
		return json && (given == "" || given == "=true")
	})
}
