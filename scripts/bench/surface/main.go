// Command surface asks the same questions of /v1/search and of /api/v1/search/find, in turn, over HTTP on the same database: finding
// through the surface that OpenViking's clients know must not take more than a tenth longer.
//
//	scripts/postgres.sh run go run ./scripts/bench/surface
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/scripts/bench"
)

type options struct {
	bench.Asked

	items   int
	asked   int
	rounds  int
	profile string
}

// report is everything measured in a run.
type report struct {
	Machine bench.Machine                         `json:"machine"`
	Engines map[database.Engine]map[string]string `json:"engines"`
	Asked   []asked                               `json:"asked"`
}

// asked is how long the answers to some questions took.
type asked struct {
	Engine    string  `json:"engine"`
	Items     int     `json:"items"`
	Questions int     `json:"questions"`
	Search    float64 `json:"search_p50_ms"`
	SearchP95 float64 `json:"search_p95_ms"`
	Find      float64 `json:"find_p50_ms"`
	FindP95   float64 `json:"find_p95_ms"`
	Ratio     float64 `json:"ratio"` // the median of what find took of what search took for the same question in the same round
}

func main() { bench.Main(run) }

func run(ctx context.Context) error {
	var o options
	o.Flags()
	flag.IntVar(&o.items, "items", 100_000, "how many items; a tenth of them is measured first")
	flag.IntVar(&o.asked, "questions", 50, "how many questions")
	flag.IntVar(&o.rounds, "rounds", 10, "how often each is asked")
	flag.StringVar(&o.profile, "profile", "", "write a profile of the processor to this file")
	if err := o.Parse(func() bool { return o.items >= 1000 && o.asked >= 1 && o.rounds >= 1 }, "there must be a thousand items, a question and a round"); err != nil {
		return err
	}
	r := &report{Machine: bench.ThisMachine(), Engines: map[database.Engine]map[string]string{}}
	err := bench.Profiled(o.profile, func(func()) error {
		return o.Each(func(engine database.Engine) error { return measure(ctx, engine, o, r) })
	})
	if err != nil {
		return err
	}
	if err := r.print(os.Stdout); err != nil {
		return err
	}
	return o.Write(r)
}

func (r *report) print(to io.Writer) error {
	fmt.Fprintf(to, "Machine:  %s\nTarget:   find within 10 %% of /v1/search\n\n", r.Machine)
	t := bench.NewTable(to, "engine", "items", "answers", "/v1/search p50 ms", "p95 ms", "find p50 ms", "p95 ms", "find / search")
	for _, a := range r.Asked {
		t.Row(a.Engine, a.Items, a.Questions, a.Search, a.SearchP95, a.Find, a.FindP95, a.Ratio)
	}
	return t.End()
}
