package main

import (
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

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
