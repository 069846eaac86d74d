package terminal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"
)

// Console is the input and the output of a command. Answers go to out, everything else to err.
type Console struct {
	In       io.Reader
	Out      io.Writer
	Err      io.Writer
	Styled   io.Writer // out for text with colours, which are removed if it is no terminal
	JSON     bool
	Width    int  // columns of the terminal
	ErrWidth int  // columns of the terminal that err is; unbounded if it is none
	Watched  bool // err is a terminal
	Prompted bool // in is a terminal
	Settings Settings
	Named    bool // a flag, a variable or the configuration file names the server
}

func NewConsole(in, out, err *os.File) *Console {
	answers := &answers{File: out}
	return &Console{
		In: in, Out: answers, Err: err,
		Styled:   colorprofile.NewWriter(answers, os.Environ()),
		Width:    widthOf(out, os.Getenv("COLUMNS")),
		ErrWidth: widthOf(err, ""),
		Watched:  term.IsTerminal(int(err.Fd())),
		Prompted: term.IsTerminal(int(in.Fd())),
	}
}

// answers is the writer of answers. It notes a failed write, as on a full disk, so that half an answer does not look
// like a whole one.
type answers struct {
	*os.File

	lost error
}

func (a *answers) Write(p []byte) (int, error) {
	n, err := a.File.Write(p)
	a.lost = cmp.Or(a.lost, err)
	return n, err
}

func (a *answers) WriteString(s string) (int, error) { return a.Write([]byte(s)) }

// End is the error of the command, or that of writing its answer.
func (c *Console) End(err error) error {
	if a, kept := c.Out.(*answers); kept && err == nil && a.lost != nil {
		return fmt.Errorf("the answer could not be written: %w", a.lost)
	}
	return err
}

// Unbounded is the width if the output is no terminal: no line is cut or wrapped.
const Unbounded = 1 << 20

// widthOf is the width of the terminal; if out is none, columns if it is set.
func widthOf(out *os.File, columns string) int {
	const narrowest = 40
	if width, _, err := term.GetSize(int(out.Fd())); err == nil {
		return max(width, narrowest)
	}
	if width, err := strconv.Atoi(columns); err == nil {
		return max(width, narrowest)
	}
	return Unbounded
}

// Coloured tells whether the output has colours.
func (c *Console) Coloured() bool {
	w, known := c.Styled.(*colorprofile.Writer)
	return known && w.Profile > colorprofile.Ascii
}

// Say prints prose for people, wrapped to the terminal's width.
func (c *Console) Say(format string, values ...any) { prose(c.Styled, c.Width, format, values) }

// Lines prints lines for people that already fit the terminal.
func (c *Console) Lines(lines string) { _, _ = fmt.Fprintln(c.Styled, lines) }

// Print prints a line for programs, with its values as they are.
func (c *Console) Print(format string, values ...any) {
	_, _ = fmt.Fprintf(c.Out, format+"\n", values...)
}

// Note prints a line about the answer to standard error.
func (c *Console) Note(format string, values ...any) { prose(c.Err, c.ErrWidth, format, values) }

// Warn prints a warning in the form of errors.
func (c *Console) Warn(format string, values ...any) {
	warning := Printable(fmt.Sprintf(format, values...))
	if c.JSON {
		_ = json.NewEncoder(c.Err).Encode(map[string]string{"warning": warning})
		return
	}
	c.Note("annals: warning: %s", warning)
}

// prose writes text, wrapped at words if there is a width. [Console.End] reports a failed write.
func prose(to io.Writer, width int, format string, values []any) {
	text := fmt.Sprintf(format, printable(values)...)
	if width > 0 && width < Unbounded {
		text = filled(text, width)
	}
	_, _ = fmt.Fprintln(to, text)
}

// Document prints v, or JSON as the server sent it, for scripts.
func (c *Console) Document(v any) error {
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
	_, err := c.Out.Write(encoded.Bytes())
	return err
}

// Fail prints err, if it is not nil, and returns its exit code.
func (c *Console) Fail(err error) int {
	if err == nil {
		return ExitOK
	}
	f := AsFailure(err)
	if c.JSON {
		encoder := json.NewEncoder(c.Err)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(f)
		return f.Code
	}
	c.Note("annals: %s", f.Detail)
	for _, field := range f.Fields {
		message := field.Message
		if field.Flag != "" { // such a flag takes local times
			message = writtenTime.ReplaceAllStringFunc(message, Timed)
		}
		c.Note("  %s: %s", cmp.Or(field.Flag, field.Field), message)
	}
	if f.Fix != "" {
		c.Note("  → %s", f.Fix)
	}
	return f.Code
}

// WillBeRead refuses to print a secret to a closed standard output, where it would be lost. The runtime opens the
// null device in place of a closed standard output.
func (c *Console) WillBeRead(what string) error {
	out, kept := c.Out.(*answers)
	if !kept {
		return nil
	}
	signal.Ignore(syscall.SIGPIPE) // a closed pipe must not end the process before it reports the loss
	info, err := out.Stat()
	null, nullErr := os.Stat(os.DevNull)
	if err == nil && (nullErr != nil || !os.SameFile(info, null)) {
		return nil
	}
	return &Failure{
		Code:   ExitFailed,
		Detail: what + " is shown once, on standard output, which is closed or leads nowhere: none was made",
		Fix:    "let standard output go to a terminal or a file that only you can read",
	}
}
