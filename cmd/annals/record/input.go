package record

import (
	"context"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// OpenInput is the named file, or standard input if it is "-", and how many bytes it has, if that is known.
func OpenInput(ctx context.Context, c *terminal.Console, name string) (io.ReadCloser, int64, error) {
	if name == "-" {
		return io.NopCloser(c.In), 0, nil
	}
	const fix = "name a file that can be read, or - for standard input"
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, 0, terminal.Wrong(fix, "%s", err)
	case info.IsDir():
		return nil, 0, terminal.Wrong(fix, "%s is no file", name)
	}
	file, err := openAnything(ctx, name, info.Mode())
	switch {
	case ctx.Err() != nil:
		return nil, 0, ctx.Err()
	case err != nil:
		return nil, 0, terminal.Wrong(fix, "%s", err)
	case strings.HasSuffix(name, ".gz"):
		return file, 0, nil // it holds more
	}
	return file, info.Size(), nil
}

// openAnything opens a file, and waits for whoever writes into a pipe no longer than ctx lasts: nobody waits for the
// goroutine then, since to open cannot be interrupted.
func openAnything(ctx context.Context, name string, mode fs.FileMode) (*os.File, error) {
	if mode&fs.ModeNamedPipe == 0 {
		return os.Open(name)
	}
	type opened struct {
		file *os.File
		err  error
	}
	pipe := make(chan opened, 1)
	go func() {
		file, err := os.Open(name)
		pipe <- opened{file, err}
	}()
	select {
	case o := <-pipe:
		return o.file, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
