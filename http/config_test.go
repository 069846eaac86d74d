package http

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEverythingWrongWithAConfigurationIsNamed(t *testing.T) {
	t.Parallel()
	err := Config{MaxBody: -1, MaxLine: -1, MaxBulk: -1, Timeout: -1, Rate: -1, PreStopDelay: -1, ShutdownTimeout: -1, Heartbeat: -1}.Validate()
	if err == nil {
		t.Fatal("it is accepted")
	}
	want := []string{
		"Writer is required", "Browser is required", "Searcher is required", "Reader is required",
		"Historian is required", "Watcher is required", "Finder is required",
		"MaxBody must not be negative", "MaxLine must not be negative", "MaxBulk must not be negative",
		"Timeout must not be negative", "Heartbeat must not be negative", "Rate must not be negative",
		"PreStopDelay must not be negative", "ShutdownTimeout must not be negative",
	}
	if diff := cmp.Diff(strings.Split(err.Error(), "\n"), want); diff != "" {
		t.Error(diff)
	}
}
