package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"time"
)

// Apart reads PDFs in a process of its own, which is ended when it takes too long or too much room. It is safe for
// concurrent use.
type Apart struct {
	program string
	seats   chan struct{} // how many read at once
}

// How long one file may take, and how much memory, in bytes.
const (
	patience  = 15 * time.Second
	room      = 512 << 20
	addresses = 4 << 30 // what a process reserves is more than what it uses
	atOnce    = 2
)

// aside tells a program that it was started to read one file.
const aside = "ANNALS_READS_APART"

// NewApart reads with this program, started once more: its main begins with [Aside].
func NewApart() (*Apart, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return &Apart{program: program, seats: make(chan struct{}, atOnce)}, nil
}

// Aside reads a file and exits, if this process was started for that. Else it does nothing.
func Aside() {
	if os.Getenv(aside) != "" {
		os.Exit(child(os.Stdin, os.Stdout))
	}
}

// PDF is what a PDF says. The error matches [ErrUnreadable] or [ErrTooMuch].
func (a *Apart) PDF(ctx context.Context, content []byte) (string, error) {
	select {
	case a.seats <- struct{}{}:
		defer func() { <-a.seats }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	reading, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	child := exec.CommandContext(reading, a.program) //nolint:gosec // this very program
	var text bounded
	// and nothing that is secret
	child.Stdin, child.Stdout, child.Env = bytes.NewReader(content), &text, []string{"GOTRACEBACK=none", aside + "=yes"}
	err := child.Run()
	ended, is := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil && !text.over:
		return text.String(), nil
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case is && ended.ExitCode() == exitUnreadable:
		return "", ErrUnreadable
	case err != nil && !is:
		return "", fmt.Errorf("begin to read apart: %w", err)
	}
	return "", ErrTooMuch
}

// bounded keeps as much as a file may say.
type bounded struct {
	bytes.Buffer
	over bool
}

// Write implements [io.Writer].
func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > 2*mostText {
		b.over = true
		return 0, ErrTooMuch
	}
	return b.Buffer.Write(p)
}

// exitUnreadable is how a child says that it is not its fault.
const exitUnreadable = 3

// child reads a PDF from in and writes what it says to out. It gives the status to exit with.
func child(in io.Reader, out io.Writer) int {
	debug.SetMemoryLimit(room)
	confine(addresses)
	content, err := io.ReadAll(in)
	if err == nil {
		var text string
		if text, err = PDF(content); err == nil {
			_, err = io.WriteString(out, text)
		}
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ErrUnreadable):
		return exitUnreadable
	}
	_, _ = fmt.Fprintln(os.Stderr, err) // the parent reads the exit code
	return 1
}
