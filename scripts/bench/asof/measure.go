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
	alone, err := open(ctx, engine, false, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, alone.close(ctx)) }()
	followed, err := open(ctx, engine, true, o.vectors)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, followed.close(ctx)) }()

	w := writes{Engine: string(engine)}
	const rounds = 4
	var took [2]time.Duration
	bar := bench.Watch(fmt.Sprintf("%s: remember %d items", engine, o.items), o.items)
	for range rounds {
		for i, world := range []*world{alone, followed} {
			began := time.Now()
			if err := world.remember(ctx, o.appends/rounds); err != nil {
				return err
			}
			took[i] += time.Since(began)
			if i == 1 {
				if _, err := followed.caughtUp(ctx, followed.past.Name()); err != nil {
					return err
				}
				bar.Add(o.appends / rounds)
			}
		}
	}
	w.Alone, w.Followed = float64(o.appends)/took[0].Seconds(), float64(o.appends)/took[1].Seconds()
	for followed.items < o.items {
		if err := followed.remember(ctx, min(5000, o.items-followed.items)); err != nil {
			return err
		}
		bar.Add(5000)
	}
	bar.End()
	middle, err := followed.caughtUp(ctx, followed.past.Name())
	if err != nil {
		return err
	}
	if err := followed.live(ctx, o.items/10); err != nil {
		return err
	}
	background := []string{followed.past.Name()}
	if o.vectors {
		background = append(background, followed.base.Meaning().Name())
	}
	head, err := followed.caughtUp(ctx, background...)
	if err != nil {
		return err
	}
	if engine == database.Postgres {
		if _, err := followed.db.ExecContext(ctx, "ANALYZE"); err != nil {
			return err
		}
	}
	if err := ask(ctx, followed, o, engine, middle, r); err != nil {
		return err
	}
	began := time.Now()
	if err := followed.past.BeginAnew(ctx, domain.DefaultTenant); err != nil {
		return err
	}
	if _, err := followed.caughtUp(ctx, followed.past.Name()); err != nil {
		return err
	}
	w.Rebuild = float64(head) / time.Since(began).Seconds()
	r.Writes = append(r.Writes, w)
	return nil
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
