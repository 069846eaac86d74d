package proof_test //nolint:lll // findings are data

import (
	"fmt"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events/proof"
)

func TestALogThatNobodyTouchedVerifies(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		other := w.in("umbrella")
		finds(t, w.verify(proof.Verification{}))
		w.live(10)
		other.live(3)
		w.grow()
		other.grow()
		w.sign()
		other.sign()
		w.remember("one-more") // which the tree does not have yet
		report := w.verify(proof.Verification{})
		finds(t, report)
		if len(report.Tenants) != 2 {
			t.Fatalf("got %d tenants, want 2", len(report.Tenants))
		}
		got := report.Tenants[0]
		if got.Tenant != "default" || got.Events != 21 || got.Through != 21 || got.Tree != 20 || got.Checkpoints != 1 ||
			got.Signed != 20 {
			t.Errorf("got %+v", got)
		}
	})
}

// columns of events, and what is wrong when a byte of one is flipped.
func TestAByteIsFlippedInAnyColumn(t *testing.T) {
	each(t, func(_ *testing.T, w *world) {
		w.signed(func() { w.live(5) })
		hash, another := "hash 4 the record is not what was recorded", "hash 4 the stored hash is not the record's"
		missing, other := "missing 4 the event is missing", "hash 4711 the record is not what was recorded"
		w.flipped("events", flips(w.db.Engine), map[string][]string{
			"": {hash}, "tenant": {missing, hash}, "position": {missing, other}, "hash": {another},
		})
		gone, stray := "text 4 the text is missing", "there is a text that belongs to no event"
		w.flipped("event_texts", map[string]string{
			"salt":     w.pick("CAST(substr(salt, 1, 31) || x'00' AS BLOB)", `set_byte(salt, 31, get_byte(salt, 31) # 1)`),
			"text":     w.pick("replace(text, 'worked', 'worker')", "replace(text::text, 'worked', 'worker')::json"),
			"position": "4711",
			"tenant":   "'defaulu'",
		}, map[string][]string{
			"": {"text 4 the text is not what was written"}, "position": {gone, "text 4711 " + stray}, "tenant": {gone, "text 4 " + stray},
		})
	})
}

// flipped flips a byte of one column after the other, and wants what is named for it, or for "", to be found.
func (w *world) flipped(table string, flips map[string]string, wanted map[string][]string) {
	for column, value := range flips {
		w.t.Run(table+" "+column, func(t *testing.T) {
			w := *w
			w.t = t
			back := w.keep(table, 4)
			w.tamper(fmt.Sprintf("UPDATE %s SET %s = %s WHERE tenant = 'default' AND position = 4", table, column, value))
			want, special := wanted[column]
			if !special {
				want = wanted[""]
			}
			finds(t, w.verify(proof.Verification{}), want...)
			w.tamper(back...)
			finds(t, w.verify(proof.Verification{}))
		})
	}
}

func (w *world) pick(sqlite, postgres string) string {
	if w.db.Engine == database.Postgres {
		return postgres
	}
	return sqlite
}

// flips change one byte of each column.
func flips(engine database.Engine) map[string]string {
	flips := map[string]string{
		"tenant": "'defaulu'", "position": "4711", "version": "version + 7", "schema_version": "schema_version + 1",
		"stream": "stream || '0'", "name": "replace(name, 'helpful', 'helpfum')",
		"actor": "'user:defaulu'", "on_behalf_of": "'user:124'", "authentication": "'opeo'", "request_id": "'r-2'",
		"correlation_id": "'c-2'", "causation_id": "NULL", "traceparent": "replace(traceparent, '4bf', '4be')",
		"reason_code": "'tesu'",
	}
	if engine == database.Postgres {
		flips["event_id"] = "(substr(event_id::text, 1, 35) || CASE right(event_id::text, 1) WHEN '0' THEN '1' ELSE '0' END)::uuid"
		flips["recorded_at"] = "recorded_at + interval '1 microsecond'"
		flips["occurred_at"] = "occurred_at + interval '1 microsecond'"
		flips["data"] = "replace(data::text, ':', ': ')::json"
		flips["text_commitment"] = "set_byte(text_commitment, 0, get_byte(text_commitment, 0) # 1)"
		flips["hash"] = "set_byte(hash, 0, get_byte(hash, 0) # 1)"
		return flips
	}
	flips["event_id"] = "substr(event_id, 1, 35) || CASE substr(event_id, -1) WHEN '0' THEN '1' ELSE '0' END"
	flips["recorded_at"] = "replace(recorded_at, 'T', ' ')"
	flips["occurred_at"] = "replace(occurred_at, 'Z', 'z')"
	flips["data"] = "replace(data, ':', ': ')"
	flips["text_commitment"] = "CAST(x'00' || substr(text_commitment, 2) AS BLOB)"
	flips["hash"] = "CAST(x'00' || substr(hash, 2) AS BLOB)"
	return flips
}

// keep copies the row at a position aside, and gives the statements that put it back.
func (w *world) keep(table string, position int64) []string {
	w.t.Helper()
	w.tamper("DROP TABLE IF EXISTS aside",
		fmt.Sprintf("CREATE TABLE aside AS SELECT * FROM %s WHERE tenant = 'default' AND position = %d", table, position))
	return []string{
		fmt.Sprintf("DELETE FROM %s WHERE position IN (%d, 4711) AND tenant IN ('default', 'defaulu')", table, position),
		fmt.Sprintf("INSERT INTO %s SELECT * FROM aside", table), "DROP TABLE aside",
	}
}

// tampering is what somebody does to a log of twenty events, signed at ten and at twenty, and what is to be found.
type tampering struct {
	statements []string
	wanted     []string
}

func tamperings() map[string]tampering {
	return map[string]tampering{
		"an event is dropped": {
			[]string{"DELETE FROM events WHERE position = 7"},
			[]string{"missing 7 the event is missing", "order 8 it is version 2 of its stream, and version 1 was to come"},
		},
		"several events are dropped": {
			[]string{"DELETE FROM events WHERE position BETWEEN 7 AND 9"},
			[]string{"missing 7 the events at positions 7 to 9 are missing"},
		},
		"the first event is dropped": {
			[]string{"DELETE FROM events WHERE position = 1"}, []string{"missing 1 the event is missing"},
		},
		"the tail is truncated": {
			[]string{"DELETE FROM events WHERE position > 15"},
			[]string{"missing 16 the events at positions 16 to 20 are missing"},
		},
		"the tail is truncated, and the tree with it": {
			[]string{
				"DELETE FROM events WHERE position > 10", "DELETE FROM event_texts WHERE position > 10",
				"DELETE FROM tree WHERE size > 10",
			},
			[]string{"missing 11 the log was cut: annals.example"},
		},
		"everything is deleted but what was signed": {
			[]string{"DELETE FROM events", "DELETE FROM event_texts", "DELETE FROM tree"},
			[]string{"missing 1 the log was cut: annals.example"},
		},
		"the tree is truncated": {
			[]string{"DELETE FROM tree WHERE size > 10"}, []string{"tree 20 the stored tree was cut"},
		},
		"the tree is deleted": {
			[]string{"DELETE FROM tree"}, []string{"tree 10 the stored tree was cut", "tree 20 the stored tree was cut"},
		},
		"events are reordered": {
			[]string{
				"UPDATE events SET position = 4711 WHERE position = 5", "UPDATE events SET position = 5 WHERE position = 6",
				"UPDATE events SET position = 6 WHERE position = 4711",
			},
			[]string{"hash 5 the record is not what was recorded", "hash 6 the record is not what was recorded"},
		},
		"an event is inserted": {
			[]string{
				"UPDATE events SET position = position + 1000 WHERE position > 12",
				"UPDATE events SET position = position - 999 WHERE position > 1000",
				`INSERT INTO events SELECT tenant, 13, '0195a000-0000-7000-8000-000000000001', stream, 4711, name, schema_version,
					recorded_at, occurred_at, actor, on_behalf_of, authentication, request_id, correlation_id, causation_id,
					traceparent, reason_code, data, NULL, hash FROM events WHERE position = 12`,
			},
			[]string{"hash 13 the record is not what was recorded", "hash 14 the record is not what was recorded", "hash 21 "},
		},
		"texts are swapped": {
			[]string{
				"UPDATE event_texts SET position = 4711 WHERE position = 1",
				"UPDATE event_texts SET position = 1 WHERE position = 3",
				"UPDATE event_texts SET position = 3 WHERE position = 4711",
			},
			[]string{"text 1 the text is not what was written", "text 3 the text is not what was written"},
		},
		"a text is deleted": {
			[]string{"DELETE FROM event_texts WHERE position = 9"},
			[]string{"text 9 the text is missing, and no event says that it was erased"},
		},
		"a signature is swapped": {
			[]string{`UPDATE signed_checkpoints SET note = (SELECT note FROM signed_checkpoints WHERE size = 10) WHERE size = 20`},
			[]string{"signature 20 a checkpoint is of 10 events"},
		},
		"a signature is another's": {
			[]string{`UPDATE signed_checkpoints SET note = replace(note, 'default', 'umbrella') WHERE size = 20`},
			[]string{"signature 20 a checkpoint is not to be trusted: not signed by a trusted key: the signature by annals.example"},
		},
		"a signed root is changed": {
			[]string{`UPDATE signed_checkpoints SET note = replace(note, '=', 'A') WHERE size = 10`},
			[]string{"signature 10 a checkpoint is not to be trusted"},
		},
	}
}

func TestTamperingIsFoundAndNamed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.signed(func() { w.live(5) })
		w.signed(w.live3)
		tables := []string{"events", "event_texts", "tree", "signed_checkpoints"}
		var restore []string
		for _, table := range tables {
			w.tamper("CREATE TABLE aside_" + table + " AS SELECT * FROM " + table)
			restore = append(restore, "DELETE FROM "+table, "INSERT INTO "+table+" SELECT * FROM aside_"+table)
		}
		for name, c := range tamperings() {
			t.Run(name, func(t *testing.T) {
				w := *w
				w.t = t
				w.tamper(c.statements...)
				finds(t, w.verify(proof.Verification{}), c.wanted...)
				w.tamper(restore...)
				finds(t, w.verify(proof.Verification{}))
			})
		}
	})
}

// live3 adds ten events more.
func (w *world) live3() {
	w.t.Helper()
	for i := range 10 {
		w.remember(fmt.Sprintf("later-%d", i))
	}
}

func TestARewrittenHistoryIsFound(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		kept := w.signed(func() { w.live(5) })
		w.signed(w.live3)

		// Somebody rewrites an event, its text and its hash.
		w.rewrite(6)
		finds(t, w.verify(proof.Verification{}), "tree 6 the record is another than the one in the tree")

		// And builds the tree anew.
		w.tamper("DELETE FROM tree", "DELETE FROM checkpoints WHERE projection = 'proof'")
		w.grow()
		finds(t, w.verify(proof.Verification{}),
			"checkpoint 10 annals.example", "checkpoint 20 annals.example")

		// The prover does not sign it.
		w.remember("afterwards")
		w.grow()
		if c, err := w.prover.Checkpoint(t.Context(), "default"); err == nil {
			t.Errorf("signed a tree that was rebuilt: %+v", c)
		}

		// And signs it with a key of his own.
		w.tamper("DELETE FROM signed_checkpoints", "DELETE FROM checkpoints")
		forger := w.signingWith(newKey(t, "annals.example"))
		forger.sign()
		finds(t, w.verify(proof.Verification{}),
			"signature 21 a checkpoint is not to be trusted: not signed by a trusted key: the signature is by annals.example+")

		// With the forger's own key all is well: what he cannot have changed is a checkpoint kept elsewhere.
		finds(t, forger.verify(proof.Verification{}))
		finds(t, w.verify(proof.Verification{Checkpoints: []string{kept.Note}}),
			"checkpoint 10 the checkpoint kept elsewhere signed another tree of 10 events: something at the positions 1 to 10 was changed since; it is not the log that the checkpoint was kept of")
	})
}

// A version that was retired loses its tables while a verification reads the catalogue and then each table.
func TestALogVerifiesWhileTablesOfVersionsAreDropped(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.signed(func() { w.live(2) })
		const versions = 40
		for version := 2; version < versions; version++ {
			w.tamper(fmt.Sprintf("CREATE TABLE knowledge_%d AS SELECT * FROM knowledge_1", version))
		}
		dropped := make(chan error, 1)
		go func() {
			var err error
			for version := versions - 1; version > 1 &&
				err == nil; version-- { // the verification reads them the other way round
				err = w.exec(fmt.Sprintf("DROP TABLE knowledge_%d", version))
			}
			dropped <- err
		}()
		for dropping := true; dropping; {
			select {
			case err := <-dropped:
				if dropping = false; err != nil {
					t.Error(err)
				}
			default:
			}
			finds(t, w.verify(proof.Verification{}))
		}
	})
}
