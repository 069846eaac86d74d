package terminal

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestAnAnswerThatCouldNotBeWrittenIsAFailure(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(*Console){
		"said":    func(c *Console) { c.Say("half of %d", 2) },
		"printed": func(c *Console) { c.Print("half of %d", 2) },
	} {
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		c := NewConsole(os.Stdin, out, os.Stderr)
		if answer(c); c.End(nil) != nil {
			t.Errorf("%s: %v, though it was written", name, c.End(nil))
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		if answer(c); !errors.Is(c.End(nil), os.ErrClosed) {
			t.Errorf("%s: %v, want that it could not be written", name, c.End(nil))
		}
		if other := errors.New("other"); !errors.Is(c.End(other), other) {
			t.Errorf("%s: what failed before counts more", name)
		}
	}
}
