package events_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The tables that other packages read are those that doc.go lists.
func TestOtherPackagesReadTheTablesThatTheDocumentationLists(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(doc), "Other packages may read these tables:")
	if !found {
		t.Fatal("doc.go lists no tables")
	}
	list, _, _ = strings.Cut(list, ".")
	var want []string
	for name := range strings.FieldsSeq(strings.NewReplacer("//", " ", ",", " ").Replace(list)) {
		want = append(want, name)
	}
	tables := regexp.MustCompile(`(?:FROM|JOIN) (checkpoints|destroyed_texts|erasures|event_texts|events|files|leases|quarantine|requests|streams)\b`)
	read := map[string]bool{}
	for _, folder := range []string{"events/proof", "events/forward", "projections", "http", "cmd"} {
		err := filepath.WalkDir(filepath.Join("..", filepath.FromSlash(folder)), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") || !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".sql") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, match := range tables.FindAllSubmatch(text, -1) {
				read[string(match[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(read))); diff != "" {
		t.Errorf("read by other packages (-listed +read):\n%s", diff)
	}
}
