package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/servertest"
)

// atTerminal runs a command as on a terminal where this is typed.
func atTerminal(ctx context.Context, typed io.Reader, args ...string) (code int, said string) {
	var all bytes.Buffer
	c := &terminal.Console{In: typed, Out: &all, Err: &all, Styled: &all, Width: 80, Prompted: true}
	code = run(ctx, args, c)
	return code, ansi.Strip(all.String())
}

func TestErasingIsConfirmedOnATerminal(t *testing.T) {
	eachEngine(t, func(t *testing.T, _ database.Engine, newDatabase func(testing.TB) string) {
		server := here(t, newDatabase(t))
		ctx := context.WithoutCancel(t.Context())
		for _, id := range []string{"one", "two"} {
			annals(t, "remember", "mind the zorblaxquine", "--id", id, "--owner", "user:123", "--server", server)
		}
		for _, try := range []struct {
			typed string
			args  []string
			code  int
			said  string
		}{
			{"\n", []string{"one"}, terminal.ExitFailed, "not confirmed: nothing was erased"},
			{"", []string{"one"}, terminal.ExitFailed, "would erase  1"},
			{"y\n", []string{"user:123"}, terminal.ExitFailed, "would erase  2"},
			{"y\n", []string{"user:123"}, terminal.ExitFailed, "Type user:123 to erase it"},
			{"y\n", []string{"one"}, terminal.ExitOK, "erased one for good"},
			{"y\n", []string{"one"}, terminal.ExitOK, "nothing to erase"},
			{"user:123\n", []string{"user:123"}, terminal.ExitOK, "erased user:123 for good: 1 of 1"},
			{"", []string{"user:123", "--yes"}, terminal.ExitOK, "nothing to erase"},
		} {
			code, said := atTerminal(ctx, strings.NewReader(try.typed),
				append([]string{"erase", "--server", server}, try.args...)...)
			if code != try.code || !strings.Contains(said, try.said) {
				t.Errorf("erase %q with %q typed: exit code %d, want %d and %q:\n%s", try.args, try.typed, code, try.code,
					try.said, said)
			}
		}
	})
}

func TestCtrlCEndsWith130(t *testing.T) {
	t.Parallel()
	server := here(t, databasetest.SQLite(t))
	annals(t, "remember", "mind the zorblaxquine", "--id", "one", "--server", server)
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	if code, said := atTerminal(interrupted, strings.NewReader(""), "list", "--server",
		server); code != terminal.ExitInterrupted {
		t.Errorf("list: exit code %d, want %d: %s", code, terminal.ExitInterrupted, said)
	}
	waiting, interrupt := context.WithCancel(t.Context())
	typing, keyboard := io.Pipe()
	defer keyboard.Close() //nolint:errcheck // it is a pipe of this test
	ended := make(chan int)
	asked := &watchedFor{text: "Erase it for good?", seen: interrupt}
	go func() {
		ended <- run(waiting, []string{"erase", "one", "--server", server},
			&terminal.Console{In: typing, Out: asked, Err: asked, Styled: asked, Width: 80, Prompted: true})
	}()
	servertest.Same(t, <-ended, terminal.ExitInterrupted, "erase exit code")
	annals(t, "get", "one", "--server", server)
}

// watchedFor calls seen when the text is written.
type watchedFor struct {
	text string
	seen func()
}

func (w *watchedFor) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.text) {
		w.seen()
	}
	return len(p), nil
}
