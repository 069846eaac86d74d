package database_test

import (
	"context"
	"crypto/rand"
	"net/url"
	"strings"
	"testing"

	"github.com/lib/pq"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

func TestARoleThatOwnsNothingCanOnlyAppend(t *testing.T) {
	t.Parallel()
	address := databasetest.Postgres(t)
	owner := databasetest.Open(t, address)
	if err := database.Migrate(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	role := "annals_app_" + strings.ToLower(rand.Text()[:8])
	if err := database.GrantTo(t.Context(), owner, role); err == nil || !strings.Contains(err.Error(), "CREATE ROLE") {
		t.Errorf("got %v of a role that is not there", err)
	}
	mustTransact(t, owner, "CREATE ROLE "+role+" LOGIN PASSWORD 'secret'")
	t.Cleanup(func() {
		err := owner.Transact(context.WithoutCancel(t.Context()), func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.ExecContext(ctx, "DROP OWNED BY "+role+"; DROP ROLE "+role)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	for range 2 { // again, as after every migration
		if err := database.GrantTo(t.Context(), owner, role); err != nil {
			t.Fatal(err)
		}
	}
	walls, err := database.Protections(t.Context(), owner)
	if err != nil || walls[0].Stands || !walls[1].Stands || walls[0].Fix == "" {
		t.Errorf("got %+v (%v) of the owner, want that the first does not stand", walls, err)
	}

	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	parsed.User = url.UserPassword(role, "secret")
	app := databasetest.Open(t, parsed.String())
	if err := database.Migrate(t.Context(), app); err != nil { // there is nothing to do
		t.Error(err)
	}
	walls, err = database.Protections(t.Context(), app)
	if err != nil || !walls[0].Stands || !walls[1].Stands {
		t.Errorf("got %+v (%v), want both to stand", walls, err)
	}
	for _, table := range []string{"events", "event_texts", "tree", "signed_checkpoints"} {
		refused := []string{
			"UPDATE " + table + " SET tenant = 'x'", "TRUNCATE " + table, "DROP TABLE " + table,
			"ALTER TABLE " + table + " DISABLE TRIGGER ALL", "DROP TRIGGER " + table + "_append_only ON " + table,
			"ALTER TABLE " + table + " OWNER TO " + role,
			"CREATE RULE r AS ON INSERT TO " + table + " DO INSTEAD NOTHING",
		}
		if table != "event_texts" {
			refused = append(refused, "DELETE FROM "+table)
		}
		mustTransact(t, app, "GRANT UPDATE ON "+table+" TO "+role) // grants nothing, with a warning
		for _, statement := range refused {
			if code := refusal(t, app, statement); code != "42501" {
				t.Errorf("%s: got %q, want insufficient privilege", statement, code)
			}
		}
	}
	for _, statement := range []string{
		"SET session_replication_role = replica", "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE sql AS ''",
		"UPDATE schema_migrations SET version = 1",
	} {
		if code := refusal(t, app, statement); code == "" {
			t.Errorf("%s is not refused", statement)
		}
	}
	mustTransact(t, app, "CREATE TABLE knowledge_7 (id text)") // as a rebuild does
	mustTransact(t, app, "UPDATE checkpoints SET position = 0")
	mustTransact(t, app, "DROP TABLE knowledge_7")

	var me string
	if err := owner.NewRaw("SELECT current_user").Scan(t.Context(), &me); err != nil {
		t.Fatal(err)
	}
	if err := database.GrantTo(t.Context(), owner, me); err == nil {
		t.Error("the owner is accepted as a role that owns nothing")
	}
}

// refusal is the code with which a statement is refused; empty if it is not.
func refusal(t *testing.T, db *database.DB, statement string) string {
	t.Helper()
	err := db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, statement)
		return err
	})
	if refused := pq.As(err); refused != nil {
		return string(refused.Code)
	}
	return ""
}

func TestDoctorSeesATriggerThatIsGone(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		statement := "DROP TRIGGER events_append_only"
		if db.Engine == database.Postgres {
			statement = "ALTER TABLE events DISABLE TRIGGER events_append_only"
		}
		mustTransact(t, db, statement)
		walls, err := database.Protections(t.Context(), db)
		if err != nil || walls[1].Stands || !strings.Contains(walls[1].Detail, "events_append_only") {
			t.Errorf("got %+v (%v)", walls, err)
		}
	})
}
