package main

import (
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/cmd/annals/operate"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// An older version is written for a moment more after a rollback to another, and is not where the next one leads to.
func TestARollbackNamesTheVersionThatItLeft(t *testing.T) {
	t.Parallel()
	at := func(minute int) *time.Time { return new(time.Date(2031, 1, 1, 12, minute, 0, 0, time.UTC)) }
	v := operate.Versions{Items: []operate.VersionOf{
		{Version: 6, State: "draining", UpdatedAt: at(9)},
		{Version: 5, State: "draining", UpdatedAt: at(8)},
		{Version: 4, State: "active", UpdatedAt: at(9)},
	}}
	if got := v.Switched(); got != "version 4 is active again; version 6 is still written" {
		t.Errorf("got %s", got)
	}
	for i, want := range []string{"draining (still written, for --rollback)", "draining (still written for a moment)", "active "} {
		if line := strings.Split(v.Render(120), "\n")[1+i]; !strings.Contains(line, want) {
			t.Errorf("got %s, want %s", line, want)
		}
	}
}

func TestAPlanTellsAFullDiskFromOneThatNobodyKnows(t *testing.T) {
	t.Parallel()
	if said := (operate.RebuildPlan{RebuildPlan: api.RebuildPlan{Free: new(int64(0))}}).String(); !strings.Contains(said, "; 0 B are free") {
		t.Errorf("a full disk: %s", said)
	}
	if said := (operate.RebuildPlan{}).String(); strings.Contains(said, "free") {
		t.Errorf("a disk of another machine: %s", said)
	}
}

func TestAPlanNamesWhatDiffersForPeople(t *testing.T) {
	t.Parallel()
	said := operate.RebuildPlan{RebuildPlan: api.RebuildPlan{Active: 1, Intended: []string{"confidence", "expired_confidence"}}}.String()
	if want := "will differ from version 1: confidence, confidence once a confirmation has expired"; !strings.HasSuffix(said, want) {
		t.Errorf("got %s, want %s", said, want)
	}
}

func TestWhatHasALineBreakIsNamed(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]terminal.Remote{
		"a key has":            {APIKey: "x\ny"},
		"a tenant's name has":  {Tenant: "a\nb"},
		"an entity's name has": {As: "user:a\nb"},
	} {
		r.Server = "http://127.0.0.1:1933"
		if _, err := r.Connect(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
