package main

import (
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// noted lets a variable be what the first group of an expression finds in what was printed.
func noted(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 2, "noted NAME EXPRESSION")
	found := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) < 2 {
		ts.Fatalf("%q finds nothing in %q", args[1], ts.ReadFile("stdout"))
	}
	ts.Setenv(args[0], found[1])
}

// keep lets NAME be the key that was printed last, and NAME_PREFIX its prefix.
func keep(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 1, "keep NAME")
	key := regexp.MustCompile("annals_[a-z0-9]+_[a-z0-9]+").FindString(ts.ReadFile("stdout"))
	parts := strings.Split(key, "_")
	if len(parts) != 3 {
		ts.Fatalf("there is no key in %q", ts.ReadFile("stdout"))
	}
	ts.Setenv(args[0], key)
	ts.Setenv(args[0]+"_PREFIX", parts[1])
}
