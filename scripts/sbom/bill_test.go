package main

import (
	"bytes"
	"encoding/json"
	"os"
	"runtime/debug"
	"strings"
	"testing"
)

// The program that is looked at is this test.
func TestAProgramIsListedWithEverythingThatIsInIt(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	if err := run(program, &first); err != nil {
		t.Fatal(err)
	}
	if err := run(program, &second); err != nil || first.String() != second.String() {
		t.Errorf("a second list differs, %v", err)
	}
	var b bill
	if err := json.Unmarshal(first.Bytes(), &b); err != nil {
		t.Fatal(err)
	}
	info, _ := debug.ReadBuildInfo()
	if got, want := len(b.Components), 1+len(info.Deps); got != want {
		t.Errorf("got %d components, want the standard library and %d modules", got, want-1)
	}
	found := false
	for _, c := range b.Components {
		if c.Version == "" || len(c.Licenses) != 1 || c.Licenses[0].License.ID == "" ||
			!strings.HasPrefix(c.PURL, "pkg:golang/"+c.Name+"@") {
			t.Errorf("got %+v", c)
		}
		found = found || c.Name == "golang.org/x/mod" && c.Licenses[0].License.ID == "BSD-3-Clause" &&
			strings.HasPrefix(c.Properties[0].Value, "h1:")
	}
	if !found {
		t.Errorf("golang.org/x/mod is missing in %s", first.String())
	}
	if b.Format != "CycloneDX" || b.Metadata.Component.Type != "application" {
		t.Errorf("got %+v", b.Metadata)
	}
}

func TestLicencesAreToldApart(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Apache License\n   Version 2.0, January 2004":                                                       "Apache-2.0",
		"Permission is hereby granted,\nfree of charge, to any person":                                       "MIT",
		"Redistribution and use in source and\nbinary forms … Neither the name of the author":                "BSD-3-Clause",
		"Redistribution and use in source and binary forms":                                                  "BSD-2-Clause",
		"Permission to use, copy, modify, and distribute this software for any purpose with or without fee":  "ISC",
		"Permission to use, copy, modify, and/or distribute this software for any purpose is hereby granted": "ISC",
		"Mozilla Public License Version 2.0":                                                                 "MPL-2.0",
		"All rights reserved.":                                                                               "",
	} {
		if got := identify(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
