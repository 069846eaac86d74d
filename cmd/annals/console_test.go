package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestAnAnswerThatCouldNotBeWrittenIsAFailure(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(*console){
		"said":    func(c *console) { c.say("half of %d", 2) },
		"printed": func(c *console) { c.print("half of %d", 2) },
	} {
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		c := newConsole(os.Stdin, out, os.Stderr)
		if answer(c); c.end(nil) != nil {
			t.Errorf("%s: %v, though it was written", name, c.end(nil))
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		if answer(c); !errors.Is(c.end(nil), os.ErrClosed) {
			t.Errorf("%s: %v, want that it could not be written", name, c.end(nil))
		}
		if other := errors.New("other"); !errors.Is(c.end(other), other) {
			t.Errorf("%s: what failed before counts more", name)
		}
	}
}
