//go:build unix

package record

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/annals-kb/annals/database/databasetest"
)

func TestAPipeThatNobodyWritesIntoIsNotWaitedForAfterAnInterrupt(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe.ndjson")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // whoever waits is let go
		databasetest.Until(t, "somebody reads the pipe", func() bool {
			file, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
			return err == nil && file.Close() == nil
		})
	})
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	_, _, err := openInput(ctx, nil, pipe)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("opened with %v, want that it was interrupted", err)
	}
}
