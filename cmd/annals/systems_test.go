package main

import (
	"os"
	"os/exec"
	"testing"
)

// Without optimisation, since that takes half the time. make check looks at the tests and at other processors, too.
func TestTheProgramCompilesForOtherSystems(t *testing.T) {
	t.Parallel()
	systems := []string{"windows", "darwin", "freebsd"}
	if testing.Short() {
		systems = systems[:1]
	}
	for _, system := range systems {
		build := exec.CommandContext(t.Context(), "go", "build", "-gcflags=all=-N -l", "-pgo=off", "-o", os.DevNull, ".")
		build.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", system, err, out)
		}
	}
}
