package databasetest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// saying is the file descriptor to which a [Child] writes: the first after standard error.
const saying = 3

// Child is a process that runs only the test that started it, so that the test can kill it at any point.
type Child struct {
	// Says are the lines that the process writes, until it ends.
	Says *bufio.Scanner

	process *exec.Cmd
}

// NewChild starts a process that runs the test again with additional environment variables ("KEY=value"), by which
// the test knows that it is the child. [Child.Kill] ends it.
func NewChild(t testing.TB, environment ...string) *Child {
	t.Helper()
	test, _, _ := strings.Cut(t.Name(), "/")
	process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$", "-test.timeout=2m")
	process.Env = append(os.Environ(), environment...)
	process.Stdout, process.Stderr = t.Output(), t.Output()
	says, writing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writing.Close() }() // the child has its own
	t.Cleanup(func() { _ = says.Close() })
	process.ExtraFiles = []*os.File{writing}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	return &Child{Says: bufio.NewScanner(says), process: process}
}

// Kill ends the process with SIGKILL, and returns when it is gone.
func (c *Child) Kill() {
	_ = c.process.Process.Kill()
	_ = c.process.Wait() // says that it was killed
}

// Wait waits until the process has ended.
func (c *Child) Wait() error { return c.process.Wait() }

// Saying returns the function by which a child writes lines to its parent.
func Saying(t testing.TB) func(line string) {
	t.Helper()
	parent := os.NewFile(saying, "parent")
	t.Cleanup(func() { _ = parent.Close() })
	return func(line string) {
		t.Helper()
		if _, err := fmt.Fprintln(parent, line); err != nil {
			t.Error(err)
		}
	}
}
