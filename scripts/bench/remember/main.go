// Command remember measures durable writes: remembering through HTTP with 1, 8 and 64 clients, beside a database that is
// given the same inserts without Annals, one transaction for each; importing; and starting.
//
//	scripts/postgres.sh run go run ./scripts/bench/remember
//
// It builds the program and runs it as everybody does, on loopback, with databases of its own.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/scripts/bench"
)

type options struct {
	bench.Asked

	program program
	parts   []string
	clients []int
	time    time.Duration // of one run
	rounds  int
	records int
	starts  int
}

// The parts of the bench.
const (
	partRate   = "rate"
	partImport = "import"
	partStart  = "start"
)

func main() { bench.Main(run) }

func run(ctx context.Context) (err error) {
	o, err := parse()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "annals-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.program.path == "" {
		if o.program.path, err = build(ctx, dir); err != nil {
			return err
		}
	}
	measured := newReport(o)
	err = o.Each(func(engine database.Engine) error {
		for _, part := range []struct {
			name    string
			measure func(context.Context, program, database.Engine, options, *report) error
		}{{partStart, measureStarts}, {partRate, measureRates}, {partImport, measureImport}} {
			if !slices.Contains(o.parts, part.name) {
				continue
			}
			if err := part.measure(ctx, o.program, engine, o, measured); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := measured.print(os.Stdout); err != nil {
		return err
	}
	return o.Write(measured)
}

func parse() (options, error) {
	var o options
	var parts, clients string
	var seconds int
	o.Flags()
	flag.StringVar(&o.program.path, "program", "", "measure this program instead of building one")
	flag.StringVar(&o.program.profile, "profile", "", "write a profile of the processor of the server that ran last to this file")
	flag.StringVar(&parts, "parts", "start,rate,import", "what to measure")
	flag.StringVar(&clients, "clients", "1,8,64", "how many clients remember at once")
	flag.IntVar(&seconds, "seconds", 10, "how long one run lasts")
	flag.IntVar(&o.rounds, "rounds", 2, "how often every way has its turn")
	flag.IntVar(&o.records, "records", 20_000, "how many records are imported")
	flag.IntVar(&o.starts, "starts", 10, "how often the program is started")
	err := o.Parse(func() bool { return seconds >= 1 && o.rounds >= 1 && o.records >= 1 && o.starts >= 1 }, "every number must be at least 1")
	if err != nil {
		return o, err
	}
	o.time, o.parts = time.Duration(seconds)*time.Second, strings.Split(parts, ",")
	for _, part := range o.parts {
		if part != partRate && part != partImport && part != partStart {
			return o, fmt.Errorf("the part %q is not known: use %s, %s or %s", part, partStart, partRate, partImport)
		}
	}
	for number := range strings.SplitSeq(clients, ",") {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return o, fmt.Errorf("%q is no number of clients", number)
		}
		o.clients = append(o.clients, n)
	}
	return o, nil
}
