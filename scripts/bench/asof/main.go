// Command asof measures questions about the past beside the same questions about the present, on the same items in one
// run, and what the projection of the past costs those who write.
//
//	scripts/postgres.sh run go run ./scripts/bench/asof
//
// With --keep the databases are filled and left, to be asked with --reuse.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/scripts/bench"
)

type options struct {
	bench.Kept
	items   int
	rounds  int
	appends int
	vectors bool
}

type report struct {
	Machine bench.Machine `json:"machine"`
	Items   int           `json:"items"`
	Vectors bool          `json:"vectors"`
	Writes  []writes      `json:"writes"`
	Reads   []reads       `json:"reads"`
}

func main() { bench.Main(run) }

func run(ctx context.Context) error {
	o, err := parse()
	if err != nil {
		return err
	}
	r := &report{Machine: bench.ThisMachine(), Items: o.items, Vectors: o.vectors}
	err = o.Each(func(engine database.Engine) error { return measure(ctx, engine, o, r) })
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
	flag.IntVar(&o.items, "items", 100_000, "how many items to ask about")
	flag.IntVar(&o.rounds, "rounds", 60, "how often to ask each question of the present and of the past, in turn")
	flag.IntVar(&o.appends, "appends", 10_000, "how many items to remember with the projection following, and without")
	flag.BoolVar(&o.vectors, "vectors", false, "give every item a vector, too, which takes minutes")
	err := o.Parse(func() bool { return o.items >= 1000 && o.rounds >= 1 && o.appends >= 1000 },
		"there must be at least 1000 items and a round")
	return o, err
}

func (r *report) print() error {
	fmt.Printf("\n%s\n%d items, and votes and revisions of a tenth of them; vectors: %t\n\n", r.Machine, r.Items, r.Vectors)
	t := bench.NewTable(os.Stdout, "engine", "items/s alone", "followed", "÷", "rebuild events/s")
	for _, w := range r.Writes {
		t.Row(w.Engine, int(w.Alone), int(w.Followed), w.Followed/w.Alone, int(w.Rebuild))
	}
	if err := t.End(); err != nil {
		return err
	}
	fmt.Println()
	t = bench.NewTable(os.Stdout, "engine", "question", "found", "now p50 ms", "then p50 ms", "÷", "now p95 ms", "then p95 ms")
	for _, q := range r.Reads {
		t.Row(q.Engine, q.Question, q.Found, q.Now.P50, q.Then.P50, q.Then.P50/q.Now.P50, q.Now.P95, q.Then.P95)
	}
	return t.End()
}
