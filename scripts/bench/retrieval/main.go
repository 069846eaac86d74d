// Command retrieval measures how well and how fast questions find their evidence: in words alone, in meaning alone and
// both, on both engines, beside plain BM25.
//
//	scripts/postgres.sh run go run ./scripts/bench/retrieval --locomo DIR
//
// DIR holds knowledge.ndjson, records as "annals import" reads them, and queries.ndjson, questions with the ids of the
// records that answer them.
package main

import (
	"context"
	"flag"
	"os"
	"strings"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/scripts/bench"
)

type options struct {
	bench.Asked

	locomo string
	held   []string // scopes whose questions were held back while ranking was tuned
	repeat int
}

func main() { bench.Main(run) }

func run(ctx context.Context) error {
	o, err := parse()
	if err != nil {
		return err
	}
	c, err := readCorpus(o.locomo)
	if err != nil {
		return err
	}
	report := newReport(c, o)
	for _, reference := range references {
		report.add("memory", reference.name, reference.judge(c), nil)
	}
	err = o.Each(func(engine database.Engine) error { return measure(ctx, c, engine, o, report) })
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
	var held string
	o.Flags()
	flag.StringVar(&o.locomo, "locomo", "", "the directory with knowledge.ndjson and queries.ndjson")
	flag.StringVar(&held, "held-back", "", "comma-separated scopes that were not tuned on; default: the last half in order of name")
	flag.IntVar(&o.repeat, "repeat", 3, "how often every question is asked for the figures of speed, after once for those of quality")
	err := o.Parse(func() bool { return o.locomo != "" && o.repeat >= 1 }, "name the directory of the data with --locomo DIR")
	if held != "" {
		o.held = strings.Split(held, ",")
	}
	return o, err
}
