package rebuild_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/words"
)

// The gate stays closed for whatever is not what the log says, and its report names it.
func TestAVersionThatIsNotWhatTheLogSaysIsNotSwitchedTo(t *testing.T) {
	const vote, report = "tenant, id, event_id, voter, ballot, verdict, trace_id, query, outcome, at",
		"tenant, id, reporter, event_id, reason, suspended, at"
	corruptions := []struct{ what, statement, named string }{
		{
			"a counter", "UPDATE knowledge_N SET helpful = 99 WHERE id = 'item-3'",
			"item item-3: its rows or words are not what the log says",
		},
		{
			"a text", "UPDATE knowledge_N SET content = 'forged' WHERE id = 'item-3'",
			"item-3: its rows or words are not what the log says",
		},
		{
			"a time", "UPDATE knowledge_N SET updated_at = '2020-02-02T02:02:02.000000Z' WHERE id = 'item-3'",
			"item-3: its rows or words are not what the log says",
		},
		{"json", `UPDATE knowledge_N SET tags = '{"a":["b"]}' WHERE id = 'item-3'`, "item-3: its rows or words are not what the log says"},
		{"an item missing", "DELETE FROM knowledge_N WHERE id = 'item-3'", "item-3: its rows or words are not what the log says"},
		{
			"an item too many", "UPDATE knowledge_N SET id = 'item-33' WHERE id = 'item-3'",
			"item-3: its rows or words are not what the log says",
		},
		{
			"an item after all others", "UPDATE knowledge_N SET id = 'zzz' WHERE id = 'item-3'",
			"item-3: its rows or words are not what the log says",
		},
		{
			"an unknown tenant's item", "UPDATE knowledge_N SET tenant = 'nobody' WHERE id = 'item-3'",
			"knowledge_N: 1 rows belong to no item",
		},
		{
			"the items of a term", "UPDATE knowledge_N_blocks SET data = (SELECT data FROM knowledge_N_blocks AS p " +
				"WHERE p.term BETWEEN 0 AND 281474976710655 ORDER BY length(p.data), p.term LIMIT 1) WHERE term = backoff",
			"item-3: its rows or words are not what the log says",
		},
		{"a term", "UPDATE knowledge_N_blocks SET term = 1 WHERE term = backoff", "item-3: its rows or words are not what the log says"},
		{"a term missing", "DELETE FROM knowledge_N_blocks WHERE term = backoff", "item-3: its rows or words are not what the log says"},
		{
			"sets missing", fmt.Sprintf("DELETE FROM knowledge_N_blocks WHERE term > %d", 1<<48),
			"item-3: its rows or words are not what the log says",
		},
		{
			"a term beyond the log",
			"INSERT INTO knowledge_N_blocks SELECT tenant, term, 15, data FROM knowledge_N_blocks WHERE term = backoff",
			"rows or words have the number 0, which no item has",
		},
		{
			"an unknown tenant's term", "INSERT INTO knowledge_N_blocks SELECT 'nobody', term, block, data FROM " +
				"knowledge_N_blocks WHERE term = backoff", "knowledge_N_blocks: 1 rows belong to no item",
		},
		{
			"a change", "INSERT INTO knowledge_N_changes (tenant, number, version) VALUES ('default', 4, 1)",
			"item-3: its rows or words are not what the log says",
		},
		{
			"an unknown tenant's change", "INSERT INTO knowledge_N_changes (tenant, number, version) VALUES ('nobody', 4, 1)",
			"knowledge_N_changes: 1 rows belong to no item",
		},
		{"a vote", "UPDATE knowledge_N_votes SET verdict = 'helpful'", "item-3: its rows or words are not what the log says"},
		{"a vote missing", "DELETE FROM knowledge_N_votes", "item-3: its rows or words are not what the log says"},
		{"a vote too many", "INSERT INTO knowledge_N_votes (" + vote +
			") SELECT tenant, 'item-4', '0198c0de-0000-7000-8000-000000000001', voter, ballot, verdict, trace_id, query, " +
			"outcome, at FROM knowledge_N_votes", "item-4: its rows or words are not what the log says"},
		{"a report", "UPDATE knowledge_N_reports SET reason = 'forged'", "item-3: its rows or words are not what the log says"},
		{"a report missing", "DELETE FROM knowledge_N_reports", "item-3: its rows or words are not what the log says"},
		{
			"a report too many", "INSERT INTO knowledge_N_reports (" + report +
				") SELECT tenant, 'item-4', reporter, event_id, reason, suspended, at FROM knowledge_N_reports",
			"item-4: its rows or words are not what the log says",
		},
	}
	backoff := fmt.Sprintf("= %d", words.HashOf("backoff")>>35) // as the row has its first 13 bits
	EachLived(t, func(t *testing.T, r *Rebuilding) {
		for i, corruption := range corruptions {
			tables := fmt.Sprintf("knowledge_%d", i+2)
			r.At("verifying", func() {
				r.Corrupt(strings.NewReplacer("knowledge_N", tables, "= backoff", backoff).Replace(corruption.statement))
			})
			t.Log(corruption.what)
			refused(r, strings.ReplaceAll(corruption.named, "knowledge_N", tables))
		}
	})
}

// refused rebuilds, and wants the gate closed and a report that names why.
func refused(r *Rebuilding, named string) domain.RebuildReport {
	r.T.Helper()
	last := r.Run()
	if last.State != "failed" || last.Active != 1 || last.Report == nil || last.Report.Passed {
		r.T.Fatalf("got version %d %s and version %d active with report %+v, want the gate closed", last.Version, last.State,
			last.Active, last.Report)
	}
	wrong := strings.Join(last.Report.Wrong, "\n")
	if !strings.Contains(wrong, named) {
		r.T.Errorf("the report says\n%s\nwant %q", wrong, named)
	}
	for _, written := range []string{"lesson", "backoff", "how?", "forged"} {
		if strings.Contains(wrong, written) {
			r.T.Errorf("the report repeats what people wrote: %s", wrong)
		}
	}
	if found := r.Find(domain.Search{Text: "payments"}); len(found) == 0 {
		r.T.Error("the active version finds nothing any more")
	}
	return *last.Report
}

// What the active version has become by itself differs from the log, and nobody meant to change it.
func TestAChangeThatNobodyMeantIsNotSwitchedTo(t *testing.T) {
	EachLived(t, func(t *testing.T, r *Rebuilding) {
		for i, corruption := range []struct{ item, statement string }{
			{"item-1", "UPDATE knowledge_1 SET helpful = 99 WHERE id = 'item-1'"},
			{"item-2", "DELETE FROM knowledge_1 WHERE id = 'item-2'"},
			{"item-4", "UPDATE knowledge_1 SET id = 'item-44' WHERE id = 'item-4'"},
			{"item-3", "UPDATE knowledge_1_votes SET outcome = 'else'"},
			{"item-6", "UPDATE knowledge_1_changes SET now = NULL WHERE number = 7"},
		} {
			r.Corrupt(corruption.statement)
			report := refused(r, "")
			named := slices.ContainsFunc(report.Differences, func(d domain.ItemDifference) bool {
				return d.ID == corruption.item && d.After["id"] == d.ID && d.After["content"] == nil
			})
			if report.Differing != int64(i+1) || report.Unintended != report.Differing || !named || len(report.Wrong) > 0 {
				t.Errorf("got %d items that differ, %v and %v wrong, want %d, with %s", report.Differing, report.Differences,
					report.Wrong, i+1, corruption.item)
			}
		}
	})
}

func TestARepairAcceptsWhatTheActiveVersionHasBecome(t *testing.T) {
	EachLived(t, func(t *testing.T, r *Rebuilding) {
		r.Corrupt("UPDATE knowledge_1 SET helpful = 99 WHERE id = 'item-1'; DELETE FROM knowledge_1_votes; DELETE FROM " +
			"knowledge_1 WHERE id = 'item-2'")
		r.At("verifying", func() { r.Corrupt("UPDATE knowledge_2 SET helpful = 98 WHERE id = 'item-1'") })
		Must(r.Rebuilder.Start(t.Context(), domain.RebuildOrder{Repair: true}))(t)
		if last := r.Ended(); last.State != "failed" || last.Active != 1 {
			t.Errorf("got version %d %s, want the gate closed for what the log does not say", last.Version, last.State)
		}
		r.At("verifying", nil)
		Must(r.Rebuilder.Start(t.Context(), domain.RebuildOrder{Repair: true}))(t)
		last := r.Ended()
		if last.State != "active" || last.Report.Unintended != 3 {
			t.Errorf("got version %d %s (%s) with %+v, want it switched to and the changes named", last.Version, last.State,
				last.Error, last.Report)
		}
		if version, err := r.Base.Versions.Rollback(t.Context()); !errors.Is(err, domain.ErrConflict) {
			t.Errorf("rolled back to version %d (%v), want no way back to what is known to be wrong", version, err)
		}
		r.PurgeAfter(time.Minute)
		if version, err := r.Base.Versions.Rollback(t.Context()); !errors.Is(err, domain.ErrNotFound) {
			t.Errorf("rolled back to version %d (%v), want what was wrong to be dropped", version, err)
		}
		if again := r.Run(); again.State != "active" || again.Report.Differing > 0 {
			t.Errorf("got version %d %s with %+v, want nothing left to repair", again.Version, again.State, again.Report)
		}
		if _, err := r.Base.Versions.Rollback(t.Context()); err != nil {
			t.Errorf("%v, want a way back to what the repair has built", err)
		}
	})
}

func TestAnEventWhoseEffectWasDroppedIsNoticed(t *testing.T) {
	EachLived(t, func(_ *testing.T, r *Rebuilding) {
		r.At("catching_up", func() {
			r.Submit(r.Helpful("item-5", "t2"))
			r.Corrupt(`UPDATE checkpoints SET
				position = (SELECT max(position) FROM events WHERE tenant = 'default'),
				event_id = (SELECT event_id FROM events WHERE tenant = 'default' ORDER BY position DESC LIMIT 1)
				WHERE projection = 'knowledge_2'`)
		})
		refused(r, "item-5: its rows or words are not what the log says")
	})
}

func TestAFormulaThatChangedItsResultsAndNotItsNameIsNoticed(t *testing.T) {
	EachLived(t, func(t *testing.T, before *Rebuilding) {
		edited := domain.DefaultConfidence()
		edited.Weighs = nil
		edited.Confidence = func(helpful, harmful, _ int) float64 { return float64(helpful) / float64(helpful+harmful+1) }
		after := NewRebuilding(t, before.DB, projections.Settings{Policy: edited})
		if report := refused(after, ""); report.Unintended == 0 {
			t.Errorf("got %+v, want items that differ", report)
		}
		if k, err := before.Base.Browser.Find(t.Context(), before.By.Tenant, "item-3"); err != nil || k.Confidence != 0.125 {
			t.Errorf("got %+v (%v), want the old formula's result", k, err)
		}
	})
}

func TestARebuiltVersionHasTheSameChecksum(t *testing.T) {
	EachLived(t, func(t *testing.T, r *Rebuilding) {
		for i := range 60 {
			r.In("other").Remember(fmt.Sprint("note-", i), fmt.Sprintf("支付失败时重试 %d 次 with getUserByID", i), "user:alice")
		}
		// Some words in blocks and some items changed since, and writes all the time.
		r.Base.Indexer.MaxChanges = 5
		NoError(t, r.Base.Indexer.IndexWords(t.Context()))
		last := r.Run()
		if last.State != "active" || last.Report.Items != 72 || last.Report.Differing > 0 {
			t.Errorf("version %d is %s with %+v, want 72 items that are the same", last.Version, last.State, last.Report)
		}
		if again := r.Run(); again.Report.Checksum != last.Report.Checksum || len(last.Report.Checksum) != 16 {
			t.Errorf("the checksum is %q and then %q", last.Report.Checksum, again.Report.Checksum)
		}
	})
}

func TestTextsAreMissingIfAndOnlyIfAnEventSaysSo(t *testing.T) {
	EachLived(t, func(_ *testing.T, r *Rebuilding) {
		event := r.Remember("secret", "the password is hunter2", "public").Events[0]
		putBack := func(position int64) {
			r.Corrupt(fmt.Sprintf("INSERT INTO event_texts SELECT * FROM kept WHERE position = %d", position))
		}
		r.Corrupt("CREATE TABLE kept AS SELECT * FROM event_texts")
		r.Corrupt("UPDATE event_texts SET position = 4711 WHERE position = 5")
		refused(r, "1 texts belong to no event")
		r.Corrupt("DELETE FROM event_texts WHERE position = 4711")
		refused(r, "position 5: the text is missing, and no event says that it was erased")
		putBack(5)
		r.Erase("secret")
		putBack(event.Position)
		refused(r, "the text of event "+event.EventID+" is still there")
		r.Corrupt(fmt.Sprintf("DELETE FROM event_texts WHERE position = %d", event.Position))
		r.Switches(domain.RebuildOrder{})
	})
}
