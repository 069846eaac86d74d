package bench

import (
	"errors"
	"os"
	"runtime/pprof"
)

// Profiled does something while what the processor is busy with is written to a file, if one is named, until it is done
// or calls enough.
func Profiled(file string, do func(enough func()) error) (err error) {
	if file == "" {
		return do(func() {})
	}
	to, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if err := pprof.StartCPUProfile(to); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return do(pprof.StopCPUProfile)
}
