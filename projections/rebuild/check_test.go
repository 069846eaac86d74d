package rebuild_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/codec"
	"github.com/annals-kb/annals/events/logtest"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/rebuild"
)

func TestWhatIsAnsweredIsComparedWithTheLog(t *testing.T) {
	EachLived(t, func(t *testing.T, r *Rebuilding) {
		r.Run() // so the log has a stream of another kind, and a version other than the first is read
		check := func() rebuild.Checked {
			t.Helper()
			var last int64
			checked, err := projections.Check(t.Context(), r.DB, projections.Settings{}, func(items, _ int64) { last = items })
			if err != nil {
				t.Fatal(err)
			}
			if checked.Version != 2 || checked.Items != last || checked.Items < 11 {
				t.Errorf("got %d items of version %d with a progress of %d, want all of version 2", checked.Items,
					checked.Version, last)
			}
			return checked
		}
		PastWorld{World: r.World, Past: r.Reader().Past}.ReadOn(500)
		if checked := check(); len(checked.Wrong) > 0 || len(checked.Unchecked) != 3 { // nothing reads the system's log here
			t.Errorf("got %q and not compared %q, want nothing wrong", checked.Wrong, checked.Unchecked)
		}
		for _, table := range []string{"past_1", "past_1_scopes", "past_1_counts", "past_1_words"} {
			r.Corrupt("CREATE TABLE saved AS SELECT * FROM " + table)
			r.Corrupt("DELETE FROM " + table)
			if checked := check(); len(checked.Wrong) == 0 ||
				!strings.Contains(checked.Wrong[0], "what as-of answers read is not what the log says") {
				t.Errorf("%s is empty, and the check says %q", table, checked.Wrong)
			}
			r.Corrupt("INSERT INTO " + table + " SELECT * FROM saved")
			r.Corrupt("DROP TABLE saved")
		}
		for _, damage := range []string{
			"UPDATE knowledge_2 SET confidence = 0.99 WHERE id = 'item-1'",
			"DELETE FROM knowledge_2_votes",
			"UPDATE streams SET version = version + 1",
		} {
			r.Corrupt(damage)
		}
		wrong := strings.Join(check().Wrong, "\n")
		for _, named := range []string{
			"item item-1: its rows or words are not what the log says",
			"item item-3: its rows or words are not what the log says",
			"stream projection:knowledge: what is kept about it is not what the log says",
		} {
			if !strings.Contains(wrong, named) {
				t.Errorf("the check says\n%s\nwant %q", wrong, named)
			}
		}
		Must(r.Rebuilder.Start(t.Context(), domain.RebuildOrder{Repair: true}))(t)
		r.IsActive(r.Ended(), 3)
	})
}

// TestAnswersAreVerifiedAfterEveryKindOfEvent lets items have events of every kind, and checks the answers after each.
func TestAnswersAreVerifiedAfterEveryKindOfEvent(t *testing.T) {
	EachPast(t, func(t *testing.T, w PastWorld) {
		for _, id := range []string{"a", "b", "c"} {
			w.Leak(id)
		}
		check := func(after any) {
			t.Helper()
			w.ReadOn(500)
			checked := Must(projections.Check(t.Context(), w.DB, projections.Settings{}, nil))(t)
			if len(checked.Wrong) > 0 {
				t.Fatalf("after %T: %q", after, checked.Wrong)
			}
		}
		do := func(command domain.Command, then ...domain.Command) {
			t.Helper()
			Must(w.Log.Submit(t.Context(), domain.Submission{By: w.By, Command: command, Then: then}))(t)
			check(command)
		}
		a, b, c := domain.Target{By: w.By, ID: "a"}, domain.Target{By: w.By, ID: "b"}, domain.Target{By: w.By, ID: "c"}
		for _, trace := range []string{"1", "2", "3"} {
			do(w.Helpful("b", trace))
		}
		do(domain.GiveFeedback{Target: b, Verdict: domain.Harmful, TraceID: "1"})
		voter := w.By
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
			do(w.Helpful("a", "2"))
			history := Must(w.Log.Reader.Stream(t.Context(), w.By.Tenant, domain.KnowledgeStream("a")))(t)
			undo := Must(domain.UndoMerge(a, history, ""))(t)
			do(undo, undo.Then()...)
		}
		if k := Must(w.Base.Browser.Find(t.Context(), w.By.Tenant, "a"))(t); k.Helpful != 3 || k.Harmful != 0 {
			t.Errorf("got %d and %d votes, want only the item's own", k.Helpful, k.Harmful)
		}
		do(domain.Hold{Target: a, ReasonCode: "case"})
		do(domain.Release{Target: a, ReasonCode: "case"})
		do(domain.Delete{Target: c})
		for _, target := range []domain.Target{a, c} {
			do(domain.Quarantine{Target: target, Containment: "c", Reason: "poisoned"})
			do(domain.Readmit{Target: target, Containment: "c"})
		}
		votes := slices.Collect(maps.Keys(w.Items()["a"].Votes))
		for _, again := range []bool{false, true} {
			do(domain.DiscountVotes{Target: a, Containment: "c", Votes: votes, Again: again})
		}
		check(w.Redact("a"))
		check(w.Erase("b"))
		missing := slices.DeleteFunc(codec.Names(), func(name string) bool {
			return name == domain.Accepted{}.Name() || !strings.HasPrefix(name, "knowledge.") && !strings.HasPrefix(name, "relation.") && name != "text.redacted"
		})
		for _, event := range logtest.All(t, w.Log, w.By.Tenant) {
			missing = slices.DeleteFunc(missing, func(name string) bool { return name == event.Name })
		}
		if len(missing) > 0 {
			t.Errorf("nothing was checked after %v", missing)
		}
	})
}
