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

	"golang.org/x/net/html"
)

// Apart reads PDFs in a child process, which is killed when it takes too much time or memory. It is safe for
// concurrent use.
type Apart struct {
	program string
	seats   chan struct{} // limits concurrent reads
}

// Limits of one file, in time and in bytes of memory.
const (
	patience  = 15 * time.Second
	room      = 512 << 20
	addresses = 4 << 30 // a process reserves more than it uses
	atOnce    = 2
)

// aside is the environment variable of a child process.
const aside = "ANNALS_READS_APART"

// NewApart makes a reader that starts this program again. Its main must begin with [Aside].
func NewApart() (*Apart, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return &Apart{program: program, seats: make(chan struct{}, atOnce)}, nil
}

// Aside reads a file and exits if this process is such a child. Otherwise it does nothing.
func Aside() {
	if os.Getenv(aside) != "" {
		os.Exit(child(os.Stdin, os.Stdout))
	}
}

// PDF is the text of a PDF. The error matches [ErrUnreadable] or [ErrTooMuch].
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
	// The environment of the child contains no secrets.
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

// DOCX is [DOCX], which needs no process of its own.
func (a *Apart) DOCX(content []byte) (string, error) { return DOCX(content) }

// HTML is [HTML], likewise.
func (a *Apart) HTML(part *html.Node) (string, error) { return HTML(part) }

// bounded is a buffer of limited size.
type bounded struct {
	bytes.Buffer
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > 2*mostText {
		b.over = true
		return 0, ErrTooMuch
	}
	return b.Buffer.Write(p)
}

// exitUnreadable is the exit code for an unreadable file.
const exitUnreadable = 3

// child reads a PDF from in and writes its text to out. It returns the exit code.
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
