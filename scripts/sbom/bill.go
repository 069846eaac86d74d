package main

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime/debug"
	"strings"
)

// bill is a CycloneDX document. It has no time and no serial number: the same program has the same bill.
type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl"`
	Licenses   []licensed `json:"licenses,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type licensed struct {
	License struct {
		ID string `json:"id"` // in SPDX
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// billOf lists the modules of a program. An unknown licence is an error, so that a person looks at it.
func billOf(info *debug.BuildInfo, cache string) (bill, error) {
	if info.Main.Version == "(devel)" { // the revision says more
		info.Main.Version = "devel"
	}
	own := componentOf("application", info.Main, "Apache-2.0")
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" || s.Key == "GOOS" || s.Key == "GOARCH" {
			own.Properties = append(own.Properties, property{"go:" + s.Key, s.Value})
		}
	}
	b := bill{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{own}}
	std := debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}
	b.Components = append(b.Components, componentOf("library", std, "BSD-3-Clause"))
	var unknown []error
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		license, err := licenseOf(cache, *module)
		if err != nil {
			unknown = append(unknown, err)
			continue
		}
		b.Components = append(b.Components, componentOf("library", *module, license))
	}
	return b, errors.Join(unknown...)
}

func componentOf(kind string, module debug.Module, license string) component {
	purl := fmt.Sprintf("pkg:golang/%s@%s", module.Path, module.Version)
	c := component{
		Type: kind, Ref: purl, Name: module.Path, Version: module.Version, PURL: purl,
		Licenses: make([]licensed, 1),
	}
	c.Licenses[0].License.ID = license
	if module.Sum != "" {
		c.Properties = append(c.Properties, property{"go:sum", module.Sum})
	}
	return c
}

// moduleCache is the directory of the module cache.
func moduleCache() (string, error) {
	where, err := exec.Command("go", "env", "GOMODCACHE").Output() //nolint:noctx // ends at once
	if err != nil {
		return "", fmt.Errorf("ask go where its modules are: %w", err)
	}
	return strings.TrimSpace(string(where)), nil
}
