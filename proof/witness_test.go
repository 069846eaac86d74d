package proof_test //nolint:lll // tables of test data

import (
	"fmt"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/proof"
)

// Somebody who has the database deletes a tenant from the tables that a verification reads. Whatever else names it says
// that it was there.
func TestATenantThatIsGoneFromTheLogIsMissed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.live(3)
		w.grow()
		w.sign()
		acme := w.in("acme")
		acme.live(3)
		acme.grow()
		kept := acme.sign()
		const gone = "missing 1 the whole log of the tenant is missing, and it is still named in "
		acme.leaves("events", "event_texts", "tree", "signed_checkpoints")
		finds(t, w.verify(proof.Verification{}), gone+"checkpoints, knowledge_1, knowledge_1_scopes, knowledge_1_votes")
		acme.leaves("checkpoints", "knowledge_1_scopes", "knowledge_1_votes")
		finds(t, w.verify(proof.Verification{}), gone+"knowledge_1")

		// Of what is left nowhere at all only a checkpoint that was kept elsewhere knows.
		acme.leaves("knowledge_1")
		finds(t, w.verify(proof.Verification{}))
		finds(t, w.verify(proof.Verification{Checkpoints: []string{kept.Note}}), "missing 1 the checkpoint kept elsewhere is of 6 events")

		for table, columns := range map[string]string{
			"checkpoints":     "projection, tenant, position, event_id, updated_at",
			"streams":         "tenant, stream, version, position, form, state",
			"erasures":        "tenant, position, event_id, stream, number, texts, erased_at",
			"destroyed_texts": "tenant, position, said_at",
			"directories":     "tenant, uri",
			"key_uses":        "tenant, prefix, used_at",
			"requests":        "tenant, subject, key, fingerprint, stream, version, position, outcome, recorded_at",
			"accesses": "tenant, access_id, rank, at, kind, route, status, actor, on_behalf_of, authentication, request_id, " +
				"correlation_id, trace_id, item, score",
		} {
			acme.notes(table, columns)
			finds(t, w.verify(proof.Verification{}), gone+table)
			acme.leaves(table)
		}

		// These are noted of tenants of whom nothing was ever recorded, too.
		acme.notes("requests", "tenant, subject, key, fingerprint, stream, version, position, outcome, recorded_at")
		acme.notes("accesses", "tenant, access_id, rank, at, kind, route, status, actor, on_behalf_of, authentication, request_id, correlation_id, trace_id, item, score")
		w.tamper("UPDATE requests SET position = 0", "UPDATE accesses SET kind = 'denied'")
		finds(t, w.verify(proof.Verification{}))
	})
}

// leaves deletes the tenant from tables.
func (w *world) leaves(tables ...string) {
	w.t.Helper()
	for _, table := range tables {
		w.tamper(fmt.Sprintf("DELETE FROM %s WHERE tenant = '%s'", table, w.by.Tenant))
	}
}

// notes writes a row about the tenant into a table, with something in each of these columns.
func (w *world) notes(table, columns string) {
	w.t.Helper()
	something := map[string]string{
		"tenant": "'" + w.by.Tenant + "'", "event_id": "'01a1fe44-b7e6-714e-9df0-cd6cd361d3b0'", "access_id": "'01a1fe44-b7e6-714e-9df0-cd6cd361d3b0'",
		"updated_at": "'2026-03-02T09:00:00.000000Z'", "state": "'{}'", "fingerprint": "'x'", "kind": "'get'",
	}
	if w.db.Engine == database.SQLite {
		something["fingerprint"] = "x'00'"
	}
	for _, time := range []string{"erased_at", "used_at", "recorded_at", "at"} {
		something[time] = something["updated_at"]
	}
	for _, number := range []string{"position", "version", "form", "number", "texts", "said_at", "rank", "status", "score"} {
		something[number] = "1"
	}
	var values []string
	for column := range strings.SplitSeq(columns, ", ") {
		value, is := something[column]
		if !is {
			value = "'something'"
		}
		values = append(values, value)
	}
	w.tamper(fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, columns, strings.Join(values, ", ")))
}

// Somebody who has the database cuts the end of a log off every table that proves it.
func TestAnEndThatWasCutOffIsMissed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.live(3)
		w.grow()
		w.sign()
		finds(t, w.verify(proof.Verification{}))
		w.tamper(
			"DELETE FROM events WHERE tenant = 'default' AND position > 4", "DELETE FROM event_texts WHERE tenant = 'default' AND position > 4",
			"DELETE FROM tree WHERE tenant = 'default'", "DELETE FROM signed_checkpoints WHERE tenant = 'default'",
		)
		finds(t, w.verify(proof.Verification{}), "missing 5 the log was cut: it ends at position 4, and checkpoints, knowledge_1 knew position 6")
		w.leaves("checkpoints")
		finds(t, w.verify(proof.Verification{}), "missing 5 the log was cut: it ends at position 4, and knowledge_1 knew position 5")
		w.tamper("DELETE FROM knowledge_1 WHERE tenant = 'default' AND number > 4")
		finds(t, w.verify(proof.Verification{})) // nothing is left that knows better
	})
}
