package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
	"github.com/annals-kb/annals/scripts/bench"
)

// report is everything measured in a run.
type report struct {
	Machine  bench.Machine                         `json:"machine"`
	Engines  map[database.Engine]map[string]string `json:"engines"`
	Settings settings                              `json:"settings"`
	Results  []result                              `json:"results"`

	corpus corpus
	held   []string
}

type settings struct {
	Records  int      `json:"records"`
	Depth    int      `json:"depth"`
	Repeat   int      `json:"repeat"`
	Embedder string   `json:"embedder"`
	MinScore float64  `json:"min_score"` // of both; words alone has the same, meaning alone none
	Tuned    []string `json:"tuned_on"`
	Held     []string `json:"held_back"`
}

// result is how one way to search did.
type result struct {
	Engine     string             `json:"engine"`
	Way        string             `json:"way"`
	All        quality            `json:"all"`
	Tuned      quality            `json:"tuned_on"`
	Held       quality            `json:"held_back"`
	Categories map[string]quality `json:"categories"`
	P50        float64            `json:"p50_ms,omitempty"`
	P95        float64            `json:"p95_ms,omitempty"`
	P99        float64            `json:"p99_ms,omitempty"`
}

var categories = []string{"single-hop", "multi-hop", "temporal", "open-domain"}

func newReport(c corpus, o options) *report {
	r := &report{
		Machine: bench.ThisMachine(), Engines: map[database.Engine]map[string]string{}, corpus: c, held: o.held,
	}
	if len(r.held) == 0 {
		for _, scope := range c.scopes[(len(c.scopes)+1)/2:] {
			r.held = append(r.held, string(scope))
		}
	}
	embedder := embedding.Builtin{}
	r.Settings = settings{
		Records: len(c.records), Depth: depth, Repeat: o.repeat,
		Embedder: embedder.Name(), MinScore: embedder.Calibration().MinScore, Held: r.held,
	}
	for _, scope := range c.scopes {
		if !r.isHeld(scope) {
			r.Settings.Tuned = append(r.Settings.Tuned, string(scope))
		}
	}
	return r
}

func (r *report) isHeld(scope domain.Scope) bool { return slices.Contains(r.held, string(scope)) }

// add judges what a way to search found.
func (r *report) add(engine, way string, found [][]string, times []time.Duration) {
	judged := func(wanted func(query) bool) quality { return judge(r.corpus.queries, found, wanted) }
	res := result{
		Engine: engine, Way: way, Categories: map[string]quality{},
		All:   judged(func(query) bool { return true }),
		Tuned: judged(func(q query) bool { return !r.isHeld(q.Scope) }),
		Held:  judged(func(q query) bool { return r.isHeld(q.Scope) }),
	}
	for _, category := range categories {
		res.Categories[category] = judged(func(q query) bool { return q.Category == category })
	}
	spread := bench.SpreadOf(times)
	res.P50, res.P95, res.P99 = bench.Milliseconds(spread.P50), bench.Milliseconds(spread.P95), bench.Milliseconds(spread.P99)
	r.Results = append(r.Results, res)
}

func (r *report) print(to io.Writer) error {
	fmt.Fprintf(to, "Machine:   %s\n", r.Machine)
	for engine, about := range r.Engines {
		fmt.Fprintf(to, "%-10s %v\n", strings.ToUpper(string(engine[:1]))+string(engine[1:])+":", about)
	}
	fmt.Fprintf(to, "Data:      %d records, %d questions; tuned on %s; held back %s\n", r.Settings.Records,
		len(r.corpus.queries), strings.Join(r.Settings.Tuned, " "), strings.Join(r.Settings.Held, " "))
	fmt.Fprintf(to, "Settings:  embedder %s, the first %d hits, speed over %d rounds after a first\n\n",
		r.Settings.Embedder, depth, r.Settings.Repeat)

	fmt.Fprintln(to, "Recall@10")
	if err := r.table(to, func(q quality) float64 { return q.Recall }); err != nil {
		return err
	}
	fmt.Fprintln(to, "\nMRR@10")
	if err := r.table(to, func(q quality) float64 { return q.MRR }); err != nil {
		return err
	}
	fmt.Fprintln(to, "\nA search in this process, milliseconds")
	t := bench.NewTable(to, "engine", "way", "p50", "p95", "p99")
	for _, res := range r.Results {
		if res.P50 > 0 {
			t.Row(res.Engine, res.Way, res.P50, res.P95, res.P99)
		}
	}
	return t.End()
}

func (r *report) table(to io.Writer, figure func(quality) float64) error {
	t := bench.NewTable(to, append([]string{"engine", "way", "all", "tuned on", "held back"}, categories...)...)
	for _, res := range r.Results {
		cells := []any{res.Engine, res.Way, figure(res.All), figure(res.Tuned), figure(res.Held)}
		for _, category := range categories {
			cells = append(cells, figure(res.Categories[category]))
		}
		t.Row(cells...)
	}
	return t.End()
}
