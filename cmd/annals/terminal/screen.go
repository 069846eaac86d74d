package terminal

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// Screen is a terminal whose keys are read one by one. Close it, also after a panic.
type Screen struct {
	console *Console
	keys    *bufio.Reader
	size    func() (width, height int)
	raw     func() (restore func(), err error) // nil for a reader of keys that is no terminal
	restore func()
	draw    func()
}

// The keys that are no characters.
const (
	KeyInterrupt = '\x03'
	KeyEnter     = '\r'
	KeyLeft      = '←'
	KeyRight     = '→'
	keyEscape    = '\x1b'
	keyBackspace = '\x7f'
)

const (
	openScreen  = "\x1b[?1049h" // the terminal keeps what it shows, and shows it again afterwards
	closeScreen = "\x1b[?1049l"
	clearScreen = "\x1b[H\x1b[2J"
)

// Interactive tells whether the command talks to a person: input and output are terminals, and no JSON is asked for.
func (c *Console) Interactive() bool {
	out, is := c.Out.(interface{ Fd() uintptr })
	return is && c.Prompted && !c.JSON && term.IsTerminal(int(out.Fd()))
}

// NewScreen is a screen that reads keys from a reader, of a constant size.
func NewScreen(c *Console, keys io.Reader, width, height int) *Screen {
	return &Screen{
		console: c, keys: bufio.NewReader(keys), size: func() (int, int) { return width, height }, draw: func() {},
		restore: func() {},
	}
}

// OpenScreen takes over the terminal of an interactive console.
func OpenScreen(c *Console) (*Screen, error) {
	in, isFile := c.In.(*os.File)
	if !isFile || !c.Interactive() {
		return nil, Wrong("", "this needs a terminal")
	}
	s := NewScreen(c, in, 0, 0)
	out := c.Out.(interface{ Fd() uintptr })
	s.size = func() (int, int) {
		width, height, err := term.GetSize(int(out.Fd()))
		if err != nil {
			return 80, 24
		}
		return width, height
	}
	s.raw = func() (func(), error) {
		before, err := term.MakeRaw(int(in.Fd()))
		if err != nil {
			return nil, err
		}
		_, _ = io.WriteString(c.Out, openScreen)
		return func() {
			_, _ = io.WriteString(c.Out, closeScreen)
			_ = term.Restore(int(in.Fd()), before)
		}, nil
	}
	return s, s.begin()
}

func (s *Screen) begin() (err error) {
	if s.raw != nil {
		s.restore, err = s.raw()
	}
	return err
}

// Close gives the terminal back.
func (s *Screen) Close() {
	s.restore()
	s.restore = func() {}
}

// Suspended runs another program in the terminal.
func (s *Screen) Suspended(run func() error) error {
	s.Close()
	err := run()
	if again := s.begin(); err == nil {
		err = again
	}
	return err
}

// Show shows lines from the one with number top on, and a status line below them. It shows them again whenever the
// size of the terminal changes. It returns whether lines are left below.
func (s *Screen) Show(top int, status string, content func(*Console)) (more bool) {
	s.draw = func() {
		width, height := s.size()
		var text bytes.Buffer
		view := *s.console
		view.Styled, view.Out, view.Width = &text, &text, width-1
		content(&view)
		lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
		lines = lines[min(top, len(lines)):]
		below := Wrapped(status, width-1)
		room := max(height-len(below)-1, 1)
		if more = len(lines) > room; more {
			lines = append(lines[:room-1:room-1], "…")
		}
		lines = append(append(lines, ""), below...)
		_, _ = io.WriteString(s.console.Styled, clearScreen+strings.Join(lines, "\r\n"))
	}
	s.draw()
	return more
}

// pressed is a key, or why none can be read.
type pressed struct {
	key rune
	err error
}

// Key waits for a key. The arrows down and up are n and p. No key is read between two calls, so another program may
// read them.
func (s *Screen) Key(ctx context.Context) (rune, error) {
	read := make(chan pressed, 1)
	go func() { // it ends with the next key, or with the program
		key, err := s.read()
		read <- pressed{key, err}
	}()
	width, height := s.size()
	watch := time.NewTicker(200 * time.Millisecond)
	defer watch.Stop()
	for {
		select {
		case p := <-read:
			return p.key, p.err
		case <-ctx.Done():
			return KeyInterrupt, ctx.Err()
		case <-watch.C:
			if w, h := s.size(); w != width || h != height {
				width, height = w, h
				s.draw()
			}
		}
	}
}

func (s *Screen) read() (rune, error) {
	key, _, err := s.keys.ReadRune()
	if key != keyEscape || s.keys.Buffered() < 2 {
		return key, err
	}
	arrow, err := s.keys.Peek(2)
	known := map[string]rune{
		"[A": 'p', "OA": 'p', "[B": 'n', "OB": 'n', "[C": KeyRight, "OC": KeyRight, "[D": KeyLeft, "OD": KeyLeft,
	}
	if key := known[string(arrow)]; key != 0 {
		_, err = s.keys.Discard(len(arrow))
		return key, err
	}
	_, _ = s.keys.Discard(s.keys.Buffered()) // of another sequence
	return keyEscape, err
}

// Line asks for a line of text in the last line of the screen; false if it was cancelled with Escape or Ctrl-C.
func (s *Screen) Line(ctx context.Context, question string) (text string, given bool, err error) {
	var typed []rune
	for {
		width, _ := s.size()
		shown := fmt.Sprintf("%s %s", question, string(typed))
		shown = ansi.TruncateLeft(shown, max(ansi.StringWidth(shown)-width+1, 0), "")
		_, _ = io.WriteString(s.console.Styled, "\r\x1b[K"+shown)
		key, err := s.Key(ctx)
		switch {
		case err != nil, key == KeyInterrupt, key == keyEscape:
			return "", false, err
		case key == KeyEnter, key == '\n':
			return strings.TrimSpace(string(typed)), true, nil
		case key == keyBackspace || key == '\b':
			typed = typed[:max(len(typed)-1, 0)]
		case unicode.IsPrint(key):
			typed = append(typed, key)
		}
	}
}
