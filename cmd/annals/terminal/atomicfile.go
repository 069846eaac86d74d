package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WriteFile lets fill write to the named file, which appears when it is complete. Without a name it writes to
// standard output.
func WriteFile(c *Console, name string, fill func(*bytes.Buffer, func() error) error) error {
	if name == "" {
		return flushing(c.Out, fill)
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return Wrong("name a file of its own", "%s is no ordinary file", name)
	}
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return Unwritable(name, err)
	}
	err = flushing(file, fill)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err == nil {
		return nil
	}
	_ = os.Remove(file.Name()) // leftovers are harmless
	if cause := fileFault(err); cause != nil {
		return &Failure{Code: ExitFailed, Detail: fmt.Sprintf("write %s: %s", name, cause)}
	}
	return err
}

// WriteText lets the named file hold a text, which appears when it is complete.
func WriteText(c *Console, name string, text []byte) error {
	return WriteFile(c, name, func(b *bytes.Buffer, flush func() error) error {
		b.Write(text)
		return flush()
	})
}

// Unwritable is the failure of writing a file. It names the requested file, not the temporary one.
func Unwritable(name string, err error) error {
	if cause := fileFault(err); cause != nil {
		err = cause
	}
	return Wrong("name another that can be written", "%s cannot be written: %s", name, err)
}

// fileFault is the problem of a file without its name; nil for other errors.
func fileFault(err error) error {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return link.Err
	}
	return nil
}

func flushing(out io.Writer, fill func(*bytes.Buffer, func() error) error) error {
	var buffer bytes.Buffer
	return fill(&buffer, func() error {
		if _, err := out.Write(buffer.Bytes()); err != nil {
			return fmt.Errorf("write: %w", err)
		}
		buffer.Reset()
		return nil
	})
}
