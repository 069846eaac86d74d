//go:build unix

package record

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestAPipeThatNobodyWritesIntoIsNotWaitedForAfterAnInterrupt(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe.ndjson")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // whoever waits is let go
		for {
			file, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
			if err == nil {
				_ = file.Close()
				return
			}
			time.Sleep(time.Millisecond)
		}
	})
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	_, _, err := openInput(ctx, nil, pipe)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("opened with %v, want that it was interrupted", err)
	}
}
