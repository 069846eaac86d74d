package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/scripts/bench"
)

// report is everything measured in a run.
type report struct {
	Machine  bench.Machine                         `json:"machine"`
	Engines  map[database.Engine]map[string]string `json:"engines"`
	Loading  map[database.Engine]string            `json:"loading,omitempty"`
	Settings settings                              `json:"settings"`
	Results  []result                              `json:"results"`
}

type settings struct {
	Items     int `json:"items"`
	Dims      int `json:"dims"`
	Topics    int `json:"topics"`
	Questions int `json:"questions"`
	Repeat    int `json:"repeat"`
	Depth     int `json:"depth"`
}

// result is how a row did. The ratio is of the row's p95 to the bare query's of the same engine.
type result struct {
	Engine   string  `json:"engine"`
	Row      string  `json:"row"`
	Visible  int     `json:"visible,omitempty"`
	Plans    string  `json:"plans,omitempty"`
	Recall   float64 `json:"recall_at_10,omitempty"`
	Priority float64 `json:"recall_at_10_by_priority,omitempty"`
	P50      float64 `json:"p50_ms"`
	P95      float64 `json:"p95_ms"`
	P99      float64 `json:"p99_ms"`
	Ratio    float64 `json:"p95_ratio"`
	Target   bool    `json:"has_target"`
}

func newReport(w *world, o options) *report {
	return &report{
		Machine: bench.ThisMachine(), Engines: map[database.Engine]map[string]string{}, Loading: map[database.Engine]string{},
		Settings: settings{
			Items: len(w.items), Dims: dims, Topics: topics, Questions: len(w.questions), Repeat: o.repeat, Depth: depth,
		},
	}
}

func (r *report) add(engine database.Engine, race *race) {
	bare := bench.SpreadOf(race.bare.times)
	measured := func(res result, s bench.Spread) {
		res.Engine = engine.String()
		res.P50, res.P95, res.P99 = bench.Milliseconds(s.P50), bench.Milliseconds(s.P95), bench.Milliseconds(s.P99)
		res.Ratio = float64(s.P95) / float64(bare.P95)
		r.Results = append(r.Results, res)
	}
	asked := float64(len(race.world.questions))
	measured(result{Row: race.bare.name(), Visible: len(race.world.items), Recall: race.bare.recall / asked}, bare)
	for _, row := range race.rows {
		res := result{Row: row.name, Visible: len(row.visible), Plans: row.plans, Target: row.target}
		if !row.words {
			res.Recall, res.Priority = row.recall[domain.ByScore]/asked, row.recall[domain.ByPriority]/asked
		}
		measured(res, bench.SpreadOf(row.times))
	}
}

func (r *report) print(to io.Writer) error {
	fmt.Fprintf(to, "Machine:   %s\n", r.Machine)
	for engine, about := range r.Engines {
		fmt.Fprintf(to, "%-10s %v %s\n", strings.ToUpper(string(engine[:1]))+string(engine[1:])+":", about, r.Loading[engine])
	}
	fmt.Fprintf(to, "Settings:  %+v\n", r.Settings)
	fmt.Fprintf(to, "Targets:   recall@10 at least 0.99, p95 at most twice the bare query's, in the rows marked *\n\n")
	t := bench.NewTable(to, "engine", "who searches", "", "visible", "plans", "recall@10", "by priority", "p50 ms", "p95 ms", "p99 ms", "p95 ratio")
	for _, res := range r.Results {
		mark := ""
		if res.Target {
			mark = "*"
		}
		t.Row(res.Engine, res.Row, mark, res.Visible, res.Plans, orBlank(res.Recall), orBlank(res.Priority), res.P50, res.P95, res.P99, res.Ratio)
	}
	return t.End()
}

// orBlank leaves out what was not measured.
func orBlank(figure float64) any {
	if figure == 0 {
		return ""
	}
	return figure
}
