package main

import (
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// keep lets NAME be the key that was printed last, and NAME_PREFIX its prefix.
func keep(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 1, "keep NAME")
	key := strings.TrimSpace(ts.ReadFile("stdout"))
	parts := strings.Split(key, "_")
	if len(parts) != 3 {
		ts.Fatalf("%q is no key", key)
	}
	ts.Setenv(args[0], key)
	ts.Setenv(args[0]+"_PREFIX", parts[1])
}
