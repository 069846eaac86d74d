// Command rebuild measures a rebuild of the knowledge table from a log of a million events: its phases beside INSERT …
// SELECT of the same rows into tables of the same definition, its memory, and what 32 clients notice of it who read and
// write all the while.
//
//	scripts/postgres.sh run go run ./scripts/bench/rebuild
//
// The log is made up and written straight into its tables, with valid hashes; the first version of the projection comes
// from it by a repair.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/scripts/bench"
)

type options struct {
	bench.Asked

	events  int
	small   int
	rounds  int
	clients int
	think   time.Duration
	swaps   int
	profile string
	at      string // the URL of a database to use and to keep
	alone   string // the URL of a database to rebuild in this process, which is a child
}

func main() { bench.Main(run) }

func run(ctx context.Context) error {
	o, err := parse()
	if err != nil {
		return err
	}
	if o.alone != "" {
		return alone(ctx, o.alone, o.profile, os.Stdout)
	}
	r := newReport(o)
	err = o.Each(func(engine database.Engine) error {
		for _, size := range o.sizes() {
			if err := measure(ctx, engine, size, size == o.events, o, r); err != nil {
				return fmt.Errorf("%d events: %w", size, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := r.print(os.Stdout); err != nil {
		return err
	}
	return o.Write(r)
}

func parse() (options, error) {
	var o options
	o.Flags()
	flag.IntVar(&o.events, "events", 1_000_000, "how many events")
	flag.IntVar(&o.small, "small", 100_000, "how many events for the figure of memory to compare with")
	flag.IntVar(&o.rounds, "rounds", 2, "how often to measure a rebuild beside its reference")
	flag.IntVar(&o.clients, "clients", 32, "how many read and write during the last rebuild; 0 to leave that out")
	flag.DurationVar(&o.think, "think", 20*time.Millisecond, "how long a client waits between two requests")
	flag.IntVar(&o.swaps, "swaps", 50, "how often to switch to and fro under load")
	flag.StringVar(&o.profile, "profile", "", "write a profile of the processor during the last rebuild that nobody disturbs to this file")
	flag.StringVar(&o.at, "at", "", "use the database at this URL and keep it; a log is made there if there is none")
	flag.StringVar(&o.alone, "alone", "", "rebuild the database at this URL and print what it took: what the bench starts itself with")
	err := o.Parse(func() bool { return o.small >= 1000 && o.events >= o.small && o.rounds >= 0 && o.clients >= 0 },
		"there must be at least 1000 events and a round")
	switch {
	case strings.HasPrefix(o.at, "sqlite:"):
		o.Engines = []database.Engine{database.SQLite}
	case o.at != "":
		o.Engines = []database.Engine{database.Postgres}
	}
	return o, err
}

// sizes are those of the logs to rebuild from.
func (o options) sizes() []int {
	if o.at != "" || o.small == o.events {
		return []int{o.events}
	}
	return []int{o.small, o.events}
}
