// Command wall measures what row-level security costs: the same questions and writes, in turn, by the owner of the tables,
// for whom it does not hold, and by a role that owns nothing, on the same database in one run.
//
//	scripts/postgres.sh run go run ./scripts/bench/wall
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/annals-kb/annals/scripts/bench"
)

type options struct {
	json    string
	items   int
	tenants int
	rounds  int
}

type report struct {
	Machine bench.Machine     `json:"machine"`
	About   map[string]string `json:"postgres"`
	Items   int               `json:"items"`
	Tenants int               `json:"tenants"`
	Work    []measured        `json:"work"`
}

// measured is how long something took, in milliseconds.
type measured struct {
	What   string  `json:"what"`
	Owner  float64 `json:"owner_p50"`
	Role   float64 `json:"role_p50"`
	Owner9 float64 `json:"owner_p95"`
	Role9  float64 `json:"role_p95"`
}

func main() { bench.Main(run) }

func run(ctx context.Context) error {
	var o options
	flag.StringVar(&o.json, "json", "", "write the report to this file, too")
	flag.IntVar(&o.items, "items", 20_000, "how many items there are, of all tenants together")
	flag.IntVar(&o.tenants, "tenants", 10, "how many tenants share them")
	flag.IntVar(&o.rounds, "rounds", 300, "how often everything is done by either, in turn")
	flag.Parse()
	if flag.NArg() > 0 || o.tenants < 1 || o.items < 100*o.tenants || o.rounds < 1 {
		flag.Usage()
		return errors.New("there must be a tenant, a hundred items of each, and a round")
	}
	r := &report{Machine: bench.ThisMachine(), Items: o.items, Tenants: o.tenants}
	if err := r.measure(ctx, o); err != nil {
		return err
	}
	fmt.Printf("\n%s\nPostgreSQL %s, %d items of %d tenants\n\n", r.Machine, r.About["version"], r.Items, r.Tenants)
	t := bench.NewTable(os.Stdout, "", "owner p50 ms", "role p50 ms", "÷", "owner p95 ms", "role p95 ms")
	for _, m := range r.Work {
		t.Row(m.What, m.Owner, m.Role, m.Role/m.Owner, m.Owner9, m.Role9)
	}
	if err := t.End(); err != nil {
		return err
	}
	return bench.WriteJSON(o.json, r)
}

func (r *report) measure(ctx context.Context, o options) (err error) {
	w, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close(ctx)) }()
	if r.About, err = bench.Describe(ctx, w.owner.db); err != nil {
		return err
	}
	for _, work := range w.works() {
		var times [2][]time.Duration
		for round := range o.rounds + 5 {
			order := []int{round % 2, 1 - round%2}
			for _, side := range order {
				took, err := timed(func() error { return work.do(ctx, []*party{w.owner, w.role}[side], round) })
				if err != nil {
					return fmt.Errorf("%s: %w", work.name, err)
				}
				if round >= 5 { // connections are open, and caches filled
					times[side] = append(times[side], took)
				}
			}
		}
		owner, role := bench.SpreadOf(times[0]), bench.SpreadOf(times[1])
		r.Work = append(r.Work, measured{
			What: work.name, Owner: bench.Milliseconds(owner.P50), Role: bench.Milliseconds(role.P50),
			Owner9: bench.Milliseconds(owner.P95), Role9: bench.Milliseconds(role.P95),
		})
	}
	return nil
}

func timed(do func() error) (time.Duration, error) {
	began := time.Now()
	err := do()
	return time.Since(began), err
}
