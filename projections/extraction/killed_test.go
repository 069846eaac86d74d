package extraction_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections/extraction"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/sessions"
)

// learningChild shows a process of this test which database to extract in.
const learningChild = "ANNALS_TEST_LEARNING_URL"

// A process that extracts is killed again and again, before and after every kind of step; another one goes on. What
// comes of it is what comes of it when nobody is killed.
func TestAnExtractionThatIsKilledGoesOn(t *testing.T) {
	t.Parallel()
	if url := os.Getenv(learningChild); url != "" {
		learnAsChild(t, url)
		return
	}
	for _, engine := range databasetest.Engines(t) {
		t.Run(engine.String(), func(t *testing.T) {
			t.Parallel()
			undisturbed, url := databasetest.Migrated(t, engine), databasetest.Migrated(t, engine)
			var want, got []string
			during(t, undisturbed, func(w *world) {
				converse(w)
				w.learn()
				want = outcome(w)
			})
			during(t, url, converse)
			kills := 0
			for !learnedUntilKilled(t, url, 1+rand.IntN(4+2*kills)) {
				kills++
			}
			t.Logf("learned after %d kills", kills)
			if kills < 5 {
				t.Errorf("only %d kills", kills)
			}
			during(t, url, func(w *world) {
				w.learn() // reading everything again changes nothing
				got = outcome(w)
			})
			Equal(t, got, want, "(-killed +undisturbed)")
		})
	}
}

// converse commits sessions that lead to every decision.
func converse(w *world) {
	tool := domain.Part{Type: domain.PartTool, ToolName: "grep", ToolStatus: "completed", DurationMS: 10}
	for i, said := range [][]string{
		{"I prefer tabs for indentation.", "I live in Berlin.", "We decided to use Kafka."},
		{"i prefer tabs, for indentation!", "I live in Lisbon.", "We decided to use Kafka."},
		{"Actually, I prefer spaces for indentation.", "Our project uses Bazel.", "我喜欢喝绿茶。"},
		{"我喜欢喝绿茶", "I like elastic tabstops for indentation.", "My name is Mia."},
	} {
		c := talk(said...)
		c.Messages[0].Parts = append(c.Messages[0].Parts, tool)
		w.hold(fmt.Sprint("s", i), c)
	}
	w.Submit(domain.UseContexts{SessionTarget: w.target("s9"), URIs: []string{"viking://user/mia/memories/tools/grep.md"}})
	w.hold("s9", talk("thanks, that was it"))
}

// outcome is everything that was learned, and how often it was recorded.
func outcome(w *world) []string {
	var all []string
	for _, status := range []domain.Status{domain.Active, domain.IsSuperseded, domain.IsDeleted} {
		for _, k := range w.items(status) {
			all = append(all, fmt.Sprintf("%s: %s (%d helpful, %d harmful)", status, k.Text.Content, k.Helpful, k.Harmful))
		}
	}
	for _, name := range []string{"s0", "s1", "s2", "s3", "s9"} {
		all = append(all, fmt.Sprint(name, " ", w.decisions(name, 1)))
	}
	page := Must(w.Log.Reader.Read(w.T.Context(), w.By.Tenant, 0, 500))(w.T)
	names := map[string]int{}
	for _, event := range page {
		names[event.Name]++
	}
	for name, times := range names {
		all = append(all, fmt.Sprint(times, " ", name))
	}
	slices.Sort(all)
	return all
}

// during opens the database for as long as do runs: a SQLite file has one owner.
func during(t *testing.T, url string, do func(*world)) {
	t.Helper()
	t.Run("opened", func(t *testing.T) {
		do(newWorld(t, databasetest.Open(t, url), extraction.BuiltIn{}))
	})
}

// learnedUntilKilled lets a process extract, and kills it at one of its steps. It reports whether there were fewer.
func learnedUntilKilled(t *testing.T, url string, steps int) bool {
	t.Helper()
	child := databasetest.NewChild(t, learningChild+"="+url)
	done, stepped := false, 0
	for child.Says.Scan() {
		if done = child.Says.Text() == "done"; done {
			break
		}
		if stepped++; stepped == steps {
			break
		}
	}
	child.Kill()
	return done
}

// loud is a writer that states before and after each of its steps that it comes to it.
type loud struct {
	extraction.Writer
	step func()
}

func (l loud) Submit(ctx context.Context, s domain.Submission) (domain.Receipt, error) {
	l.step()
	defer l.step()
	return l.Writer.Submit(ctx, s)
}

// SubmitAll takes them one by one: what is done together on a good day may be torn apart.
func (l loud) SubmitAll(ctx context.Context, submissions []domain.Submission) []domain.Result {
	results := make([]domain.Result, len(submissions))
	for i, s := range submissions {
		results[i].Receipt, results[i].Err = l.Submit(ctx, s)
	}
	return results
}

// learnAsChild extracts as a server does, and states what it does.
func learnAsChild(t *testing.T, url string) {
	t.Helper()
	say := databasetest.Saying(t)
	options := events.Options{
		Lease: 150 * time.Millisecond,
		Poll:  10 * time.Millisecond,
	} // who was killed is not waited for
	w := newWorldWith(t, databasetest.Open(t, url), extraction.BuiltIn{}, options)
	w.worker.Writer = loud{Writer: w.Log, step: func() { say("step") }}
	router := Must(follow.NewRouter(databasetest.Log(t)))(t)
	w.worker.Follow(router)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- router.Run(ctx) }()
	commits, err := w.Log.Sessions.Commits(ctx, w.By.Tenant, "", 0, 1)
	if err != nil || len(commits) == 0 {
		t.Fatalf("%d commits, %v", len(commits), err)
	}
	NoError(t, w.Followers.Await(ctx, domain.Extraction, w.By.Tenant, commits[0].Position))
	stop()
	if err := <-ended; err != nil && !strings.Contains(err.Error(), "context canceled") {
		t.Error(err)
	}
	say("done")
}

func TestAFailedArchiveIsTriedAgainByItself(t *testing.T) {
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		now, broken := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC), error(nil)
		extractor := extractorFunc(func(ctx context.Context, c extraction.Conversation) (extraction.Result, error) {
			if broken != nil {
				return extraction.Result{}, broken
			}
			return extraction.BuiltIn{}.Extract(ctx, c)
		})
		w := newWorldWith(t, db, extractor, events.Options{Clock: func() time.Time { return now }})
		retry := func(after time.Duration) (failed int) {
			t.Helper()
			now = now.Add(after)
			for range 2 { // who asks a second time changes nothing
				NoError(t, w.worker.RetryDue(t.Context()))
			}
			w.learn()
			stream := Must(w.Log.Reader.State(t.Context(), w.By.Tenant, "session:mia/s1"))(t)
			return stream.State.(domain.Session).Failed
		}
		recorded := func() (failures, requests int) {
			t.Helper()
			page := Must(w.Log.Reader.Read(t.Context(), w.By.Tenant, 0, 500))(t)
			for _, event := range page {
				switch event.Fact.(type) {
				case domain.ExtractionFailed:
					failures++
				case domain.ExtractionRequested:
					requests++
				}
			}
			return failures, requests
		}

		broken = errNever
		task := w.hold("s1", talk("I prefer tabs for indentation."))
		w.hold("s2", talk("I live in Lisbon."))
		w.Submit(domain.EraseSession{
			SessionTarget: w.target("s2"),
			ErasureReason: domain.ErasureReason{ReasonCode: "gdpr-17"},
		})
		w.learn()
		if got := retry(time.Minute); got != 1 {
			t.Errorf("%d failed", got)
		}
		if failures, requests := recorded(); failures != 2 || requests != 0 {
			t.Errorf("a minute later: %d failures, %d requests", failures, requests)
		}
		broken = errKilled // away, which would be waited for the first time
		retry(10 * time.Minute)
		retry(10 * time.Minute)
		if failures, requests := recorded(); failures != 3 || requests != 1 {
			t.Errorf("later: %d failures, %d requests", failures, requests)
		}
		w.hold("s1", talk("I live in Berlin.")) // keeps nothing that is to be extracted waiting
		broken = nil
		w.learn()
		if got := retry(time.Hour); got != 0 {
			t.Errorf("%d failed in the end", got)
		}
		fact, is := w.settled("s1", 1).(domain.SessionExtracted)
		if !is || fact.Retry != 2 || fact.Task != task || len(fact.Lessons) != 1 || len(w.items()) != 2 {
			t.Errorf("%+v and %d items", w.settled("s1", 1), len(w.items()))
		}
		found, err := (sessions.Sessions{Log: w.Log, Followers: w.Followers}).Task(t.Context(), w.By, task)
		if err != nil || found.Extracted == nil || found.Failed != nil {
			t.Errorf("task %+v, %v", found, err)
		}
		retry(48 * time.Hour)
		if failures, requests := recorded(); failures != 3 || requests != 2 {
			t.Errorf("in the end: %d failures, %d requests", failures, requests)
		}
		w.learned = 0
		w.learn() // from the beginning
		if got := len(w.items()); got != 2 {
			t.Errorf("%d items after reading everything again", got)
		}
	})
}
