// Command search measures searches by meaning among 100,000 items of mixed scopes with vectors of 1,536 dimensions: how
// many of the ten that an exact search finds are found, and how fast, beside the barest query by vector that the engine
// has, asked of the same data through the same driver in the same run.
//
//	scripts/postgres.sh run go run ./scripts/bench/search
//
// Every item is remembered through the log and every vector is written by the projection of meaning: the tables are what
// the product makes. That takes minutes; with --keep nothing else is done and the databases are left, to be measured with
// --reuse when the machine has nothing else to do.
package main

import (
	"context"
	"flag"
	"os"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/scripts/bench"
)

type options struct {
	bench.Kept
	items  int
	asked  int
	repeat int

	database bool
}

func main() { bench.Main(run) }

func run(ctx context.Context) error {
	o, err := parse()
	if err != nil {
		return err
	}
	w := newWorld(o.items, o.asked)
	if o.Keep {
		return keep(ctx, w, o)
	}
	t, err := newTruths(w)
	if err != nil {
		return err
	}
	report := newReport(w, o)
	err = o.Each(func(engine database.Engine) error { return measure(ctx, w, t, engine, o, report) })
	if err != nil {
		return err
	}
	if err := report.print(os.Stdout); err != nil {
		return err
	}
	return o.Write(report)
}

func parse() (options, error) {
	var o options
	o.Flags()
	flag.IntVar(&o.items, "items", 100_000, "how many items")
	flag.IntVar(&o.asked, "questions", 30, "how many questions")
	flag.IntVar(&o.repeat, "repeat", 3, "how often each is asked for the figures of speed, after once for those of quality")
	flag.BoolVar(&o.database, "no-sketches", false, "let PostgreSQL search sketches, as it does for tenants that are too large for the memory")
	err := o.Parse(func() bool { return o.items >= 50_000 && o.asked >= 1 && o.repeat >= 1 },
		"there must be at least 50000 items for the scopes to have their sizes, and one question")
	return o, err
}
