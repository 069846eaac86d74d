package markdown_test

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What is bad in an archive costs itself alone.
func TestABadEntryOfAnArchiveCostsItself(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, file := range [][2]string{
		{"README.md", "ascii"},
		{"\xb1\xca\xbc\xc7/\xb2\xbf\xca\xf0.md", "gbk"},
		{`win\dos.md`, "backslash"},
		{"win/", ""},
		{"same.md", "older"},
		{"same.md", "newer"},
		{"../up.md", "up"},
		{"/root.md", "root"},
		{"both", "file"},
		{"both/in.md", "inside"},
		{"secret.md", "encrypted"},
		{"bad.md", "damaged"},
		{"last.md", "last"},
	} {
		header := &zip.FileHeader{Name: file[0], Method: zip.Store}
		if file[1] == "encrypted" {
			header.Flags = 1
		}
		entry, err := w.CreateHeader(header)
		if err == nil {
			_, err = entry.Write([]byte(file[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Replace(b.Bytes(), []byte("damaged"), []byte("DAMAGED"), 1)
	for name, content := range map[string]string{
		"outer.zip": string(damaged), "nested.zip": zipped(t, map[string]string{"in.zip": string(damaged)}),
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		all, unread := read(t, path)
		var got []string
		for _, item := range all {
			got = append(got, item.Task+": "+item.Content)
		}
		slices.Sort(got)
		want := []string{"README: ascii", "dos: backslash", "in: inside", "last: last", "same: newer", "部署: gbk"}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
		for _, want := range []string{
			"same.md is in the archive more than once", "up.md is outside", "root.md is outside", "both has the name of a folder",
			"secret.md is encrypted", "bad.md cannot be read: zip: checksum error",
		} {
			if !strings.Contains(unread, want) {
				t.Errorf("%s: %s is missing in:\n%s", name, want, unread)
			}
		}
	}
}

func TestAnArchiveTooDeepInOthersSaysSo(t *testing.T) {
	inner := zipped(t, map[string]string{"deep.md": "x"})
	for range 5 {
		inner = zipped(t, map[string]string{"in.zip": inner, "a.md": "a"})
	}
	path := filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(path, []byte(inner), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, unread := read(t, path); len(all) != 4 || !strings.Contains(unread, "in.zip/in.zip/in.zip/in.zip is too deep in archives") {
		t.Error(len(all), unread)
	}
}
