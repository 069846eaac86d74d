package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/scripts/bench"
)

// party is the owner of the tables, or the role that owns nothing, with all that it reads and writes by.
type party struct {
	name string
	db   *database.DB
	base *projections.Knowledge
	log  *events.Log
}

func newParty(ctx context.Context, name string, db *database.DB) (*party, error) {
	base, err := projections.Open(ctx, db, projections.Settings{})
	if err != nil {
		return nil, err
	}
	return &party{name, db, base, events.NewLog(db, base, events.Options{Logger: slog.New(slog.DiscardHandler)})}, nil
}

type world struct {
	options
	owner, role *party
	away        func() error
}

// open fills a fresh database, and lets a role serve it.
func open(ctx context.Context, o options) (w *world, err error) {
	db, address, away, err := bench.Fresh(ctx, database.Postgres)
	if err != nil {
		return nil, err
	}
	w = &world{options: o, away: away}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close(ctx))
		}
	}()
	if w.owner, err = newParty(ctx, "owner", db); err != nil {
		return w, err
	}
	if err := w.fill(ctx); err != nil {
		return w, err
	}
	as, err := w.letServe(ctx, address)
	if err != nil {
		return w, err
	}
	served, err := database.Open(ctx, as, slog.New(slog.DiscardHandler))
	if err != nil {
		return w, err
	}
	w.role, err = newParty(ctx, "role", served)
	return w, err
}

// letServe makes a role that goes with the database.
func (w *world) letServe(ctx context.Context, address string) (string, error) {
	role, password := "annals_bench_"+strings.ToLower(rand.Text()), rand.Text()
	statement := fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD '%s'", role, password)
	if err := w.exec(ctx, statement); err != nil {
		return "", err
	}
	inner := w.away
	w.away = func() error {
		return errors.Join(w.exec(context.WithoutCancel(ctx), "DROP OWNED BY "+role+" CASCADE; DROP ROLE "+role), inner())
	}
	parsed, err := url.Parse(address)
	if err != nil {
		return "", errors.New("the address of the database does not parse")
	}
	parsed.User = url.UserPassword(role, password)
	return parsed.String(), errors.Join(w.owner.db.GrantTo(ctx, role), w.exec(ctx, "ANALYZE"))
}

func (w *world) exec(ctx context.Context, statement string) error {
	return w.owner.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, statement)
		return err
	})
}

func (w *world) close(ctx context.Context) error {
	var errs []error
	for _, p := range []*party{w.role, w.owner} {
		if p != nil {
			errs = append(errs, p.log.Close(context.WithoutCancel(ctx)))
		}
	}
	if w.role != nil {
		errs = append(errs, w.role.db.Close())
	}
	return errors.Join(append(errs, w.away())...)
}

func (w *world) tenant(n int) string { return fmt.Sprint("t", n%w.tenants) }

func (w *world) by(n int) domain.Principal {
	by := domain.OpenPrincipal()
	by.Tenant = w.tenant(n)
	return by
}

func (w *world) remembering(n int, id string) (domain.Submission, error) {
	by := w.by(n)
	command, err := domain.Remember{By: by, ID: id, Knowledge: domain.Remembered{
		Type: domain.Strategy, Owner: "user:u", Scopes: []domain.Scope{domain.Public},
		Text: domain.Text{Content: fmt.Sprintf("what number %d says about word%d and word%d, of tenant %s", n, n%997, n%89, by.Tenant)},
	}}.Complete()
	return domain.Submission{Command: command, By: by}, err
}

func (w *world) fill(ctx context.Context) error {
	const batch = 500
	bar := bench.Watch("remembering", w.items)
	defer bar.End()
	for n := 0; n < w.items; n += batch {
		var all []domain.Submission
		for i := n; i < min(n+batch, w.items); i++ {
			submission, err := w.remembering(i, fmt.Sprint("i", i))
			if err != nil {
				return err
			}
			all = append(all, submission)
		}
		for _, result := range w.owner.log.SubmitAll(ctx, all) {
			if result.Err != nil {
				return result.Err
			}
		}
		bar.Add(len(all))
	}
	return nil
}

// work is something that is done in turn by either party, for one tenant after the other.
type work struct {
	name string
	do   func(ctx context.Context, p *party, round int) error
}

func (w *world) works() []work {
	confined := func(do func(ctx context.Context, p *party, round int) error) func(context.Context, *party, int) error {
		return func(ctx context.Context, p *party, round int) error {
			return do(database.ForTenant(ctx, w.tenant(round)), p, round)
		}
	}
	return []work{
		{"get", confined(func(ctx context.Context, p *party, n int) error {
			_, err := p.base.Find(ctx, w.tenant(n), fmt.Sprint("i", n))
			return err
		})},
		{"search", confined(func(ctx context.Context, p *party, n int) error {
			search, err := domain.Search{By: w.by(n), Text: fmt.Sprintf("word%d word%d", n%997, n%89)}.Complete()
			if err == nil {
				_, err = p.base.Search(ctx, search)
			}
			return err
		})},
		{"list 100", confined(func(ctx context.Context, p *party, n int) error {
			_, err := p.base.List(ctx, domain.List{By: w.by(n), Limit: 100})
			return err
		})},
		{"events, a page of 500", confined(func(ctx context.Context, p *party, n int) error {
			_, err := p.log.Records(ctx, w.tenant(n), 0, 500)
			return err
		})},
		{"a tenant's whole log", confined(func(ctx context.Context, p *party, n int) error {
			for _, err := range p.log.All(ctx, w.tenant(n), 0) {
				if err != nil {
					return err
				}
			}
			return nil
		})},
		{"remember one", confined(func(ctx context.Context, p *party, n int) error {
			submission, err := w.remembering(n, fmt.Sprint(p.name, "-", n))
			if err == nil {
				_, err = p.log.Submit(ctx, submission)
			}
			return err
		})},
	}
}
