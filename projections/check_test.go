package projections_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/codec"
	"github.com/annals-kb/annals/events/logtest"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/rebuild"
)

func TestWhatIsAnsweredIsComparedWithTheLog(t *testing.T) {
	eachLived(t, func(t *testing.T, r *rebuilding) {
		r.run() // so the log has a stream of another kind, and a version other than the first is read
		check := func() rebuild.Checked {
			t.Helper()
			var last int64
			checked, err := projections.Check(t.Context(), r.db, projections.Settings{}, func(items, _ int64) { last = items })
			if err != nil {
				t.Fatal(err)
			}
			if checked.Version != 2 || checked.Items != last || checked.Items < 11 {
				t.Errorf("got %d items of version %d with a progress of %d, want all of version 2", checked.Items,
					checked.Version, last)
			}
			return checked
		}
		pastWorld{world: r.world, past: r.reader().Past}.readOn(500)
		if checked := check(); len(checked.Wrong) > 0 || len(checked.Unchecked) != 3 { // nothing reads the system's log here
			t.Errorf("got %q and not compared %q, want nothing wrong", checked.Wrong, checked.Unchecked)
		}
		for _, table := range []string{"past_1", "past_1_scopes", "past_1_counts", "past_1_words"} {
			r.corrupt("CREATE TABLE saved AS SELECT * FROM " + table)
			r.corrupt("DELETE FROM " + table)
			if checked := check(); len(checked.Wrong) == 0 ||
				!strings.Contains(checked.Wrong[0], "what as-of answers read is not what the log says") {
				t.Errorf("%s is empty, and the check says %q", table, checked.Wrong)
			}
			r.corrupt("INSERT INTO " + table + " SELECT * FROM saved")
			r.corrupt("DROP TABLE saved")
		}
		for _, damage := range []string{
			"UPDATE knowledge_2 SET confidence = 0.99 WHERE id = 'item-1'",
			"DELETE FROM knowledge_2_votes",
			"UPDATE streams SET version = version + 1",
		} {
			r.corrupt(damage)
		}
		wrong := strings.Join(check().Wrong, "\n")
		for _, named := range []string{
			"item item-1: in knowledge not what the log says: confidence",
			"item item-3: a row of votes is missing",
			"stream projection:knowledge: what is kept about it is not what the log says",
		} {
			if !strings.Contains(wrong, named) {
				t.Errorf("the check says\n%s\nwant %q", wrong, named)
			}
		}
		must(r.Start(t.Context(), domain.RebuildOrder{Repair: true}))(t)
		r.isActive(r.ended(), 3)
	})
}

// TestAnswersAreVerifiedAfterEveryKindOfEvent lets items have events of every kind, and checks the answers after each.
func TestAnswersAreVerifiedAfterEveryKindOfEvent(t *testing.T) {
	eachPast(t, func(t *testing.T, w pastWorld) {
		for _, id := range []string{"a", "b", "c"} {
			w.leak(id)
		}
		check := func(after any) {
			t.Helper()
			w.readOn(500)
			checked := must(projections.Check(t.Context(), w.db, projections.Settings{}, nil))(t)
			if len(checked.Wrong) > 0 {
				t.Fatalf("after %T: %q", after, checked.Wrong)
			}
		}
		do := func(command domain.Command, then ...domain.Command) {
			t.Helper()
			must(w.log.Submit(t.Context(), domain.Submission{By: w.by, Command: command, Then: then}))(t)
			check(command)
		}
		a, b, c := domain.Target{By: w.by, ID: "a"}, domain.Target{By: w.by, ID: "b"}, domain.Target{By: w.by, ID: "c"}
		for _, trace := range []string{"1", "2", "3"} {
			do(w.helpful("b", trace))
		}
		do(domain.GiveFeedback{Target: b, Verdict: domain.Harmful, TraceID: "1"})
		voter := w.by
		voter.OnBehalfOf = "user:2"
		do(domain.RetractFeedback{Target: domain.Target{By: voter, ID: "b"}, TraceID: "2"})
		do(domain.ReportStale{Target: a})
		do(domain.Confirm{Target: a, Until: time.Now().AddDate(1, 0, 0)})
		do(domain.Revise{
			Target: b, Changes: domain.Revised{Task: new("another")}, Scopes: []domain.Scope{domain.Public}, URI: "viking://x/b",
			Owner: "user:1",
		})
		do(domain.Link{Target: a, To: []string{"b"}})
		do(domain.Unlink{Target: a, To: "b"})
		do(domain.Supersede{Target: c, Successor: "a"})
		do(domain.Restore{Target: c})
		for range 2 { // merged again, the votes count once
			merge := domain.Merge{Target: a, Items: []string{"b", "c"}, CarryVotes: true, Changes: domain.Revised{Task: new("both")}}
			do(merge, merge.Then(nil)...)
			do(w.helpful("a", "2"))
			history := must(w.log.Reader.Stream(t.Context(), w.by.Tenant, domain.KnowledgeStream("a")))(t)
			undo := must(domain.UndoMerge(a, history, ""))(t)
			do(undo, undo.Then()...)
		}
		if k := must(w.base.Browser.Find(t.Context(), w.by.Tenant, "a"))(t); k.Helpful != 3 || k.Harmful != 0 {
			t.Errorf("got %d and %d votes, want only the item's own", k.Helpful, k.Harmful)
		}
		do(domain.Hold{Target: a, ReasonCode: "case"})
		do(domain.Release{Target: a, ReasonCode: "case"})
		do(domain.Delete{Target: c})
		check(w.redact("a"))
		check(w.erase("b"))
		missing := slices.DeleteFunc(codec.Names(), func(name string) bool {
			return !strings.HasPrefix(name, "knowledge.") && !strings.HasPrefix(name, "relation.") && name != "text.redacted"
		})
		for _, event := range logtest.All(t, w.log, w.by.Tenant) {
			missing = slices.DeleteFunc(missing, func(name string) bool { return name == event.Name })
		}
		if len(missing) > 0 {
			t.Errorf("nothing was checked after %v", missing)
		}
	})
}

func TestADatabaseThatLacksAColumnSaysWhatHelps(t *testing.T) {
	eachRebuilding(t, func(t *testing.T, r *rebuilding) {
		r.remember("item", "retry with backoff", "team:pay")
		openPast := func() {
			t.Helper()
			must(projections.OpenPast(t.Context(), r.base, r.log, r.followers))(t)
		}
		complete := func(want string) {
			t.Helper()
			err := r.base.Complete(t.Context())
			if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
		openPast()
		complete("")

		databasetest.Tamper(t, r.db, "DROP VIEW knowledge", "ALTER TABLE knowledge_1 DROP COLUMN relations",
			"DROP TABLE knowledge_1_votes")
		complete("the database lacks knowledge_1_votes: run annals rebuild knowledge --repair")
		r.switches(domain.RebuildOrder{Repair: true})
		complete("")

		databasetest.Tamper(t, r.db, "ALTER TABLE past_1 DROP COLUMN tag_bits", "DROP TABLE past_1_words")
		complete("the database lacks past_1.tag_bits, past_1_words: restart annals serve, which makes these tables again")
		openPast()
		complete("")

		databasetest.Tamper(t, r.db, "ALTER TABLE checkpoints DROP COLUMN quarantines")
		complete("the database lacks checkpoints.quarantines: put a backup back, as described in docs/backup.md#restore")
		databasetest.Tamper(t, r.db, "UPDATE schema_migrations SET version = version - 1")
		if err := r.base.Complete(t.Context()); err == nil || !strings.HasSuffix(err.Error(), ": run annals migrate") {
			t.Errorf("got %v, want the command that migrates", err)
		}
	})
}

func TestALogAheadOfTheClockIsReported(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		now := time.Now()
		var fast atomic.Int64
		w := newWorldWith(t, db, projections.Settings{},
			events.Options{Clock: func() time.Time { return now.Add(time.Duration(fast.Load())) }})
		for _, ahead := range []time.Duration{0, time.Hour} {
			fast.Store(int64(ahead))
			w.remember(ahead.String(), "retry with jitter", "public")
			fast.Store(0)
			status := must(w.reader().Status(t.Context(), w.by.Tenant))(t)
			if got := status[0].Ahead; got.Round(time.Second) != ahead {
				t.Errorf("got a log that is %s ahead, want %s", got, ahead)
			}
		}
	})
}
