package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

// A role that serves owns its tables, and so can let a trigger wait there for the owner of the log.
func TestTheOwnerDoesNotRunWhatTheServingRoleHasAdded(t *testing.T) {
	t.Parallel()
	address := databasetest.Migrated(t, database.Postgres)
	owner := databasetest.Open(t, address)
	serving := databasetest.Open(t, databasetest.LetServe(t, owner))
	rememberLunch(t, serving)
	as := func(db *database.DB, statements string) {
		t.Helper()
		err := db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.ExecContext(ctx, statements)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	line, err := json.Marshal(serve.Erasure{
		Tenant: domain.DefaultTenant, Stream: "knowledge:lunch", ReasonCode: "gdpr-17",
		EventID: "01a1fe44-b7e6-714e-9df0-cd6cd361d3b1", RecordedAt: time.Now(),
	})
	if err != nil {
		t.Fatal(err)
	}
	line = append(line, '\n')
	list := filepath.Join(t.TempDir(), "erased.ndjson")
	line = fmt.Appendf(line, "{\"lines\":1,\"sha256\":\"%x\"}\n", sha256.Sum256(line))
	if err := os.WriteFile(list, line, 0o600); err != nil {
		t.Fatal(err)
	}
	replay := func() (code int, said string) {
		var out bytes.Buffer
		code = run(t.Context(), []string{"erase", "--replay", list, "--database", address, "--data", t.TempDir()},
			&terminal.Console{In: strings.NewReader(""), Out: &out, Err: &out, Styled: &out, Width: 1000})
		return code, out.String()
	}

	const gain = `
		CREATE FUNCTION gain() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			EXECUTE format('GRANT UPDATE, DELETE, TRUNCATE ON events TO %I',
				(SELECT relowner::regrole FROM pg_class WHERE oid = TG_RELID));
			RETURN NULL;
		END $$;
		CREATE TRIGGER gain AFTER INSERT OR UPDATE OR DELETE ON knowledge_1 FOR EACH STATEMENT EXECUTE FUNCTION gain();`
	as(serving, gain)
	if code, said := replay(); code == 0 || !strings.Contains(said, "function gain()") || !strings.Contains(said,
		"trigger gain on knowledge_1") {
		t.Errorf("got %d, %s, want a refusal that names the trigger and its function", code, said)
	}
	var gained bool
	if err := serving.QueryRowContext(t.Context(),
		"SELECT has_table_privilege('events', 'UPDATE, DELETE, TRUNCATE')").Scan(&gained); err != nil || gained {
		t.Errorf("the serving role can change the log: %t, %v", gained, err)
	}
	for name, db := range map[string]*database.DB{"owner": owner, "serving role": serving} {
		walls, err := database.Protections(t.Context(), db)
		if err != nil || walls[1].Stands || !strings.Contains(walls[1].Detail, "trigger gain on knowledge_1") {
			t.Errorf("the %s is told %+v, %v, want the trigger in the list", name, walls, err)
		}
	}
	as(serving, "DROP FUNCTION gain() CASCADE")

	// While the owner works, none can be added.
	release, err := database.LockWriterTables(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	added := serving.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, "SET LOCAL lock_timeout = '100ms';"+gain)
		return err
	})
	if added == nil {
		t.Error("a trigger was added while the owner was at work")
	}
	release()
	code, said := replay()
	var texts int
	err = serving.QueryRowContext(database.ForEveryTenant(t.Context()), "SELECT count(*) FROM event_texts").Scan(&texts)
	if code != 0 || err != nil || texts != 0 {
		t.Errorf("when the trigger is gone: got %d, %s, %d texts, %v; want the item erased", code, said, texts, err)
	}
}

func rememberLunch(t *testing.T, db *database.DB) {
	t.Helper()
	knowledge, err := projections.Open(t.Context(), db, projections.Settings{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	log := events.NewLog(db, knowledge.Projection, events.Options{Selection: knowledge.Browser, Policy: knowledge.Policy(), Logger: databasetest.Log(t)})
	by := domain.OpenPrincipal()
	command, err := domain.Remember{By: by, ID: "lunch", Knowledge: domain.Remembered{
		Class: domain.Class{Type: domain.Definition}, Owner: "user:ann", Scopes: []domain.Scope{"public"},
		Text: domain.Text{Content: "Ann has her lunch at noon"},
	}}.Complete()
	if err == nil {
		_, err = log.Submit(database.ForTenant(t.Context(), by.Tenant), domain.Submission{By: by, Command: command})
	}
	if err := errors.Join(err, log.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
}
