package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// direction states which values of a figure are good.
type direction string

const (
	more direction = "more"
	less direction = "less"
	none direction = "" // neither: a size or a count
)

// key names a figure.
type key struct {
	Benchmark, Engine, Name, Unit string
	Better                        direction
}

// figure is the result of one program: the median of its rounds.
type figure struct {
	Benchmark string    `json:"benchmark"`
	Engine    string    `json:"engine"`
	Name      string    `json:"name"`
	Program   string    `json:"program"`
	Value     float64   `json:"value"`
	Unit      string    `json:"unit"`
	Rounds    []float64 `json:"rounds"`
	// Ratio compares the measured program with this one, round by round, by the median: above 1 it does better.
	Ratio float64 `json:"ratio,omitempty"`
}

// report collects figures in the order in which they came.
type report struct {
	keys     []key
	programs []string
	values   map[key]map[string][]float64
	machine  string
}

func newReport() *report { return &report{values: map[key]map[string][]float64{}, machine: machine()} }

func (r *report) add(k key, program string, value float64) {
	if r.values[k] == nil {
		r.values[k] = map[string][]float64{}
		r.keys = append(r.keys, k)
	}
	if !slices.Contains(r.programs, program) {
		r.programs = append(r.programs, program)
	}
	r.values[k][program] = append(r.values[k][program], value)
}

func (r *report) figures() []figure {
	var all []figure
	for _, k := range r.keys {
		measured := r.values[k]["annals"]
		for _, program := range r.programs {
			rounds := r.values[k][program]
			if len(rounds) == 0 {
				continue
			}
			f := figure{
				Benchmark: k.Benchmark, Engine: k.Engine, Name: k.Name, Unit: k.Unit, Program: program,
				Value: median(rounds), Rounds: rounds,
			}
			if program != "annals" && k.Better != none && len(measured) > 0 {
				var ratios []float64
				for i := range min(len(rounds), len(measured)) {
					ratio := measured[i] / rounds[i]
					if k.Better == less {
						ratio = rounds[i] / measured[i]
					}
					ratios = append(ratios, ratio)
				}
				f.Ratio = median(ratios)
			}
			all = append(all, f)
		}
	}
	return all
}

// print prints one line per figure and program.
func (r *report) print(to io.Writer) error {
	fmt.Fprintln(to, r.machine)
	fmt.Fprintln(to, "ratio: how much better annals does than the program of the line, the median of the rounds")
	t := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "benchmark\tengine\tfigure\tprogram\tvalue\tunit\tratio")
	for _, f := range r.figures() {
		ratio := ""
		if f.Ratio > 0 {
			ratio = fmt.Sprintf("%.2f", f.Ratio)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f.Benchmark, f.Engine, f.Name, f.Program, short(f.Value), f.Unit,
			ratio)
	}
	return t.Flush()
}

// short formats a number with three significant digits, or all digits of a whole number.
func short(x float64) string {
	if x >= 1000 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// write writes the report as JSON, unless path is empty.
func (r *report) write(path string) error {
	if path == "" {
		return nil
	}
	text, err := json.MarshalIndent(map[string]any{"machine": r.machine, "figures": r.figures()}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// machine describes the machine that made the report.
func machine() string {
	revision := "unknown"
	command := exec.Command("git", "rev-parse", "--short=12", "HEAD") //nolint:noctx // ends at once
	if head, err := command.Output(); err == nil {
		revision = strings.TrimSpace(string(head))
	}
	load, _ := os.ReadFile("/proc/loadavg") // empty if it does not exist
	minute, _, _ := strings.Cut(string(load), " ")
	return fmt.Sprintf("%s, %d cores, %s/%s, %s, revision %s, load %s at the start",
		procField("/proc/cpuinfo", "model name"), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(),
		revision, minute)
}

// procField finds "name: value" in a file of /proc; empty if it does not exist.
func procField(path, name string) string {
	text, _ := os.ReadFile(path) // empty if it does not exist
	for line := range strings.Lines(string(text)) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func median[T cmp.Ordered](list []T) T {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// percentile is the nearest rank among the times, in milliseconds.
func percentile(times []time.Duration, share float64) float64 {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[min(len(times)-1, int(share*float64(len(times))))].Seconds() * 1000
}
