package domain

import (
	"errors"
	"testing"
)

func TestARebuildThatFillsTheDiskIsRefused(t *testing.T) {
	t.Parallel()
	if err := (RebuildPlan{Need: 11 << 20, Free: new(int64(10 << 20))}).Fits(); !errors.Is(err, ErrConflict) {
		t.Errorf("got %v, want a conflict", err)
	}
	if err := (RebuildPlan{Need: 1, Free: new(int64(0))}).Fits(); !errors.Is(err, ErrConflict) {
		t.Errorf("got %v of a disk that is full, want a conflict", err)
	}
	for name, plan := range map[string]RebuildPlan{
		"enough":           {Need: 10 << 20, Free: new(int64(10 << 20))},
		"nobody can say":   {Need: 10 << 20},
		"nothing to build": {Free: new(int64(0))},
	} {
		if err := plan.Fits(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
