package serve

import (
	"errors"
	"fmt"
	"os"
	"runtime/pprof"

	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// profile writes to a file what the processor is busy with, until end is called. Without a file there is nothing to do.
func profile(name string) (end func() error, err error) {
	if name == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, terminal.Wrong("name another with --cpu-profile FILE", "the profile cannot be written: %s", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(fmt.Errorf("begin the profile: %w", err), file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}
