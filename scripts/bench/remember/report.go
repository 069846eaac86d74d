package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/scripts/bench"
)

// report is everything measured in a run.
type report struct {
	Machine  bench.Machine                         `json:"machine"`
	Sync     float64                               `json:"sync_ms"` // median, of 8 KiB written again
	Engines  map[database.Engine]map[string]string `json:"engines"`
	Settings settings                              `json:"settings"`
	Rates    []rate                                `json:"rates,omitempty"`
	Imports  []imported                            `json:"imports,omitempty"`
	Starts   []starts                              `json:"starts,omitempty"`
}

type settings struct {
	Seconds float64                     `json:"seconds"`
	Rounds  int                         `json:"rounds"`
	Rows    map[database.Engine]float64 `json:"rows_per_item"` // that remembering inserts, on average
}

// rate is how fast a way remembers. Ratio is the product's rate to it, the median of the rounds; the product's own is 1.
type rate struct {
	Engine  string  `json:"engine"`
	Clients int     `json:"clients"`
	Way     string  `json:"way"`
	Rate    float64 `json:"per_second"`
	P50     float64 `json:"p50_ms"`
	P95     float64 `json:"p95_ms"`
	P99     float64 `json:"p99_ms"`
	CPU     float64 `json:"cpu_ms_per_item,omitempty"`        // of all cores, of whatever serves and stores
	Asking  float64 `json:"asking_cpu_ms_per_item,omitempty"` // of all cores, of the product's clients
	Ratio   float64 `json:"annals_ratio"`
	Target  float64 `json:"target,omitempty"`
}

type imported struct {
	Engine     string  `json:"engine"`
	Records    int     `json:"records"`
	Rate       float64 `json:"per_second"`
	Understood float64 `json:"with_vectors_per_second"`
}

type starts struct {
	Engine string  `json:"engine"`
	What   string  `json:"what"`
	Times  int     `json:"times"`
	P50    float64 `json:"p50_ms"`
	Max    float64 `json:"max_ms"`
	Target float64 `json:"target_ms,omitempty"`
}

func newReport(o options) *report {
	return &report{
		Machine: bench.ThisMachine(), Sync: bench.Milliseconds(syncTime()), Engines: map[database.Engine]map[string]string{},
		Settings: settings{Seconds: o.time.Seconds(), Rounds: o.rounds, Rows: map[database.Engine]float64{}},
	}
}

func (r *report) describe(engine database.Engine, about map[string]string, samples []written) {
	count := 0
	for _, sample := range samples {
		for _, rows := range sample {
			count += len(rows.values)
		}
	}
	r.Engines[engine], r.Settings.Rows[engine] = about, float64(count)/float64(len(samples))
}

func (r *report) addRates(engine database.Engine, clients int, ways []way, runs [][]outcome) {
	for i, w := range ways {
		var times []time.Duration
		var rates, ratios, cpu, ask []float64
		for round, run := range runs[i] {
			times = append(times, run.times...)
			rates = append(rates, run.rate())
			cpu = append(cpu, run.cpu.Seconds()*1000/float64(len(run.times)))
			ask = append(ask, run.ask.Seconds()*1000/float64(len(run.times)))
			ratios = append(ratios, runs[0][round].rate()/run.rate())
		}
		spread := bench.SpreadOf(times)
		result := rate{
			Engine: engine.String(), Clients: clients, Way: w.name, Rate: median(rates), Ratio: median(ratios), CPU: median(cpu), Asking: median(ask),
			P50: bench.Milliseconds(spread.P50), P95: bench.Milliseconds(spread.P95), P99: bench.Milliseconds(spread.P99),
		}
		if clients == 64 {
			result.Target = w.target
		}
		r.Rates = append(r.Rates, result)
	}
}

func (r *report) addImport(engine database.Engine, records int, took, understood time.Duration) {
	r.Imports = append(r.Imports, imported{
		Engine: engine.String(), Records: records,
		Rate: float64(records) / took.Seconds(), Understood: float64(records) / understood.Seconds(),
	})
}

func (r *report) addStarts(engine database.Engine, cold, warm []time.Duration) {
	const target = 300
	for _, s := range []struct {
		what   string
		times  []time.Duration
		target float64
	}{{"with nothing", cold, target}, {"with a database", warm, 0}} {
		r.Starts = append(r.Starts, starts{
			Engine: engine.String(), What: s.what, Times: len(s.times), Target: s.target,
			P50: bench.Milliseconds(bench.SpreadOf(s.times).P50), Max: bench.Milliseconds(slices.Max(s.times)),
		})
	}
}

func median[T cmp.Ordered](list []T) T {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

func (r *report) print(to io.Writer) error {
	fmt.Fprintf(to, "Machine:   %s; a sync of 8 KiB takes %.3f ms\n", r.Machine, r.Sync)
	for engine, about := range r.Engines {
		fmt.Fprintf(to, "%-10s %v, %.0f rows an item\n", strings.ToUpper(string(engine[:1]))+string(engine[1:])+":", about, r.Settings.Rows[engine])
	}
	fmt.Fprintf(to, "Settings:  %.0f s a run, %d rounds in turn; rates and ratios are medians of the rounds\n", r.Settings.Seconds, r.Settings.Rounds)
	for _, print := range []func(io.Writer) error{r.printRates, r.printImports, r.printStarts} {
		if err := print(to); err != nil {
			return err
		}
	}
	return nil
}

func (r *report) printRates(to io.Writer) error {
	if len(r.Rates) == 0 {
		return nil
	}
	fmt.Fprintln(to, "\nRemembering, durably; CPU is the time of all cores that an item costs to serve and store, asking what it costs the clients; ratio is annals' rate to the row's")
	t := bench.NewTable(to, "engine", "clients", "who", "items/s", "p50 ms", "p95 ms", "p99 ms", "CPU ms", "asking ms", "ratio", "target")
	for _, res := range r.Rates {
		t.Row(res.Engine, res.Clients, res.Way, int(res.Rate), res.P50, res.P95, res.P99, res.CPU, res.Asking, fmt.Sprintf("%.2f", res.Ratio), atLeast(res.Target))
	}
	return t.End()
}

func atLeast(target float64) string {
	if target == 0 {
		return ""
	}
	return fmt.Sprintf("≥ %g", target)
}

func (r *report) printImports(to io.Writer) error {
	if len(r.Imports) == 0 {
		return nil
	}
	fmt.Fprintln(to, "\nImporting; with vectors is until they can be found by meaning, too")
	t := bench.NewTable(to, "engine", "records", "records/s", "with vectors")
	for _, res := range r.Imports {
		t.Row(res.Engine, res.Records, int(res.Rate), int(res.Understood))
	}
	return t.End()
}

func (r *report) printStarts(to io.Writer) error {
	if len(r.Starts) == 0 {
		return nil
	}
	fmt.Fprintln(to, "\nFrom start to first answer, milliseconds")
	t := bench.NewTable(to, "engine", "", "times", "p50", "max", "target")
	for _, res := range r.Starts {
		target := ""
		if res.Target > 0 {
			target = fmt.Sprintf("< %g", res.Target)
		}
		t.Row(res.Engine, res.What, res.Times, res.P50, res.Max, target)
	}
	return t.End()
}
