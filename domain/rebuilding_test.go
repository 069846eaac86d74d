package domain

import (
	"errors"
	"testing"
)

func TestARebuildThatFillsTheDiskIsRefused(t *testing.T) {
	t.Parallel()
	if err := (RebuildPlan{Need: 11 << 20, Free: 10 << 20}).Fits(); !errors.Is(err, ErrConflict) {
		t.Errorf("got %v, want a conflict", err)
	}
	for name, plan := range map[string]RebuildPlan{
		"enough":           {Need: 10 << 20, Free: 10 << 20},
		"nobody can say":   {Need: 10 << 20},
		"nothing to build": {Free: 1},
	} {
		if err := plan.Fits(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
