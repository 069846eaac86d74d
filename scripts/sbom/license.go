package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"golang.org/x/mod/module"
)

// phrases identify licences. A text has the first licence whose phrases it all contains.
var phrases = []struct {
	id  string
	all []string
}{
	{"Apache-2.0", []string{"apache license", "version 2.0"}},
	{"MPL-2.0", []string{"mozilla public license", "2.0"}},
	{"MIT", []string{"permission is hereby granted, free of charge"}},
	{"ISC", []string{"permission to use, copy, modify, and", "distribute this software for any purpose"}},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "neither the name"}},
	{"BSD-2-Clause", []string{"redistribution and use in source and binary forms"}},
	{"Unlicense", []string{"this is free and unencumbered software"}},
}

// identify names the licence of a text; empty if it is none of those.
func identify(text string) string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, license := range phrases {
		fits := true
		for _, phrase := range license.all {
			fits = fits && strings.Contains(text, phrase)
		}
		if fits {
			return license.id
		}
	}
	return ""
}

// licenseOf looks the licence of a module up in the module cache.
func licenseOf(cache string, m debug.Module) (string, error) {
	path, err := module.EscapePath(m.Path)
	if err != nil {
		return "", err
	}
	version, err := module.EscapeVersion(m.Version)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, filepath.FromSlash(path)+"@"+version)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("%s is not in the module cache: %w", m.Path, err)
	}
	for _, entry := range entries {
		name := strings.ToUpper(entry.Name())
		if entry.IsDir() || !strings.HasPrefix(name, "LICENSE") && !strings.HasPrefix(name, "LICENCE") &&
			!strings.HasPrefix(name, "COPYING") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return "", err
		}
		if id := identify(string(text)); id != "" {
			return id, nil
		}
	}
	return "", fmt.Errorf("nobody knows the licence of %s: look at %s", m.Path, dir)
}
