package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// writeWhole lets fill write to the named file, which appears when everything is in it and
// not before; without a name it writes to standard output.
func writeWhole(c *console, name string, fill func(*bytes.Buffer, func() error) error) error {
	if name == "" {
		return flushing(c.out, fill)
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return wrong("name a file of its own, or leave --output out", "%s is no ordinary file", name)
	}
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return wrong("name a file that can be written", "%s", err)
	}
	err = flushing(file, fill)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
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
