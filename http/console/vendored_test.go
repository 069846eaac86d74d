package console_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestAllAssetsAreSmall(t *testing.T) {
	t.Parallel()
	const most = 60_000 // bytes, compressed
	files, err := filepath.Glob("assets/*.*s*")
	if err != nil || len(files) < 6 {
		t.Fatalf("assets: %v, %v", files, err)
	}
	var all bytes.Buffer
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		compressed := gzip.NewWriter(&all)
		if _, err := compressed.Write(content); err != nil || compressed.Close() != nil {
			t.Fatal(err)
		}
	}
	if all.Len() > most {
		t.Errorf("all assets have %d bytes, want at most %d", all.Len(), most)
	}
	t.Logf("%d bytes", all.Len())
}

// Files of others are those of their npm packages, byte by byte. Tests alone use axe-core.
func TestVendoredFilesAreUnchanged(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		// htmx.org 4.0.1
		"assets/htmx.min.js":  "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130",
		"assets/htmx.LICENSE": "d3d2456f76414f2456104660ebd65aff1c04cd7966b942bdabd63f3cdb316a38",
		// axe-core 4.14.1
		"browsertest/testdata/axe.min.js":            "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c",
		"browsertest/testdata/axe.LICENSE":           "af175b9d96ee93c21a036152e1b905b0b95304d4ae8c2c921c7609100ba8df7e",
		"browsertest/testdata/axe.LICENSE-3RD-PARTY": "4f8563870d0fca38bbc3e00b6f670cb7fa9f380ba9f26a7f7d1184a6b18b1653",
	} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(content)); got != want {
			t.Errorf("%s has SHA-256 %s, want %s", file, got, want)
		}
	}
}
