package extraction_test //nolint:lll // tables of test data

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/extraction"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestACommittedSessionBecomesKnowledge(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		task := w.hold("s1", talk("I prefer tabs for indentation.", "a: Noted. chromedriver 124 requires Chrome 124+."))
		w.learn()
		items := w.items()
		if len(items) != 2 {
			t.Fatalf("%d items", len(items))
		}
		preference, tool := items[0], items[1]
		if preference.Owner != mia || !slices.Equal(preference.Scopes, []domain.Scope{"user:mia"}) || preference.Type != domain.UserProfile ||
			preference.Category != domain.CategoryPreferences || preference.Confidence != 0.5 || preference.Helpful != 1 {
			t.Errorf("%+v", preference)
		}
		if preference.Source.AgentID != "coder" || preference.Source.TraceID != "s1" || len(preference.DerivedFrom) != 1 {
			t.Errorf("source %+v of %v", preference.Source, preference.DerivedFrom)
		}
		if !slices.Equal(tool.Scopes, []domain.Scope{"user:mia"}) || tool.Text.URI != "viking://user/mia/memories/tools/chromedriver.md" || tool.Type != domain.Tool {
			t.Errorf("%+v", tool)
		}
		fact := w.settled("s1", 1).(domain.SessionExtracted)
		if fact.Task != task || fact.Extractor != "built-in 6" || len(fact.Lessons) != 2 || fact.Lessons[0].Item != preference.ID {
			t.Errorf("%+v", fact)
		}
		archive, err := w.Base.Browser.Find(t.Context(), w.By.Tenant, domain.ArchiveItem("session:mia/s1", 1))
		if err != nil || archive.Text.URI != "viking://session/mia/s1/history/archive_001" || !slices.Equal(archive.Scopes, []domain.Scope{"user:mia"}) ||
			!strings.Contains(archive.Text.Content, "assistant: Noted. chromedriver") {
			t.Errorf("the archive: %+v, %v", archive, err)
		}
		causes, err := w.Log.Finder.Causes(t.Context(), w.By.Tenant, preference.DerivedFrom)
		if err != nil || causes[preference.DerivedFrom[0]].Name != "session.message_added" {
			t.Errorf("%v, %v", causes, err)
		}
		kin, err := w.Base.Browser.Lineage(t.Context(), w.By.Tenant, preference.ID)
		if err != nil || len(kin) != 1 || kin[0].Stream != "session:mia/s1" || kin[0].ID != "" || kin[0].Relation != domain.Derives {
			t.Errorf("lineage %v, %v", kin, err)
		}
	})
}

func TestWhatIsKnownDecides(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		steps := []struct {
			said string
			want domain.Decision
		}{
			{"I prefer tabs for indentation.", domain.DecideCreate},
			{"i prefer tabs, for indentation!", domain.DecideVote},
			{"I like elastic tabstops for indentation.", domain.DecideMerge},
			{"Actually, I prefer spaces for indentation.", domain.DecideSupersede},
			{"I live in Berlin.", domain.DecideCreate},
			{"I live in Lisbon.", domain.DecideSupersede},
			{"We decided to use Kafka.", domain.DecideCreate},
			{"We decided to use Kafka.", domain.DecideSkip},
			{"我喜欢喝绿茶。", domain.DecideCreate},
			{"我喜欢喝绿茶", domain.DecideVote},
			{"Remember that the staging port is 8443.", domain.DecideCreate},
			{"Actually, the production port is 8443.", domain.DecideCreate},
			{"Actually, the staging port is open to the office.", domain.DecideCreate},
			{"Actually, the staging port is 9000 now.", domain.DecideSupersede},
			{"I like mornings for meetings.", domain.DecideCreate},
			{"I don't like mornings for meetings.", domain.DecideCreate},
			{"We use Jenkins.", domain.DecideCreate},
			{"We stopped using Jenkins.", domain.DecideSupersede},
			{"I no longer live in Lisbon.", domain.DecideSupersede},
			{"We decided not to use Kafka.", domain.DecideSupersede},
			{"我住在杭州。", domain.DecideSupersede},
			{"我已经不住在杭州了。", domain.DecideSupersede},
			{"I own a car.", domain.DecideCreate},
			{"My wife no longer owns a car.", domain.DecideCreate},
			{"I no longer own a car.", domain.DecideSupersede},
			{"I use Slack.", domain.DecideCreate},
			{"I quit using Slack.", domain.DecideSupersede},
			{"I drink coffee.", domain.DecideCreate},
			{"I gave up drinking coffee.", domain.DecideSupersede},
			{"We are migrating to AWS.", domain.DecideCreate},
			{"We decided against migrating to AWS.", domain.DecideSupersede},
			{"我每天喝咖啡。", domain.DecideCreate},
			{"我们用飞书。", domain.DecideCreate},
			{"我们放弃了使用飞书。", domain.DecideSupersede},
			{"checkout calls billing.", domain.DecideCreate},
			{"billing calls checkout.", domain.DecideCreate},
		}
		for i, step := range steps {
			w.hold("s1", talk(step.said))
			w.learn()
			Equal(t, w.decisions("s1", i+1), []domain.Decision{step.want}, "%s (-got +want)", step.said)
		}
		items := map[string]*domain.Knowledge{}
		for _, k := range w.items() {
			items[k.Text.Content] = k
		}
		if k := items["我喜欢喝绿茶。"]; k == nil || k.Helpful != 2 || k.Confidence != 0.75 {
			t.Errorf("a preference that was said again: %+v", k)
		}
		if items["Actually, I prefer spaces for indentation."] == nil || items["I live in Lisbon."] != nil || items["I live in Berlin."] != nil ||
			items["I like mornings for meetings."] == nil || items["I don't like mornings for meetings."] == nil || items["We decided to use Kafka."] != nil ||
			items["Remember that the staging port is 8443."] != nil || items["Actually, the production port is 8443."] == nil {
			t.Errorf("%v", items)
		}
		if got := len(w.items(domain.IsDeleted)); got != 0 {
			t.Errorf("%d items were deleted", got)
		}
		merged := w.settled("s1", 3).(domain.SessionExtracted).Lessons[0]
		k, err := w.Base.Browser.Find(t.Context(), w.By.Tenant, merged.Item)
		if err != nil || k.Text.Content != "I prefer tabs for indentation.\nI like elastic tabstops for indentation." || k.Helpful != 2 || len(merged.Neighbours) == 0 {
			t.Errorf("merged: %+v, %v", k, err)
		}
		stream, err := w.Log.Reader.State(t.Context(), w.By.Tenant, "session:mia/s1")
		if s := stream.State.(domain.Session); err != nil || s.Processed != len(steps) || s.Failed != 0 {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

func TestAConversationCorrectsItself(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.hold("s1", talk("I live in Oslo.", "I was born in Oslo.", "Actually, I live in Bergen.", "We use Jenkins.", "We use Jenkins no longer."))
		w.learn()
		Equal(t, w.decisions("s1", 1), []domain.Decision{domain.DecideCreate, domain.DecideCreate, domain.DecideSupersede, domain.DecideCreate, domain.DecideSupersede}, "decisions")
		for _, k := range w.items(domain.IsSuperseded) {
			if k.Text.Content != "I live in Oslo." && k.Text.Content != "We use Jenkins." {
				t.Errorf("%s is superseded", k.Text.Content)
			}
		}
		for i, said := range [][]string{
			{"My favourite editor is Vim.", "Sorry, my favourite editor is Emacs."},
			{"I live in Rome.", "I meant I live in Bari."},
			{"我住在杭州。", "抱歉，我住在苏州。"},
			{"我住在北京。", "我是说我住在天津。"},
		} {
			session := fmt.Sprint("mended-", i)
			w.hold(session, talk(said...))
			w.learn()
			Equal(t, w.decisions(session, 1)[1], domain.DecideSupersede, "%s", said)
		}
	})
}

func TestWhatIsRefusedIsNamedInTheLog(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for said, decision := range map[string]domain.Decision{
			"i prefer tabs, for indentation!":            domain.DecideVote,
			"I like elastic tabstops for indentation.":   domain.DecideMerge,
			"Actually, I prefer spaces for indentation.": domain.DecideSupersede,
		} {
			session := "about-" + string(decision)
			w.hold(session, talk("I prefer tabs for indentation."))
			w.learn()
			if w.logged.Len() > 0 {
				t.Errorf("nothing is refused, and the log says %s", w.logged)
			}
			known := w.items()[0].ID
			w.hold(session, talk(said))
			w.broken.left = 1 // it is killed when that is decided
			if err := w.follow(); !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			w.Submit(domain.Delete{Target: domain.Target{By: w.By, ID: known}})
			w.broken.left = -1
			w.learn()
			want := fmt.Sprintf("refused, and left out\" tenant=default stream=session:mia/%s archive=2 decision=%s item=%s error=\"%[3]s was forgotten\"", session, decision, known)
			if got := w.logged.String(); !strings.Contains(got, want) || strings.Contains(got, "indentation") {
				t.Errorf("the log says %s, want %s", got, want)
			}
			for _, k := range w.items() { // the next session begins with nothing
				w.Submit(domain.Delete{Target: domain.Target{By: w.By, ID: k.ID}})
			}
			w.logged.Reset()
		}
	})
}

func TestWhatIsSharedIsCountedForEverybody(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		call := talk("convert it")
		call.Messages[0].Parts = append(call.Messages[0].Parts, domain.Part{Type: domain.PartTool, ToolName: "xlsx_to_csv", ToolStatus: "completed", DurationMS: 10})
		private := w.By
		private.Role, private.PublishPublic, private.Subject = domain.Member, false, "user:bo"
		for _, by := range []struct {
			principal domain.Principal
			owner     domain.Entity
		}{{w.By, "user:mia"}, {w.By, "user:al"}, {private, "user:bo"}} {
			target := domain.SessionTarget{By: by.principal, Owner: by.owner, ID: "s"}
			w.Submit(domain.AddMessages{SessionTarget: target, Messages: []domain.NewMessage{{Role: "user", Message: domain.Message{Parts: call.Messages[0].Parts}}}})
			commit := domain.CommitSession{SessionTarget: target}
			if by.principal.PublishPublic {
				commit.Scopes = []domain.Scope{domain.Public}
			}
			w.Submit(commit)
			w.learn()
		}
		items := w.items()
		if len(items) != 2 || !strings.Contains(items[0].Text.Content, "2 calls") || items[0].Text.URI != "viking://agent/memories/tools/xlsx_to_csv.md" {
			t.Fatalf("%+v", items)
		}
		if bos := items[1]; !slices.Equal(bos.Scopes, []domain.Scope{"user:bo"}) || !strings.Contains(bos.Text.Content, "1 calls") {
			t.Errorf("who may not publish keeps it: %+v", bos)
		}
	})
}

func TestWhatIsSharedLiesWhereOthersLookThoughItsPlaceIsTaken(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		theirs := domain.Remember{By: w.By, ID: "theirs", Knowledge: domain.Remembered{
			Class: domain.Class{Type: domain.Tool, ContextType: domain.Memory}, Owner: "user:al", Scopes: []domain.Scope{"user:al"},
			Text: domain.Text{Content: "a note", URI: "viking://agent/memories/tools/chromedriver.md"},
		}}
		command := Must(theirs.Complete())(t)
		w.Submit(command)
		w.scopes = []domain.Scope{domain.Public}
		w.hold("s1", talk("chromedriver 124 requires Chrome 124."))
		w.learn()
		lesson := w.settled("s1", 1).(domain.SessionExtracted).Lessons[0]
		k, err := w.Base.Browser.Find(t.Context(), w.By.Tenant, lesson.Item)
		if want := "viking://agent/memories/tools/" + lesson.Item + ".md"; err != nil || k.Text.URI != want || !slices.Equal(k.Scopes, []domain.Scope{domain.Public}) {
			t.Errorf("it lies at %s for %v, %v; want %s", k.Text.URI, k.Scopes, err, want)
		}
	})
}

func TestWhatHelpedIsVotedFor(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.hold("s1", talk("chromedriver 124 requires Chrome 124."))
		w.learn()
		uri := "viking://user/mia/memories/tools/chromedriver.md"
		for range 2 {
			w.Submit(domain.UseContexts{SessionTarget: w.target("s2"), URIs: []string{uri, "viking://user/mia/memories/tools/chromedriver", "viking://nowhere/x.md"}})
		}
		w.hold("s2", talk("thanks, that was it"))
		w.learn()
		w.hold("s2", talk("and nothing was used"))
		w.learn()
		if k := w.items()[0]; k.Text.URI != uri || k.Helpful != 2 {
			t.Errorf("%s has %d voices", k.Text.URI, k.Helpful)
		}
	})
}

// extractorFunc is an extractor that a test makes up.
type extractorFunc func(context.Context, extraction.Conversation) (extraction.Result, error)

func (extractorFunc) Name() string { return "made up" }
func (f extractorFunc) Extract(ctx context.Context, c extraction.Conversation) (extraction.Result, error) {
	return f(ctx, c)
}

func TestAnExtractionThatFailsSaysWhy(t *testing.T) {
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		attempts := 0
		w := newWorld(t, db, extractorFunc(func(context.Context, extraction.Conversation) (extraction.Result, error) {
			if attempts++; attempts < 3 {
				return extraction.Result{}, errKilled
			}
			return extraction.Result{}, errNever
		}))
		task := w.hold("s1", talk("I prefer tabs."))
		for range 2 {
			if err := w.follow(); !errors.Is(err, errKilled) {
				t.Fatalf("an extractor that is away: %v", err)
			}
		}
		w.learn()
		want := domain.ExtractionFailed{Task: task, Archive: 1, Attempts: 3, Reason: errNever.Error()}
		Equal(t, w.settled("s1", 1), domain.Fact(want), "(-got +want)")
	})
}

func TestWhatWasErasedIsNotExtracted(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.hold("s1", talk("I prefer tabs."))
		w.Submit(domain.EraseSession{SessionTarget: w.target("s1"), ErasureReason: domain.ErasureReason{ReasonCode: "gdpr-17"}})
		w.learn()
		if _, failed := w.settled("s1", 1).(domain.ExtractionFailed); !failed || len(w.items()) > 0 {
			t.Errorf("%+v and %d items", w.settled("s1", 1), len(w.items()))
		}
	})
}

// Whichever way an order comes to a session, the items that say what its archives say go with it; another
// session's stay.
func TestAnOrderErasesASessionWithItsArchives(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, session := range []string{"s1", "s2", "s3"} {
			w.hold(session, talk("I prefer tabs for "+session+"."))
			w.learn()
		}
		eraser := projections.NewEraser(w.Base, w.Log, databasetest.Log(t))
		learned := func(session string) *domain.Knowledge {
			for _, k := range w.items() {
				if k.Source.TraceID == session {
					return k
				}
			}
			t.Fatalf("nothing was learned from %s", session)
			return nil
		}
		w.Submit(domain.EraseSession{SessionTarget: w.target("s3"), ErasureReason: domain.ErasureReason{ReasonCode: "gdpr-17"}}) // alone
		for i, order := range []domain.OrderErasure{
			{Of: "session:mia/s1"},
			{Of: learned("s2").ID, WithLineage: true},
			{Of: "session:mia/s3"},
		} {
			session := fmt.Sprint("s", i+1)
			stream, following := "session:mia/"+session, domain.LineageListed
			if order.WithLineage {
				following = domain.LineageErased
			}
			planned, err := eraser.Doomed(t.Context(), w.By.Tenant, order.Of, following)
			if err != nil || !slices.ContainsFunc(planned, func(d domain.ErasureTarget) bool {
				return d.ID == domain.ArchiveItem(stream, 1) && d.WillErase && d.Relation == domain.ArchiveOf && d.RelatedTo == stream
			}) {
				t.Errorf("%s: planned %+v, %v", session, planned, err)
			}
			order.By, order.ID = w.By, session
			complete := Must(order.Complete())(t)
			w.Submit(complete)
			NoError(t, eraser.CarryOut(t.Context()))
			for n := range 3 {
				name := fmt.Sprint("session:mia/s", n+1)
				archive, err := w.Base.Browser.Find(t.Context(), w.By.Tenant, domain.ArchiveItem(name, 1))
				if gone := err == nil && archive.Status == domain.IsErased; err != nil || gone != (n <= i) {
					t.Errorf("after %s: the archive of %s is %+v, %v", session, name, archive, err)
				}
			}
		}
	})
}

func TestWhatASessionTeachesMayNeedApproval(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		approve := []domain.Trust{domain.FromPersonalAgent}
		w.Submit(domain.SetPolicy{
			OfPolicy: domain.OfPolicy{By: w.By, PolicyKey: domain.PolicyKey{Scope: mia.Scope()}}, Approve: &approve,
		})
		w.hold("s1", talk("I prefer tabs for indentation."))
		w.learn()
		waiting := w.items(domain.IsProposed)
		if len(waiting) != 1 || len(w.items()) != 0 || waiting[0].Trust() != domain.FromPersonalAgent {
			t.Fatalf("%d wait, %d are told", len(waiting), len(w.items()))
		}
		archive, err := w.Base.Browser.Find(t.Context(), w.By.Tenant, domain.ArchiveItem("session:mia/s1", 1))
		if err != nil || archive.Status != domain.Active {
			t.Errorf("the archive: %+v, %v", archive, err)
		}
		none := []domain.Trust{}
		w.Submit(domain.SetPolicy{
			OfPolicy: domain.OfPolicy{By: w.By, PolicyKey: domain.PolicyKey{Scope: mia.Scope()}}, Approve: &none,
		})
		said := talk("I prefer short answers.")
		said.Messages[0].Parts = append(said.Messages[0].Parts, domain.Part{
			Type: domain.PartContext, URI: "viking://resources/style.md", ContextType: string(domain.Resource),
		})
		w.hold("s2", said)
		w.learn()
		if told := w.items(); len(told) != 1 || told[0].Trust() != domain.FromOutside {
			t.Errorf("with a resource in sight: %+v", told)
		}
	})
}
