package database_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/migrations"
)

// eachUnmigrated is databasetest.Each without its migration.
func eachUnmigrated(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, databasetest.SQLite(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, databasetest.Postgres(t))
	})
}

func TestMigratingOnceOrTwiceEndsAtTheSchemaOfTheProgram(t *testing.T) {
	t.Parallel()
	eachUnmigrated(t, func(t *testing.T, url string) {
		db := databasetest.Open(t, url)
		if have, want := schema(t, db); have != 0 || want == 0 {
			t.Errorf("before: got schema %d of %d, want 0 of some", have, want)
		}
		for range 2 {
			if err := database.Migrate(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if have, want := schema(t, db); have != want {
				t.Errorf("after: got schema %d, want %d", have, want)
			}
		}
		mustTransact(t, db, `INSERT INTO checkpoints (projection, tenant, position, event_id, updated_at)
			VALUES ('knowledge', 'default', 1, '018f0000-0000-7000-8000-000000000000', '2026-01-01T00:00:00Z')`)
	})
}

func TestSeveralMayMigrateAtOnce(t *testing.T) {
	t.Parallel()
	eachUnmigrated(t, func(t *testing.T, url string) {
		dbs := []*database.DB{databasetest.Open(t, url)}
		for range 5 {
			if dbs[0].Engine == database.SQLite { // the file has one owner
				dbs = append(dbs, dbs[0])
			} else {
				dbs = append(dbs, databasetest.Open(t, url))
			}
		}
		var all sync.WaitGroup
		for _, db := range dbs {
			all.Go(func() {
				if err := database.Migrate(t.Context(), db); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if have, want := schema(t, dbs[0]); have != want {
			t.Errorf("got schema %d, want %d", have, want)
		}
	})
}

func TestANewerSchemaIsLeftAlone(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		mustTransact(t, db, `UPDATE schema_migrations SET version = 4711`)
		err := database.Migrate(t.Context(), db)
		if !errors.Is(err, database.ErrNewerSchema) {
			t.Fatalf("got %v, want %v", err, database.ErrNewerSchema)
		}
		if !strings.Contains(err.Error(), "schema 4711") || !strings.Contains(err.Error(), "use a newer annals") {
			t.Errorf("got %q, want the version and what to do", err)
		}
		if have, _ := schema(t, db); have != 4711 {
			t.Errorf("got schema %d, want it untouched", have)
		}
	})
}

func TestAMigrationThatWasCutOffIsSaid(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		mustTransact(t, db, `UPDATE schema_migrations SET dirty = true`)
		if err := database.Migrate(t.Context(), db); !errors.Is(err, database.ErrDirtySchema) {
			t.Errorf("got %v, want %v", err, database.ErrDirtySchema)
		}
		if _, _, err := database.Schema(t.Context(), db); !errors.Is(err, database.ErrDirtySchema) {
			t.Errorf("got %v, want %v", err, database.ErrDirtySchema)
		}
	})
}

func TestAMigrationThatFailsCanBeTriedAgain(t *testing.T) {
	t.Parallel()
	eachUnmigrated(t, func(t *testing.T, url string) {
		db := databasetest.Open(t, url)
		mustTransact(t, db, `CREATE TABLE projections (obstacle text)`) // a name that the first migration needs, though not first
		err := database.Migrate(t.Context(), db)
		if err == nil {
			t.Fatal("got no error")
		}
		if strings.Contains(err.Error(), "CREATE TABLE events") {
			t.Errorf("got the whole file in the error: %v", err)
		}
		mustTransact(t, db, `DROP TABLE projections`)
		if err := database.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if have, want := schema(t, db); have != want {
			t.Errorf("got schema %d, want %d", have, want)
		}
	})
}

// Its tables were locked in the other order: by a server that has read one of them, and then looks at the version.
func TestAMigrationThatEndsADeadlockIsRepeated(t *testing.T) {
	t.Parallel()
	address := withQuery(t, databasetest.Migrated(t, database.Postgres), "deadlock_timeout", "50ms")
	db := databasetest.Open(t, address)
	down, err := migrations.Files.ReadFile("postgres/0015_receipts.down.sql")
	if err != nil {
		t.Fatal(err)
	}
	databasetest.Tamper(t, db, string(down), "UPDATE schema_migrations SET version = 14")
	patient, err := databasetest.Open(t, withQuery(t, address, "deadlock_timeout", "1min")).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = patient.Rollback() }()
	execute := func(statement string) {
		if _, err := patient.ExecContext(t.Context(), statement); err != nil {
			t.Error(err)
		}
	}
	execute("LOCK TABLE accesses IN ACCESS SHARE MODE")
	migrated := make(chan error, 1)
	go func() { migrated <- database.Migrate(t.Context(), db) }()
	databasetest.Until(t, "the migration has locked the version", func() bool {
		var locked bool
		err := db.QueryRowContext(t.Context(), `
			SELECT EXISTS (
				SELECT
				FROM pg_locks
				WHERE relation = 'schema_migrations'::regclass AND mode = 'AccessExclusiveLock' AND granted
			)`).Scan(&locked)
		if err != nil {
			t.Fatal(err)
		}
		return locked
	})
	execute("SELECT FROM schema_migrations; COMMIT")
	if err := <-migrated; err != nil {
		t.Error(err)
	}
	if have, want := schema(t, db); have != want {
		t.Errorf("got schema %d, want %d", have, want)
	}
}

func schema(t *testing.T, db *database.DB) (have, want uint) {
	t.Helper()
	have, want, err := database.Schema(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return have, want
}

func TestAServerThatTakesNoWritesIsNotSaidToLackPgvector(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, withQuery(t, databasetest.Postgres(t), "default_transaction_read_only", "on"))
	err := database.Migrate(t.Context(), db)
	if !errors.Is(err, database.ErrReadOnly) || !strings.Contains(err.Error(), "name a server that takes writes") {
		t.Errorf("got %v, want %v and the way out", err, database.ErrReadOnly)
	}
}
