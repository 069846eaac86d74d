package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"
)

// console is where a command reads and writes. Answers go to out, everything else to err.
type console struct {
	in       io.Reader
	out      io.Writer
	err      io.Writer
	styled   io.Writer // out for text with colours: they go when nobody could see them
	json     bool
	width    int  // columns of the terminal
	errWidth int  // those of the terminal that err is; unbounded if it is none
	watched  bool // err is a terminal: somebody is watching
	prompted bool // in is a terminal: somebody would have to type
	settings settings
}

func newConsole(in, out, err *os.File) *console {
	answers := &answers{File: out}
	return &console{
		in: in, out: answers, err: err,
		styled:   colorprofile.NewWriter(answers, os.Environ()),
		width:    widthOf(out, os.Getenv("COLUMNS")),
		errWidth: widthOf(err, ""),
		watched:  term.IsTerminal(int(err.Fd())),
		prompted: term.IsTerminal(int(in.Fd())),
	}
}

// answers are where answers go. They remember that something could not be written, as on a full disk: half of an
// answer must not look like all of it.
type answers struct {
	*os.File

	lost error
}

// Write implements [io.Writer].
func (a *answers) Write(p []byte) (int, error) {
	n, err := a.File.Write(p)
	a.lost = cmp.Or(a.lost, err)
	return n, err
}

// WriteString implements [io.StringWriter].
func (a *answers) WriteString(s string) (int, error) { return a.Write([]byte(s)) }

// end is how a command ended: if it was well, then with whatever could not be written of its answer.
func (c *console) end(err error) error {
	if a, kept := c.out.(*answers); kept && err == nil && a.lost != nil {
		return fmt.Errorf("the answer could not be written: %w", a.lost)
	}
	return err
}

// unbounded is the width of what is no terminal: nothing is cut or wrapped there.
const unbounded = 1 << 20

// widthOf is the terminal's width, or that of the columns if out is no terminal and they are set.
func widthOf(out *os.File, columns string) int {
	const narrowest = 40
	if width, _, err := term.GetSize(int(out.Fd())); err == nil {
		return max(width, narrowest)
	}
	if width, err := strconv.Atoi(columns); err == nil {
		return max(width, narrowest)
	}
	return unbounded
}

// coloured tells whether colours are seen.
func (c *console) coloured() bool {
	w, known := c.styled.(*colorprofile.Writer)
	return known && w.Profile > colorprofile.Ascii
}

// say prints prose for people, wrapped to the terminal's width.
func (c *console) say(format string, values ...any) { prose(c.styled, c.width, format, values) }

// table prints lines for people that fit the terminal already, as far as they can.
func (c *console) table(lines string) { _, _ = fmt.Fprintln(c.styled, lines) }

// print prints a line for programs.
func (c *console) print(format string, values ...any) { prose(c.out, unbounded, format, values) }

// note prints a line about the answer that is not part of it.
func (c *console) note(format string, values ...any) { prose(c.err, c.errWidth, format, values) }

// warn prints what may be wrong, in the form that errors have.
func (c *console) warn(format string, values ...any) {
	warning := printable(fmt.Sprintf(format, values...))
	if c.json {
		_ = json.NewEncoder(c.err).Encode(map[string]string{"warning": warning})
		return
	}
	c.note("annals: warning: %s", warning)
}

// prose writes lines, wrapped at words. Without a width each stays one. A reader who has stopped reading misses nothing.
func prose(to io.Writer, width int, format string, values []any) {
	said := fmt.Sprintf(format, values...)
	if width > 0 && width < unbounded {
		said = filled(said, width)
	}
	_, _ = fmt.Fprintln(to, said)
}

// document prints v, or JSON as the server sent it, for scripts.
func (c *console) document(v any) error {
	raw, isRaw := v.(json.RawMessage)
	var encoded bytes.Buffer
	if isRaw {
		if err := json.Indent(&encoded, bytes.TrimSpace(raw), "", "  "); err != nil {
			return fmt.Errorf("read the server's answer: %w", err)
		}
		encoded.WriteByte('\n')
	} else {
		encoder := json.NewEncoder(&encoded)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(v); err != nil {
			return fmt.Errorf("encode the answer: %w", err)
		}
	}
	_, err := c.out.Write(encoded.Bytes())
	return err
}

// fail reports err, if any, and answers with its exit code.
func (c *console) fail(err error) int {
	if err == nil {
		return exitOK
	}
	f := asFailure(err)
	if c.json {
		encoder := json.NewEncoder(c.err)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(f)
		return f.Code
	}
	c.note("annals: %s", printable(f.Detail))
	for _, field := range f.Fields {
		said := field.Message
		if field.Flag != "" { // where one's own times are taken
			said = withTimes(said)
		}
		c.note("  %s: %s", printable(cmp.Or(field.Flag, field.Field)), printable(said))
	}
	if f.Fix != "" {
		c.note("  → %s", printable(f.Fix))
	}
	return f.Code
}
