package projections_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/words"
)

// eachLived is each in a world that has lived.
func eachLived(t *testing.T, test func(t *testing.T, r *rebuilding)) {
	t.Helper()
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) { test(t, lived(t, db)) })
}

// lived is a world in which everything has happened that tables keep rows of.
func lived(t *testing.T, db *database.DB) *rebuilding {
	t.Helper()
	r := newRebuilding(t, db, projections.Settings{})
	for i := range 12 {
		r.remember(fmt.Sprint("item-", i), fmt.Sprintf("lesson %d: retry payments with backoff", i), "team:pay", "public")
	}
	target := domain.Target{By: r.by, ID: "item-3"}
	r.submit(domain.GiveFeedback{Target: target, Verdict: domain.Harmful, TraceID: "t1", Query: "how?"})
	r.submit(domain.ReportStale{Target: target, Reason: "gone"})
	r.submit(domain.Delete{Target: domain.Target{By: r.by, ID: "item-8"}})
	return r
}

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
	eachLived(t, func(t *testing.T, r *rebuilding) {
		for i, corruption := range corruptions {
			tables := fmt.Sprintf("knowledge_%d", i+2)
			r.at("verifying", func() {
				r.corrupt(strings.NewReplacer("knowledge_N", tables, "= backoff", backoff).Replace(corruption.statement))
			})
			t.Log(corruption.what)
			r.refused(strings.ReplaceAll(corruption.named, "knowledge_N", tables))
		}
	})
}

// refused rebuilds, and wants the gate closed and a report that names why.
func (r *rebuilding) refused(named string) domain.RebuildReport {
	r.t.Helper()
	last := r.run()
	if last.State != "failed" || last.Active != 1 || last.Report == nil || last.Report.Passed {
		r.t.Fatalf("got version %d %s and version %d active with report %+v, want the gate closed", last.Version, last.State,
			last.Active, last.Report)
	}
	wrong := strings.Join(last.Report.Wrong, "\n")
	if !strings.Contains(wrong, named) {
		r.t.Errorf("the report says\n%s\nwant %q", wrong, named)
	}
	for _, written := range []string{"lesson", "backoff", "how?", "forged"} {
		if strings.Contains(wrong, written) {
			r.t.Errorf("the report repeats what people wrote: %s", wrong)
		}
	}
	if found := r.find(domain.Search{Text: "payments"}); len(found) == 0 {
		r.t.Error("the active version finds nothing any more")
	}
	return *last.Report
}

// What the active version has become by itself differs from the log, and nobody meant to change it.
func TestAChangeThatNobodyMeantIsNotSwitchedTo(t *testing.T) {
	eachLived(t, func(t *testing.T, r *rebuilding) {
		for i, corruption := range []struct{ item, statement string }{
			{"item-1", "UPDATE knowledge_1 SET helpful = 99 WHERE id = 'item-1'"},
			{"item-2", "DELETE FROM knowledge_1 WHERE id = 'item-2'"},
			{"item-4", "UPDATE knowledge_1 SET id = 'item-44' WHERE id = 'item-4'"},
			{"item-3", "UPDATE knowledge_1_votes SET outcome = 'else'"},
			{"item-6", "UPDATE knowledge_1_changes SET now = NULL WHERE number = 7"},
		} {
			r.corrupt(corruption.statement)
			report := r.refused("")
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
	eachLived(t, func(t *testing.T, r *rebuilding) {
		r.corrupt("UPDATE knowledge_1 SET helpful = 99 WHERE id = 'item-1'; DELETE FROM knowledge_1_votes; DELETE FROM " +
			"knowledge_1 WHERE id = 'item-2'")
		r.at("verifying", func() { r.corrupt("UPDATE knowledge_2 SET helpful = 98 WHERE id = 'item-1'") })
		must(r.Start(t.Context(), domain.RebuildOrder{Repair: true}))(t)
		if last := r.ended(); last.State != "failed" || last.Active != 1 {
			t.Errorf("got version %d %s, want the gate closed for what the log does not say", last.Version, last.State)
		}
		r.at("verifying", nil)
		must(r.Start(t.Context(), domain.RebuildOrder{Repair: true}))(t)
		last := r.ended()
		if last.State != "active" || last.Report.Unintended != 3 {
			t.Errorf("got version %d %s (%s) with %+v, want it switched to and the changes named", last.Version, last.State,
				last.Error, last.Report)
		}
		if version, err := r.base.Versions.Rollback(t.Context()); !errors.Is(err, domain.ErrConflict) {
			t.Errorf("rolled back to version %d (%v), want no way back to what is known to be wrong", version, err)
		}
		r.purgeAfter(time.Minute)
		if version, err := r.base.Versions.Rollback(t.Context()); !errors.Is(err, domain.ErrNotFound) {
			t.Errorf("rolled back to version %d (%v), want what was wrong to be dropped", version, err)
		}
		if again := r.run(); again.State != "active" || again.Report.Differing > 0 {
			t.Errorf("got version %d %s with %+v, want nothing left to repair", again.Version, again.State, again.Report)
		}
		if _, err := r.base.Versions.Rollback(t.Context()); err != nil {
			t.Errorf("%v, want a way back to what the repair has built", err)
		}
	})
}

func TestAnEventWhoseEffectWasDroppedIsNoticed(t *testing.T) {
	eachLived(t, func(_ *testing.T, r *rebuilding) {
		r.at("catching_up", func() {
			r.submit(r.helpful("item-5", "t2"))
			r.corrupt(`UPDATE checkpoints SET
				position = (SELECT max(position) FROM events WHERE tenant = 'default'),
				event_id = (SELECT event_id FROM events WHERE tenant = 'default' ORDER BY position DESC LIMIT 1)
				WHERE projection = 'knowledge_2'`)
		})
		r.refused("item-5: its rows or words are not what the log says")
	})
}

func TestAFormulaThatChangedItsResultsAndNotItsNameIsNoticed(t *testing.T) {
	eachLived(t, func(t *testing.T, before *rebuilding) {
		edited := domain.DefaultConfidence()
		edited.Weighs = nil
		edited.Confidence = func(helpful, harmful, _ int) float64 { return float64(helpful) / float64(helpful+harmful+1) }
		after := newRebuilding(t, before.db, projections.Settings{Policy: edited})
		if report := after.refused(""); report.Unintended == 0 {
			t.Errorf("got %+v, want items that differ", report)
		}
		if k, err := before.base.Browser.Find(t.Context(), before.by.Tenant, "item-3"); err != nil || k.Confidence != 0.125 {
			t.Errorf("got %+v (%v), want the old formula's result", k, err)
		}
	})
}

func TestARebuiltVersionHasTheSameChecksum(t *testing.T) {
	eachLived(t, func(t *testing.T, r *rebuilding) {
		for i := range 60 {
			r.in("other").remember(fmt.Sprint("note-", i), fmt.Sprintf("支付失败时重试 %d 次 with getUserByID", i), "user:alice")
		}
		// Some words in blocks and some items changed since, and writes all the time.
		r.base.Indexer.MaxChanges = 5
		noError(t, r.base.Indexer.IndexWords(t.Context()))
		last := r.run()
		if last.State != "active" || last.Report.Items != 72 || last.Report.Differing > 0 {
			t.Errorf("version %d is %s with %+v, want 72 items that are the same", last.Version, last.State, last.Report)
		}
		if again := r.run(); again.Report.Checksum != last.Report.Checksum || len(last.Report.Checksum) != 16 {
			t.Errorf("the checksum is %q and then %q", last.Report.Checksum, again.Report.Checksum)
		}
	})
}

// erase destroys what people wrote about an item.
func (w *world) erase(id string) domain.Receipt {
	w.t.Helper()
	command := must(domain.Erase{Target: domain.Target{By: w.by, ID: id}}.Complete())(w.t)
	return w.submit(command)
}

func TestTextsAreMissingIfAndOnlyIfAnEventSaysSo(t *testing.T) {
	eachLived(t, func(_ *testing.T, r *rebuilding) {
		event := r.remember("secret", "the password is hunter2", "public").Events[0]
		putBack := func(position int64) {
			r.corrupt(fmt.Sprintf("INSERT INTO event_texts SELECT * FROM kept WHERE position = %d", position))
		}
		r.corrupt("CREATE TABLE kept AS SELECT * FROM event_texts")
		r.corrupt("UPDATE event_texts SET position = 4711 WHERE position = 5")
		r.refused("1 texts belong to no event")
		r.corrupt("DELETE FROM event_texts WHERE position = 4711")
		r.refused("position 5: the text is missing, and no event says that it was erased")
		putBack(5)
		r.erase("secret")
		putBack(event.Position)
		r.refused("the text of event " + event.EventID + " is still there")
		r.corrupt(fmt.Sprintf("DELETE FROM event_texts WHERE position = %d", event.Position))
		r.switches(domain.RebuildOrder{})
	})
}
