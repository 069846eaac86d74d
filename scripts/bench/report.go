package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// measured is the name of the program that is compared with all others.
const measured = "annals"

// report has the figures in the order in which they are printed.
type report struct {
	Machine string    `json:"machine"`
	Figures []*figure `json:"figures"`
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

// add adds a program's value of one round. Of times and sizes less is better; of rates and shares, more.
func (s *session) add(program, name, unit string, value float64) {
	fmt.Fprintf(
		os.Stderr, "%s  %s  %s  %s: %.4g %s\n", time.Now().Format(time.TimeOnly), s.engine, program, name, value, unit,
	)
	f := &figure{Benchmark: s.benchmark, Engine: s.engine, Name: name, Program: program, Unit: unit}
	at := len(s.Figures)
	for i, other := range s.Figures {
		if other.Engine == s.engine && other.Name == name {
			at = i + 1 // beside the same figure of other programs
			if other.Program == program {
				other.Rounds = append(other.Rounds, value)
				return
			}
		}
	}
	f.Rounds = []float64{value}
	s.Figures = slices.Insert(s.Figures, at, f)
}

// addTimes adds the median of the times of one round, and the time that a share of them does not exceed.
func (s *session) addTimes(program, name string, times []time.Duration, share float64) {
	s.add(program, name+", p50", "ms", percentile(times, 0.50))
	s.add(program, fmt.Sprintf("%s, p%.0f", name, 100*share), "ms", percentile(times, share))
}

// summarise computes medians and ratios.
func (r *report) summarise() {
	var annals *figure
	for _, f := range r.Figures {
		f.Value = median(f.Rounds)
		if f.Program == measured {
			annals = f
		}
		if annals == f || annals == nil || annals.Name != f.Name {
			continue
		}
		var ratios []float64
		for i := range min(len(f.Rounds), len(annals.Rounds)) {
			ratio := annals.Rounds[i] / f.Rounds[i]
			if slices.Contains([]string{"ms", "s", "MB"}, f.Unit) {
				ratio = f.Rounds[i] / annals.Rounds[i]
			}
			ratios = append(ratios, ratio)
		}
		f.Ratio = median(ratios)
	}
}

// print prints one line per figure and program.
func (r *report) print(to io.Writer) error {
	r.summarise()
	fmt.Fprintln(to, r.Machine)
	fmt.Fprintln(to, "ratio: how much better annals does than the program of the line, the median of the rounds")
	t := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "benchmark\tengine\tfigure\tprogram\tvalue\tunit\tratio")
	for _, f := range r.Figures {
		ratio := ""
		if f.Ratio > 0 {
			ratio = fmt.Sprintf("%.2f", f.Ratio)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.4g\t%s\t%s\n", f.Benchmark, f.Engine, f.Name, f.Program, f.Value, f.Unit, ratio)
	}
	return t.Flush()
}

// write writes the report as JSON, unless path is empty.
func (r *report) write(path string) error {
	if path == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// machine describes the machine that made the report.
func machine() string {
	revision, _ := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output() //nolint:noctx // ends at once
	load, _ := os.ReadFile("/proc/loadavg")                                        // empty if it does not exist
	minute, _, _ := strings.Cut(string(load), " ")
	return fmt.Sprintf("%s, %d cores, %s/%s, %s, revision %s, load %s at the start",
		procField("/proc/cpuinfo", "model name"), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(),
		strings.TrimSpace(string(revision)), minute)
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
