package http_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	. "github.com/annals-kb/annals/http/servertest"
)

// testdata/earlier has the logs of three tenants as an earlier program exported them, events of nearly every kind, and the items as
// that program answered them.
const earlier = "testdata/earlier/"

var earlierLogs = []string{"default", "acme", "_system"}

func TestTheLogsOfAnEarlierProgramGiveTheSameItems(t *testing.T) {
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		restore(t, db)
		w := NewWorld(t, db, events.Options{}, Rebuilding)
		if last := w.Rebuild("?repair=true&confidence=half-discounted/1"); last["state"] != "active" {
			t.Fatalf("the rebuild is %v", last)
		}
		end := time.Now().Add(time.Minute)
		for _, line := range linesOf(t, earlier+"items.ndjson") {
			var want Object
			if err := json.Unmarshal(line, &want); err != nil {
				t.Fatal(err)
			}
			got := Object{"id": want["id"], "status": "gone"}
			a := w.Ask("GET", "/v1/knowledge/"+want["id"].(string), nil)
			for want["status"] != "gone" && a.Status != http.StatusOK && time.Now().Before(end) {
				a = w.Ask("GET", "/v1/knowledge/"+want["id"].(string), nil) // until the server sees the version that was switched to
			}
			if a.Status == http.StatusOK {
				got = a.JSON()
				for _, later := range []string{"verified", "trust"} { // the earlier release did not answer with it
					delete(got, later)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-earlier +now):\n%s", want["id"], diff)
			}
		}
	})
}

// restore writes the records of the exported logs, and what says which of their texts were destroyed, into the tables of a
// database.
func restore(t *testing.T, db *database.DB) {
	t.Helper()
	err := db.Transact(database.ForEveryTenant(t.Context()), func(ctx context.Context, tx bun.Tx) error {
		for _, tenant := range earlierLogs {
			for _, line := range linesOf(t, earlier+tenant+".ndjson") {
				if err := restoreRecord(ctx, tx, line); err != nil {
					return err
				}
			}
		}
		for _, line := range linesOf(t, earlier+"destroyed.ndjson") {
			var tables map[string]map[string]any
			if err := json.Unmarshal(line, &tables); err != nil {
				return err
			}
			for table, row := range tables {
				if _, err := tx.NewInsert().Model(&row).Table(table).Exec(ctx); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// restoreRecord writes a record as its export has it: the bytes in hexadecimal. The last line, a manifest, is no record.
func restoreRecord(ctx context.Context, tx bun.Tx, line []byte) error {
	var event map[string]any
	if err := json.Unmarshal(line, &event); err != nil || event["manifest"] != nil {
		return err
	}
	for _, column := range []string{"hash", "salt", "text_commitment"} {
		if event[column] == nil {
			continue
		}
		bytes, err := hex.DecodeString(event[column].(string))
		if err != nil {
			return err
		}
		event[column] = bytes
	}
	text := map[string]any{"tenant": event["tenant"], "position": event["position"], "salt": event["salt"], "text": event["text"]}
	delete(event, "salt")
	delete(event, "text")
	if _, err := tx.NewInsert().Model(&event).Table("events").Exec(ctx); err != nil || text["text"] == nil {
		return err
	}
	_, err := tx.NewInsert().Model(&text).Table("event_texts").Exec(ctx)
	return err
}

func linesOf(t *testing.T, path string) (lines [][]byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(bytes.NewReader(text))
	for scanner.Buffer(nil, 1<<20); scanner.Scan(); {
		lines = append(lines, bytes.Clone(scanner.Bytes()))
	}
	return lines
}
