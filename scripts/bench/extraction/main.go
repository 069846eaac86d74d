// Command extraction measures how fast conversations are taken in and committed through HTTP, on both engines, and, given
// conversations with annotated evidence, how much of it an extractor makes knowledge of, and how long it takes to ask for that.
//
//	scripts/postgres.sh run go run ./scripts/bench/extraction [--locomo DIR]
//
// DIR holds knowledge.ndjson, one turn of a conversation a line, and queries.ndjson, questions with the ids of the turns that answer
// them. The extractor is the one that ANNALS_LLM_URL and ANNALS_LLM_MODEL name, else the built-in rules.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/extraction"
	"github.com/annals-kb/annals/scripts/bench"
)

type options struct {
	bench.Asked

	locomo    string
	clients   int
	messages  int
	commits   int
	extractor extraction.Extractor
}

// report is everything measured in a run.
type report struct {
	Machine   bench.Machine                         `json:"machine"`
	Engines   map[database.Engine]map[string]string `json:"engines"`
	Extractor string                                `json:"extractor"`
	Speed     []speed                               `json:"speed"`
	Coverage  []coverage                            `json:"coverage,omitempty"`
	Asked     []asked                               `json:"asked,omitempty"`
}

func main() { bench.Main(run) }

func run(ctx context.Context) error {
	o, err := parse()
	if err != nil {
		return err
	}
	r := report{Machine: bench.ThisMachine(), Engines: map[database.Engine]map[string]string{}, Extractor: o.extractor.Name()}
	err = o.Each(func(engine database.Engine) error { return measure(ctx, engine, o, &r) })
	if err != nil {
		return err
	}
	if err := r.print(); err != nil {
		return err
	}
	return o.Write(r)
}

func parse() (options, error) {
	var o options
	o.Flags()
	flag.StringVar(&o.locomo, "locomo", os.Getenv("LOCOMO"), "the directory with knowledge.ndjson and queries.ndjson; none to measure speed alone")
	flag.IntVar(&o.clients, "clients", 64, "how many add messages at the same time")
	flag.IntVar(&o.messages, "messages", 10_000, "how many messages are added")
	flag.IntVar(&o.commits, "commits", 1000, "how many commits are timed")
	err := o.Parse(func() bool { return o.clients >= 1 && o.messages >= o.clients && o.commits >= 1 },
		"the flags make no sense together")
	if err != nil {
		return o, err
	}
	o.extractor, _, err = extraction.FromEnvironment(os.Getenv)
	return o, err
}

func (r report) print() error {
	fmt.Printf("%s\nextractor: %s\n\n", r.Machine, r.Extractor)
	table := bench.NewTable(os.Stdout, "engine", "messages/s", "add p50 ms", "add p99 ms", "commit p50 ms", "commit p99 ms")
	for _, s := range r.Speed {
		table.Row(s.Engine, int(s.Rate), s.AddP50, s.AddP99, s.CommitP50, s.CommitP99)
	}
	if err := table.End(); err != nil || len(r.Coverage) == 0 {
		return err
	}
	fmt.Println()
	table = bench.NewTable(os.Stdout, "engine", "turns", "evidence", "covered", "turns in items", "items", "duplicates", "archive p50 ms", "archive p99 ms", "turns/s")
	for _, c := range r.Coverage {
		table.Row(c.Engine, c.Turns, c.Evidence, c.Covered, c.Used, c.Items, c.Duplicates, c.P50, c.P99, int(c.Rate))
	}
	if err := table.End(); err != nil {
		return err
	}
	fmt.Println()
	table = bench.NewTable(os.Stdout, "engine", "questions", "search p50 ms", "search p99 ms", "context p50 ms", "context p99 ms", "times a search", "items each")
	for _, a := range r.Asked {
		table.Row(a.Engine, a.Questions, a.SearchP50, a.SearchP99, a.ContextP50, a.ContextP99, a.Ratio, a.Told)
	}
	return table.End()
}
