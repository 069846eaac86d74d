package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/scripts/bench"
)

// writes is what the projection costs those who write.
type writes struct {
	Engine   string  `json:"engine"`
	Alone    float64 `json:"alone"`    // items a second, without it
	Followed float64 `json:"followed"` // with it
	Rebuild  float64 `json:"rebuild"`  // events a second when it is computed anew
}

// reads is one question, of the present and of the past.
type reads struct {
	Engine   string `json:"engine"`
	Question string `json:"question"`
	Found    int    `json:"found"`
	Now      figure `json:"now"`
	Then     figure `json:"then"`
}

type figure struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
}

func figureOf(times []time.Duration) figure {
	s := bench.SpreadOf(times)
	return figure{bench.Milliseconds(s.P50), bench.Milliseconds(s.P95)}
}

func measure(ctx context.Context, engine database.Engine, o options, r *report) (err error) {
	w, err := open(ctx, engine, o.Kept, true, o.vectors)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close(ctx)) }()
	var cost writes
	if o.Reuse == "" {
		if cost, err = fill(ctx, w, engine, o); err != nil {
			return err
		}
	}
	if o.Keep {
		return nil
	}
	// The items were remembered first, an event each.
	if err := ask(ctx, w, o, engine, int64(o.items), r); err != nil || o.Reuse != "" {
		return err
	}
	began := time.Now()
	if err := w.past.BeginAnew(ctx, domain.DefaultTenant); err != nil {
		return err
	}
	head, err := w.caughtUp(ctx, w.past.Name())
	if err != nil {
		return err
	}
	cost.Rebuild = float64(head) / time.Since(began).Seconds()
	r.Writes = append(r.Writes, cost)
	return nil
}

// fill remembers all items, the first of them beside a world without a past, and lets things happen to them.
func fill(ctx context.Context, followed *world, engine database.Engine, o options) (w writes, err error) {
	alone, err := open(ctx, engine, bench.Kept{}, false, false)
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, alone.close(ctx)) }()
	const rounds = 4
	var took [2]time.Duration
	bar := bench.Watch(fmt.Sprintf("%s: remember %d items", engine, o.items), o.items)
	for range rounds {
		for i, world := range []*world{alone, followed} {
			began := time.Now()
			if err := world.remember(ctx, o.appends/rounds); err != nil {
				return w, err
			}
			took[i] += time.Since(began)
			if i == 1 {
				if _, err := followed.caughtUp(ctx, followed.past.Name()); err != nil {
					return w, err
				}
				bar.Add(o.appends / rounds)
			}
		}
	}
	w = writes{
		Engine: string(engine), Alone: float64(o.appends) / took[0].Seconds(), Followed: float64(o.appends) / took[1].Seconds(),
	}
	for followed.items < o.items {
		few := min(5000, o.items-followed.items)
		if err := followed.remember(ctx, few); err != nil {
			return w, err
		}
		bar.Add(few)
	}
	bar.End()
	if err := followed.live(ctx, o.items/10); err != nil {
		return w, err
	}
	background := []string{followed.past.Name()}
	if o.vectors {
		background = append(background, followed.base.Meaning().Name())
	}
	if _, err := followed.caughtUp(ctx, background...); err != nil {
		return w, err
	}
	if engine == database.Postgres {
		_, err = followed.db.ExecContext(ctx, "VACUUM (ANALYZE)")
	}
	return w, err
}

// ask asks every question of the present and of a position of the past, in turn.
func ask(ctx context.Context, w *world, o options, engine database.Engine, position int64, r *report) error {
	reader := projections.Reader{Knowledge: w.base, Past: w.past, Progress: w.log}
	admin := domain.OpenPrincipal()
	member := domain.Principal{Tenant: admin.Tenant, Subject: "user:u1", Memberships: []domain.Entity{"team:t1", "team:t2"}, Role: domain.Member}
	list := func(by domain.Principal, f domain.Filter) func(int64) (int, error) {
		return func(asOf int64) (int, error) {
			page, err := reader.List(ctx, domain.List{By: by, Filter: f, AsOf: asOf})
			return len(page.Items), err
		}
	}
	search := func(by domain.Principal, text string) func(int64) (int, error) {
		return func(asOf int64) (int, error) {
			s, err := domain.Search{By: by, Text: text, AsOf: asOf}.Complete()
			if err != nil {
				return 0, err
			}
			answer, err := reader.Search(ctx, s)
			return len(answer.Hits), err
		}
	}
	yes := true
	own := domain.Principal{Tenant: admin.Tenant, Subject: "user:u1", Role: domain.Member}
	questions := []struct {
		name string
		ask  func(asOf int64) (int, error)
	}{
		{"get", func(asOf int64) (int, error) {
			if asOf == 0 {
				_, err := reader.Find(ctx, admin.Tenant, "i77")
				return 1, err
			}
			_, err := reader.AsOf(ctx, admin.Tenant, "i77", asOf)
			return 1, err
		}},
		{"list, everything", list(admin, domain.Filter{})},
		{"list, a type", list(admin, domain.Filter{Types: []domain.Type{domain.Tool}})},
		{"list, an owner", list(admin, domain.Filter{Owner: "user:u3"})},
		{"list, a scope", list(admin, domain.Filter{Scope: "team:t3"})},
		{"list, a tag", list(admin, domain.Filter{Tags: domain.Tags{"domain": {"d7"}}})},
		{"list, stale", list(admin, domain.Filter{Stale: &yes})},
		{"list, a member", list(member, domain.Filter{})},
		{"list, a member, a type", list(member, domain.Filter{Types: []domain.Type{domain.Plan}})},
		{"search, own and public", search(own, "word3 word70 word700")},
		{"search, everything", search(admin, "word3 word70 word700")},
	}
	for _, q := range questions {
		var now, then []time.Duration
		found := 0
		rounds := o.rounds
		if q.name == "search, everything" {
			rounds = max(3, o.rounds/10)
		}
		for round := range rounds {
			for _, asOf := range []int64{0, position} {
				began := time.Now()
				n, err := q.ask(asOf)
				if err != nil {
					return fmt.Errorf("%s: %w", q.name, err)
				}
				switch took := time.Since(began); {
				case round == 0: // the first of each only warms up
				case asOf == 0:
					now = append(now, took)
				default:
					then, found = append(then, took), n
				}
			}
		}
		r.Reads = append(r.Reads, reads{
			Engine: string(engine), Question: q.name, Found: found, Now: figureOf(now), Then: figureOf(then),
		})
	}
	return nil
}
