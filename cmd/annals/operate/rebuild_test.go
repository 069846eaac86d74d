package operate

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
)

// An older version is written for a moment more after a rollback to another, and is not where the next one leads to.
func TestARollbackNamesTheVersionThatItLeft(t *testing.T) {
	t.Parallel()
	at := func(minute int) *time.Time { return new(time.Date(2031, 1, 1, 12, minute, 0, 0, time.UTC)) }
	versions := []api.Projection{
		{Version: 6, State: "standby", UpdatedAt: at(9)},
		{Version: 5, State: "standby", UpdatedAt: at(8)},
		{Version: 4, State: "active", UpdatedAt: at(9)},
	}
	if active, kept := inUse(versions); active != 4 || kept != 6 {
		t.Errorf("versions %d and %d are in use", active, kept)
	}
	var out bytes.Buffer
	(&terminal.Console{Styled: &out, Width: 120}).Table(versionTable(versions))
	for i, want := range []string{
		"standby (still written, for --rollback)", "standby (still written for a moment)",
		"active ",
	} {
		if line := strings.Split(out.String(), "\n")[1+i]; !strings.Contains(line, want) {
			t.Errorf("got %s, want %s", line, want)
		}
	}
}

func TestAPlanNamesTheDiskAndWhatDiffers(t *testing.T) {
	t.Parallel()
	shown := func(p api.RebuildPlan) string {
		var out bytes.Buffer
		printPlan((&terminal.Console{Styled: &out}).Say, p)
		return out.String()
	}
	if said := shown(api.RebuildPlan{Free: new(int64(0))}); !strings.Contains(said, "; 0 B are free") {
		t.Errorf("a full disk: %s", said)
	}
	said := shown(api.RebuildPlan{Active: 1, Intended: []string{"confidence", "expired_confidence"}})
	if strings.Contains(said, "free") {
		t.Errorf("a disk of another machine: %s", said)
	}
	want := "will differ from version 1: confidence, confidence once a confirmation has expired\n"
	if !strings.HasSuffix(said, want) {
		t.Errorf("got %s, want %s", said, want)
	}
}
