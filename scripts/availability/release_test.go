package availability

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// nextForm is a release whose tables of knowledge have one more column. It is built once.
var nextForm = sync.OnceValues(func() (string, error) {
	form := regexp.MustCompile(`Form = "(\d+)"`)
	return buildWith("annals-form", map[string]func(string) string{
		"projections/rows/columns.go": func(text string) string {
			return form.ReplaceAllStringFunc(text, func(found string) string {
				number, _ := strconv.Atoi(form.FindStringSubmatch(found)[1])
				return fmt.Sprintf(`Form = "%d"`, number+1)
			})
		},
		"projections/rows/sql/knowledge.postgres.sql": func(text string) string {
			return strings.Replace(text, "    occurred_at     timestamptz\n", "    occurred_at     timestamptz,\n    mood text\n", 1)
		},
	})
})

// nextSchema is a release with one more migration. It is built once.
var nextSchema = sync.OnceValues(func() (string, error) {
	there, err := filepath.Glob("../../migrations/postgres/*.up.sql")
	if err != nil || len(there) == 0 {
		return "", fmt.Errorf("there are no migrations: %w", err)
	}
	sort.Strings(there)
	newest, err := strconv.Atoi(filepath.Base(there[len(there)-1])[:4])
	if err != nil {
		return "", err
	}
	added := map[string]func(string) string{}
	for _, engine := range []string{"postgres", "sqlite"} {
		for direction, statement := range map[string]string{
			"up": "CREATE TABLE next_release (number bigint);", "down": "DROP TABLE next_release;",
		} {
			path := fmt.Sprintf("migrations/%s/%04d_next_release.%s.sql", engine, newest+1, direction)
			added[path] = func(string) string { return statement }
		}
	}
	return buildWith("annals-schema", added)
})

// buildWith builds the program with other texts of some files, which need not exist.
func buildWith(name string, changes map[string]func(string) string) (string, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for path, change := range changes {
		before, err := os.ReadFile(filepath.Join(root, path))
		if err != nil && !os.IsNotExist(err) {
			return "", err
		}
		after := change(string(before))
		if after == string(before) {
			return "", fmt.Errorf("%s is not what the next release is made of: it was not changed", path)
		}
		other := filepath.Join(builds, name+"-"+strings.ReplaceAll(path, "/", "-"))
		if err := os.WriteFile(other, []byte(after), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, path)] = other
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(builds, name+".json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return "", err
	}
	return build(name, "-overlay", file)
}
