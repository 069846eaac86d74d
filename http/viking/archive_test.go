package viking_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// entry is a file of an archive: a link, if its name begins with @.
type entry struct{ name, content string }

// zipped is an archive of some files.
func zipped(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for _, e := range entries {
		name, isLink := strings.CutPrefix(e.name, "@")
		header := &zip.FileHeader{Name: name, Method: zip.Deflate}
		if isLink {
			header.SetMode(0o777 | fs.ModeSymlink)
		}
		w, err := archive.CreateHeader(header)
		if err == nil {
			_, err = w.Write([]byte(e.content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (w *world) reads(uri, want string) {
	w.t.Helper()
	same[any](w.t, w.read(uri), want, uri)
}

func TestAnUploadedArchiveIsADirectory(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		license := "# Terms\n\n" + strings.Repeat("You may use, copy and change it.\n\n## More\n\n", 1000)
		archive := zipped(t,
			entry{"docs/", ""},
			entry{"docs/guide.md", "# Guide\n\nPin chromedriver."},
			entry{"docs/übersicht.txt", "\xfcber alle"},
			entry{"docs/wide.txt", "\xff\xfew\x00i\x00d\x00e\x00"},
			entry{"README", "Read me first."},
			entry{"Dockerfile", "FROM debian\n"},
			entry{"docs/Makefile", "all:\n\tgo build\n"},
			entry{"LICENSE", license},
			entry{`.\cmd\main.v2.go`, "package main"},
			entry{"\xd6\xb8\xc4\xcf.csv", "a,b"},
			entry{"empty.txt", ""},
			entry{"table.xlsx", "PK\x03\x04"},
			entry{"slides.pptx", "PK\x03\x04"},
			entry{"book.epub", "PK\x03\x04"},
			entry{"chinese.txt", "\xcf\xc8\xb0\xb2\xd7\xb0\xd4\xd9\xd4\xcb\xd0\xd0\xa1\xa3"},
			entry{"photo.png", "\x89PNG\r\n\x1a\n\x00"},
			entry{"@docs/latest.md", "guide.md"},
			entry{"__MACOSX/docs/._guide.md", "x"},
			entry{".git/config", "x"},
			entry{"node_modules/x.md", "x"},
		)
		id := w.upload("tmp1234.zip", "application/zip", archive)
		got := w.ask("POST", "/api/v1/resources", object{"temp_file_id": id, "source_name": "team handbook 1.2", "ignore_dirs": "node_modules"}).object()
		const root = "viking://resources/team_handbook_1_2"
		like(t, got, object{"root_uri": root, "status": "success"})
		var left []string
		for _, said := range got["errors"].([]any) {
			left = append(left, said.(string))
		}
		slices.Sort(left)
		want := []string{
			"book.epub was kept unread: files of this kind are not read",
			"chinese.txt was kept unread: it is no text, or in an encoding that is not known",
			"docs/latest.md was left out: it is a link, or no file",
			"slides.pptx was kept unread: files of this kind are not read",
			"table.xlsx was kept unread: files of this kind are not read",
		}
		same(t, left, want, "could not be read")
		like(t, w.ask("POST", "/api/v1/search/glob", object{"pattern": "**/*.go", "uri": root}).object(),
			object{"matches": []any{root + "/cmd/main.v2.go"}})
		for name, says := range map[string]string{
			"cmd/main.v2.go": "package main", "指南.csv": "a,b",
			"docs/guide/guide.md": "# Guide\n\nPin chromedriver.", "docs/übersicht.txt": "über alle", "docs/wide.txt": "wide",
			"README": "Read me first.", "empty.txt": "", "Dockerfile": "FROM debian\n", "docs/Makefile": "all:\n\tgo build\n",
			"LICENSE": license,
		} {
			w.reads(root+"/"+name, says)
		}
		same(t, string(w.ask("GET", at("/api/v1/content/download", root+"/table/table.xlsx"), nil).want(http.StatusOK).body),
			"PK\x03\x04")
		if hits := w.find(object{"query": "pin chromedriver", "target_uri": root}); len(found(hits, "resources")) == 0 {
			t.Errorf("found %v", hits)
		}
		narrowed := w.upload("x.zip", "", archive)
		w.ask("POST", "/api/v1/resources", object{"temp_file_id": narrowed, "to": root, "include": "*.md", "exclude": "latest*", "ignore_dirs": "node_modules"}).object()
		same(t, w.simple(root), []any{"docs", "docs/guide", "docs/guide/guide.md"})
	})
}

func TestAFileIsNamedByItsSource(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		for source, want := range map[string]string{"notes/plan.md": "plan/plan.md", "plan b": "plan_b/plan_b.md"} {
			added := w.ask("POST", "/api/v1/resources", object{"temp_file_id": w.upload("tmp5678.md", "", []byte("the plan")), "source_name": source}).object()
			like(t, added, object{"source_path": source})
			w.reads("viking://resources/"+want, "the plan")
		}
	})
}

func TestAnArchiveThatIsNotSafeIsRefused(t *testing.T) {
	good := zipped(t, entry{"a.md", strings.Repeat("good text ", 100)})
	damaged := bytes.Clone(good)
	damaged[60] ^= 0xff // in the middle of what it says
	encrypted := bytes.Clone(good)
	for _, mark := range []string{"PK\x03\x04", "PK\x01\x02"} {
		at := bytes.Index(encrypted, []byte(mark))
		encrypted[at+len(mark)+map[string]int{"PK\x03\x04": 2, "PK\x01\x02": 4}[mark]] |= 1
	}
	many := make([]entry, 10_001)
	for i := range many {
		many[i] = entry{fmt.Sprintf("%d.md", i), "x"}
	}
	var bomb bytes.Buffer
	writer := zip.NewWriter(&bomb)
	_, err := writer.CreateRaw(&zip.FileHeader{Name: "x.md", Method: zip.Deflate, UncompressedSize64: 1 << 30})
	if err = errors.Join(err, writer.Close()); err != nil {
		t.Fatal(err)
	}
	archives := map[string][]byte{
		"no archive": []byte("not a zip"), "cut off": good[:len(good)-30], "damaged": damaged, "encrypted": encrypted, "empty": zipped(t),
		"up": zipped(t, entry{"../x.md", "x"}), "deep up": zipped(t, entry{"a/../../x.md", "x"}), "absolute": zipped(t, entry{"/etc/x.md", "x"}),
		"backslash": zipped(t, entry{`a\..\x.md`, "x"}), "link out": zipped(t, entry{"x.md", "x"}, entry{"@a/l.md", "../../x.md"}),
		"absolute link": zipped(t, entry{"x.md", "x"}, entry{"@l.md", "/etc/passwd"}), "many files": zipped(t, many...), "many bytes": bomb.Bytes(),
	}
	each(t, open, func(t *testing.T, w *world) {
		for name, archive := range archives {
			id := w.upload("x.zip", "application/zip", archive)
			before := w.position()
			said := w.ask("POST", "/api/v1/resources", object{"temp_file_id": id}).invalid()
			like(t, said, containing("archive"), name)
			same(t, w.position(), before, name)
		}
	})
}
