package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// memory is the most that a process ever had, in megabytes: with what is mapped of files, which a system takes back when
// it needs it, and without, where the system tells.
type memory struct {
	Peak int64 `json:"peak_rss_mb"`
	Own  int64 `json:"peak_own_mb,omitempty"`
}

// watched does something, and looks at the memory that is not mapped of files all the while.
func watched(do func() error) (most memory, err error) {
	err = meanwhile(20*time.Millisecond, func() { most.Own = max(most.Own, own()) }, do)
	most.Peak = peak()
	return most, err
}

// own is how much memory this process has that no file backs; 0 where nobody can tell.
func own() (megabytes int64) {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if value, found := strings.CutPrefix(lines.Text(), "RssAnon:"); found {
			_, _ = fmt.Sscan(value, &megabytes) // stays 0
			return megabytes >> 10
		}
	}
	return 0
}

// peak is the most memory that this process ever had, in megabytes.
func peak() int64 {
	used := usage()
	if runtime.GOOS == "darwin" {
		return used.Maxrss >> 20 // bytes there
	}
	return used.Maxrss >> 10
}

// processor is how many seconds of the processor this process has used.
func processor() float64 {
	used := usage()
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds()
}

func usage() (used syscall.Rusage) {
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // all zeros where it is not known
	return used
}
