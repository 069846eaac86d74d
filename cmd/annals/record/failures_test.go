package record

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/annals-kb/annals/cmd/annals/terminal"
)

func TestFailedLinesAreNotKeptWhereStandardInputComesFrom(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "a.ndjson")
	if err := os.WriteFile(name, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close() //nolint:errcheck // it was only read
	if _, err := keepFailures(&terminal.Console{In: in}, name, []source{{path: "-"}}); err == nil {
		t.Error("the input would be overwritten")
	}
	if _, err := keepFailures(&terminal.Console{In: in}, name+".failed", []source{{path: "-"}}); err != nil {
		t.Error(err)
	}
}
