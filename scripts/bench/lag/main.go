// Command lag measures how long after a write has been answered the background projections have taken it in, while
// somebody writes at a steady rate that leaves the machine time to spare; and how far behind they are while many write
// as fast as they can.
//
//	scripts/postgres.sh run go run ./scripts/bench/lag
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/scripts/bench"
)

type options struct {
	bench.Asked

	rate    int
	clients int
	lasting time.Duration
}

// report is everything measured in a run.
type report struct {
	Machine bench.Machine                         `json:"machine"`
	Engines map[database.Engine]map[string]string `json:"engines"`
	Rate    int                                   `json:"writes_a_second"`
	Lags    []lag                                 `json:"lags"`
	Behind  []behind                              `json:"behind"`
}

// behind is how old the oldest event was that a projection had not read, while somebody wrote as fast as he could.
type behind struct {
	Engine     string  `json:"engine"`
	Rate       float64 `json:"items_a_second"`
	Projection string  `json:"projection"`
	P50        float64 `json:"p50_ms"`
	P95        float64 `json:"p95_ms"`
	Most       float64 `json:"most_ms"`
}

// lag is how long after its answer a write was taken in, by one projection.
type lag struct {
	Engine     string  `json:"engine"`
	Projection string  `json:"projection"` // "(the write itself)" for how long that took to be answered
	Writes     int     `json:"writes"`
	P50        float64 `json:"p50_ms"`
	P95        float64 `json:"p95_ms"`
	P99        float64 `json:"p99_ms"`
}

func main() { bench.Main(run) }

func run(ctx context.Context) error {
	o, err := parse()
	if err != nil {
		return err
	}
	r := &report{Machine: bench.ThisMachine(), Engines: map[database.Engine]map[string]string{}, Rate: o.rate}
	err = o.Each(func(engine database.Engine) error { return measure(ctx, engine, o, r) })
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
	flag.IntVar(&o.rate, "rate", 50, "how many writes a second")
	flag.IntVar(&o.clients, "clients", 64, "how many write afterwards as fast as they can")
	flag.DurationVar(&o.lasting, "for", 30*time.Second, "how long to write")
	err := o.Parse(func() bool { return o.rate >= 1 && o.clients >= 1 && o.lasting >= time.Second },
		"there must be a write a second, a client, and a second of them")
	return o, err
}

func (r *report) print(to io.Writer) error {
	fmt.Fprintf(to, "Machine:  %s\nWrites:   %d a second\nTarget:   p99 below 50 ms\n\n", r.Machine, r.Rate)
	t := bench.NewTable(to, "engine", "taken in by", "writes", "p50 ms", "p95 ms", "p99 ms")
	for _, l := range r.Lags {
		t.Row(l.Engine, l.Projection, l.Writes, l.P50, l.P95, l.P99)
	}
	if err := t.End(); err != nil {
		return err
	}
	fmt.Fprintln(to)
	t = bench.NewTable(to, "engine", "flat out, items/s", "behind is", "p50 ms", "p95 ms", "most ms")
	for _, b := range r.Behind {
		t.Row(b.Engine, int(b.Rate), b.Projection, b.P50, b.P95, b.Most)
	}
	return t.End()
}
