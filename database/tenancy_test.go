package database_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

// walled is a database in which acme and zeta have a row each in a table of content, and the URL at which a
// role serves it that owns nothing.
func walled(t *testing.T) (url string) {
	t.Helper()
	owner := databasetest.Open(t, databasetest.Postgres(t))
	if err := database.Migrate(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	url = databasetest.LetServe(t, owner)
	mustTransact(t, owner, `
		INSERT INTO streams (tenant, stream, version, position, form, state)
		VALUES ('acme', 'knowledge:a', 1, 1, 1, '{}'), ('zeta', 'knowledge:z', 1, 1, 1, '{}')`)
	return url
}

const unmindful = `SELECT tenant FROM streams ORDER BY tenant`

func seen(t *testing.T, ctx context.Context, db database.Querier) []string { //nolint:revive // t first, as everywhere in tests
	t.Helper()
	found := []string{}
	err := database.ForEach(ctx, db, func(rows *sql.Rows) error {
		var tenant string
		err := rows.Scan(&tenant)
		found = append(found, tenant)
		return err
	}, unmindful)
	if err != nil {
		t.Error(err)
	}
	return found
}

func TestAStatementThatForgetsTheTenantIsShownOneTenant(t *testing.T) {
	t.Parallel()
	app := databasetest.Open(t, walled(t))
	for _, c := range []struct {
		name string
		ctx  context.Context
		want []string
	}{
		{"nobody", t.Context(), []string{}},
		{"no tenant", database.ForTenant(t.Context(), ""), []string{}},
		{"a tenant", database.ForTenant(t.Context(), "acme"), []string{"acme"}},
		{"one after another", database.ForTenant(database.ForEveryTenant(t.Context()), "zeta"), []string{"zeta"}},
		{"a tenant whose name is SQL", database.ForTenant(t.Context(), `'; SET LOCAL annals.tenant = '*`), []string{}},
		{"every tenant", database.ForEveryTenant(t.Context()), []string{"acme", "zeta"}},
		{"nobody, on a connection where somebody was", t.Context(), []string{}},
	} {
		if diff := cmp.Diff(c.want, seen(t, c.ctx, app.DB)); diff != "" {
			t.Errorf("%s, reading: %s", c.name, diff)
		}
		var inside, then []string
		err := app.Transact(c.ctx, func(ctx context.Context, tx bun.Tx) error {
			inside = seen(t, database.ForEveryTenant(ctx), tx) // a transaction goes on as it began
			then = seen(t, ctx, tx)
			return nil
		})
		if diff := cmp.Diff([][]string{c.want, c.want}, [][]string{inside, then}); err != nil || diff != "" {
			t.Errorf("%s, in a transaction: %v %s", c.name, err, diff)
		}
		snapshot, err := app.BeginTx(c.ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, seen(t, c.ctx, snapshot)); diff != "" {
			t.Errorf("%s, in a snapshot: %s", c.name, diff)
		}
		if err := snapshot.Rollback(); err != nil {
			t.Error(err)
		}
	}
}

func TestNobodyWritesRowsOfAnotherTenant(t *testing.T) {
	t.Parallel()
	app := databasetest.Open(t, walled(t))
	write := func(statement string) (changed int64, err error) {
		err = app.Transact(database.ForTenant(t.Context(), "acme"), func(ctx context.Context, tx bun.Tx) error {
			result, err := tx.ExecContext(ctx, statement)
			if err == nil {
				changed, err = result.RowsAffected()
			}
			return err
		})
		return changed, err
	}
	_, err := write(`INSERT INTO streams (tenant, stream, version, position, form, state) VALUES ('zeta', 'knowledge:y', 1, 2, 1, '{}')`)
	if err == nil || !strings.Contains(err.Error(), "row-level security") {
		t.Errorf("got %v of a row for another tenant", err)
	}
	if changed, err := write(`UPDATE streams SET version = 2`); changed != 1 || err != nil {
		t.Errorf("an update of everything changed %d rows, %v", changed, err)
	}
	if changed, err := write(`DELETE FROM streams WHERE tenant = 'zeta'`); changed != 0 || err != nil {
		t.Errorf("%d rows of another tenant were deleted, %v", changed, err)
	}
}

func TestWhoeverSharesConnectionsIsShownHisOwn(t *testing.T) {
	t.Parallel()
	app := databasetest.Open(t, withQuery(t, walled(t), "pool_max_conns", "3"))
	var asking sync.WaitGroup
	for i := range 40 {
		asking.Go(func() {
			tenant := []string{"acme", "zeta", ""}[i%3]
			ctx := database.ForTenant(t.Context(), tenant)
			want := slices.DeleteFunc([]string{tenant}, func(s string) bool { return s == "" })
			if i%4 == 0 { // leaves a failed statement behind
				_, _ = app.ExecContext(ctx, "SELECT 1/0")
			}
			if diff := cmp.Diff(want, seen(t, ctx, app.DB)); diff != "" {
				t.Errorf("%q: %s", tenant, diff)
			}
		})
	}
	asking.Wait()
}

// What a session said once is gone with its transaction, and what cannot be in one is sent by itself.
func TestWhoseRowsAreSeenCostsNoRoundTrip(t *testing.T) {
	t.Parallel()
	proxy := databasetest.NewProxy(t, walled(t))
	app := databasetest.Open(t, proxy.URL)
	ctx := database.ForTenant(t.Context(), "acme")
	seen(t, ctx, app.DB)
	mustTransact(t, app, "SELECT 1") // opens both connections
	for what, do := range map[string]struct {
		trips int64
		do    func() error
	}{
		"a read": {1, func() error { seen(t, ctx, app.DB); return nil }},
		"a write": {1, func() error {
			return app.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
				return finish(ctx, tx, "UPDATE streams SET version = 3")
			})
		}},
		"a read and a write": {2, func() error {
			return app.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
				seen(t, ctx, tx)
				return finish(ctx, tx, "UPDATE streams SET version = 4")
			})
		}},
	} {
		before := proxy.Trips()
		if err := do.do(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if got := proxy.Trips() - before; got != do.trips {
			t.Errorf("%s: got %d round trips, want %d", what, got, do.trips)
		}
	}
	if _, err := app.ExecContext(ctx, "VACUUM checkpoints"); err != nil {
		t.Errorf("what must not be in a transaction: %v", err)
	}
}

func TestDoctorSeesWhatSeparatesTenants(t *testing.T) {
	t.Parallel()
	owner := databasetest.Open(t, databasetest.Postgres(t))
	if err := database.Migrate(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	separates := func(db *database.DB) database.Protection {
		walls, err := database.Protections(t.Context(), db)
		if err != nil || len(walls) != 3 {
			t.Fatalf("got %v, %v", walls, err)
		}
		return walls[2]
	}
	if w := separates(owner); w.Stands || w.Fix == "" || !strings.Contains(w.Detail, "event_texts") {
		t.Errorf("got %+v of the owner", w)
	}
	app := databasetest.Open(t, databasetest.LetServe(t, owner))
	if w := separates(app); !w.Stands {
		t.Errorf("got %+v of the role that serves", w)
	}
	mustTransact(t, owner, "ALTER TABLE requests DISABLE ROW LEVEL SECURITY")
	if w := separates(app); w.Stands || !strings.Contains(w.Detail, "in requests") {
		t.Errorf("got %+v without a part of it", w)
	}
}

// A new table with rows of tenants is behind the wall, unless it is said here that it need not be.
func TestEveryTableOfTenantsIsBehindTheWallButForThese(t *testing.T) {
	t.Parallel()
	owner := databasetest.Open(t, databasetest.Postgres(t))
	if err := database.Migrate(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	databasetest.LetServe(t, owner)
	var open []string
	err := owner.NewRaw(`
		SELECT c.relname
		FROM pg_class AS c
		JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'tenant'
		WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND NOT c.relrowsecurity
		ORDER BY c.relname`).Scan(t.Context(), &open)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"checkpoints", "quarantine", "rebuild_slices", "signed_checkpoints", "tree"}
	if diff := cmp.Diff(want, open); diff != "" {
		t.Error(fmt.Sprint("tables that anybody may read, want and got: ", diff))
	}
}
