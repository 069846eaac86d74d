package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/scripts/bench"
)

// report is everything measured in a run.
type report struct {
	Machine  bench.Machine                         `json:"machine"`
	Engines  map[database.Engine]map[string]string `json:"engines"`
	Settings settings                              `json:"settings"`
	Rebuilds []rebuilt                             `json:"rebuilds"`
	Loads    []loaded                              `json:"under_load"`
}

type settings struct {
	Events  int     `json:"events"`
	Small   int     `json:"small"`
	Rounds  int     `json:"rounds"`
	Clients int     `json:"clients"`
	Think   float64 `json:"think_ms"`
	Swaps   int     `json:"swaps"`
}

// rebuilt is how rebuilds of a log went that nobody else used. The rounds are in order of their ratio.
type rebuilt struct {
	Engine string           `json:"engine"`
	Events int              `json:"events"`
	Rows   map[string]int64 `json:"rows,omitempty"`
	Rounds []round          `json:"rounds"`
}

// round is a rebuild and its reference. The ratios are of everything but verification to it: of the time, and of the
// time of the processor, of which a rebuild may use several.
type round struct {
	phases
	copied
	Ratio      float64 `json:"ratio,omitempty"`
	Processors float64 `json:"processor_ratio,omitempty"`
	Busy       float64 `json:"load"` // of the machine, before it
}

// loaded is what clients noticed of a rebuild, and of switching to and fro.
type loaded struct {
	Engine       string    `json:"engine"`
	Clients      int       `json:"clients"`
	Requests     int       `json:"requests"`
	Failed       int       `json:"failed"`
	Inconsistent int       `json:"inconsistent"`
	Problems     []string  `json:"problems,omitempty"`
	Phases       []noticed `json:"phases"`
	Switches     int       `json:"switches"`
	SwitchP50    float64   `json:"switch_p50_ms"`
	SwitchP99    float64   `json:"switch_p99_ms"`
	PauseP50     float64   `json:"pause_p50_ms"` // the longest write that a switch met
	PauseP99     float64   `json:"pause_p99_ms"`
}

// noticed is how long requests took in a phase.
type noticed struct {
	Phase    string  `json:"phase"`
	Writes   int     `json:"writes"`
	WriteP50 float64 `json:"write_p50_ms"`
	WriteP99 float64 `json:"write_p99_ms"`
	WriteMax float64 `json:"write_max_ms"`
	Reads    int     `json:"reads"`
	ReadP50  float64 `json:"read_p50_ms"`
	ReadP99  float64 `json:"read_p99_ms"`
	ReadMax  float64 `json:"read_max_ms"`
}

func newReport(o options) *report {
	return &report{
		Machine: bench.ThisMachine(), Engines: map[database.Engine]map[string]string{},
		Settings: settings{o.events, o.small, o.rounds, o.clients, bench.Milliseconds(o.think), o.swaps},
	}
}

func (l *loaded) note(phase string, writes, reads []request, in func(request) bool) {
	w, r := took(writes, in), took(reads, in)
	n := noticed{Phase: phase, Writes: len(w), Reads: len(r)}
	spread := bench.SpreadOf(w)
	n.WriteP50, n.WriteP99 = bench.Milliseconds(spread.P50), bench.Milliseconds(spread.P99)
	spread = bench.SpreadOf(r)
	n.ReadP50, n.ReadP99 = bench.Milliseconds(spread.P50), bench.Milliseconds(spread.P99)
	if len(w) > 0 {
		n.WriteMax = bench.Milliseconds(w[len(w)-1])
	}
	if len(r) > 0 {
		n.ReadMax = bench.Milliseconds(r[len(r)-1])
	}
	l.Phases = append(l.Phases, n)
}

func took(requests []request, in func(request) bool) []time.Duration {
	var times []time.Duration
	for _, r := range requests {
		if in(r) {
			times = append(times, r.to.Sub(r.from))
		}
	}
	return times
}

// pauses notes, for each switch, how long it took and the longest write that met it.
func (l *loaded) pauses(writes []request, switches []span) {
	var lasted, longest []time.Duration
	for _, s := range switches {
		lasted = append(lasted, s.to.Sub(s.from))
		var most time.Duration
		for _, w := range writes {
			if w.to.After(s.from) && w.from.Before(s.to) {
				most = max(most, w.to.Sub(w.from))
			}
		}
		longest = append(longest, most)
	}
	a, b := bench.SpreadOf(lasted), bench.SpreadOf(longest)
	l.Switches = len(switches)
	l.SwitchP50, l.SwitchP99 = bench.Milliseconds(a.P50), bench.Milliseconds(a.P99)
	l.PauseP50, l.PauseP99 = bench.Milliseconds(b.P50), bench.Milliseconds(b.P99)
}

func (r *report) print(to io.Writer) error {
	fmt.Fprintf(to, "Machine:   %s\n", r.Machine)
	for engine, about := range r.Engines {
		fmt.Fprintf(to, "%-10s %v\n", strings.ToUpper(string(engine[:1]))+string(engine[1:])+":", about)
	}
	fmt.Fprintf(to, "Settings:  %+v\n", r.Settings)
	fmt.Fprintf(to, "Targets:   load, indexes and catching up at most 2 × INSERT … SELECT of the same rows; switch pause p99 below 100 ms; nothing failed or inconsistent\n\n")
	t := bench.NewTable(to, "engine", "events", "rows", "load s", "index s", "catch up s", "verify s", "INSERT … SELECT s", "ratio", "of the processor: build s", "INSERT … SELECT s", "ratio", "peak RSS MB", "not mapped MB", "disk at most MB", "planned", "disk left MB", "planned", "load of the machine")
	for _, rebuilt := range r.Rebuilds {
		var rows int64
		for _, n := range rebuilt.Rows {
			rows += n
		}
		for _, one := range rebuilt.Rounds {
			t.Row(rebuilt.Engine, rebuilt.Events, rows, one.Load, one.Index, one.Catch, one.Verify, one.Seconds, one.Ratio,
				one.phases.Processor, one.copied.Processor, one.Processors, one.Peak, one.Own, one.Most, one.PlannedMost, one.Left, one.PlannedLeft, one.Busy)
		}
	}
	if err := t.End(); err != nil {
		return err
	}
	fmt.Fprintln(to)
	t = bench.NewTable(to, "engine", "phase", "writes", "p50 ms", "p99 ms", "max ms", "reads", "p50 ms", "p99 ms", "max ms")
	for _, load := range r.Loads {
		for _, n := range load.Phases {
			t.Row(load.Engine, n.Phase, n.Writes, n.WriteP50, n.WriteP99, n.WriteMax, n.Reads, n.ReadP50, n.ReadP99, n.ReadMax)
		}
	}
	if err := t.End(); err != nil {
		return err
	}
	fmt.Fprintln(to)
	t = bench.NewTable(to, "engine", "requests", "failed", "inconsistent", "switches", "switch p50 ms", "p99 ms", "pause p50 ms", "p99 ms")
	for _, load := range r.Loads {
		t.Row(load.Engine, load.Requests, load.Failed, load.Inconsistent, load.Switches, load.SwitchP50, load.SwitchP99, load.PauseP50, load.PauseP99)
		for _, problem := range load.Problems {
			fmt.Fprintln(to, " ", problem)
		}
	}
	return t.End()
}
