package bench

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// Machine is what a report was measured on.
type Machine struct {
	CPU      string  `json:"cpu"`
	Cores    int     `json:"cores"`
	Memory   string  `json:"memory"`
	System   string  `json:"system"`
	Go       string  `json:"go"`
	Revision string  `json:"revision,omitempty"` // of the source; "+changes" if it was edited since
	Load     float64 `json:"load"`               // of the last minute, when the measuring began
}

// ThisMachine describes where the program runs. What cannot be found out is left empty.
func ThisMachine() Machine {
	return Machine{
		CPU: after("/proc/cpuinfo", "model name"), Cores: runtime.NumCPU(), Memory: after("/proc/meminfo", "MemTotal"),
		System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Revision: revision(), Load: Load(),
	}
}

func (m Machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s, %s, %s, revision %s, load %.1f at the start",
		m.CPU, m.Cores, m.Memory, m.System, m.Go, m.Revision, m.Load)
}

// after finds "key: value" in a file.
func after(path, key string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		if strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Load is how busy the machine was in the last minute; 0 where it does not tell.
func Load() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	var minute float64
	_, _ = fmt.Sscan(string(text), &minute) // stays 0
	return minute
}

// revision asks git, since "go run" stamps no program.
func revision() string {
	head, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output() //nolint:noctx // ends at once
	if err != nil {
		return ""
	}
	changes, err := exec.Command("git", "status", "--porcelain").Output() //nolint:noctx // ends at once
	name := strings.TrimSpace(string(head))
	if err == nil && len(changes) > 0 {
		name += "+changes"
	}
	return name
}
