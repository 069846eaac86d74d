package vectors_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/embedding"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/rebuild"
)

func TestAnotherModelTakesOverWhenItKnowsEverything(t *testing.T) {
	t.Parallel()
	const builtin, small, large = "builtin-2 ready", "openai:small:96", "openai:large:160"
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		e := newEndpoint(t)
		before, stop := Served(t, db, projections.Settings{Embedder: e.model(t, "small")})
		for i := range 20 {
			before.Remember(fmt.Sprint("item-", i), fmt.Sprintf("lesson number%d about backoff", i), "team:pay")
			before.In("other").Remember(fmt.Sprint("theirs-", i), fmt.Sprintf("note number%d about tomatoes", i), "team:pay")
		}
		before.Until("everything has a vector of the small model", func() bool { return before.Lag() == 0 })
		question := func(n int) domain.Search { return domain.Search{Text: fmt.Sprintf("number%d backoff", n), Limit: 3} }
		asked := func(w *World, n int, space string) {
			t.Helper()
			answer := w.Search(question(n))
			if answer.Embedder != space || answer.Degraded != "" || len(answer.Hits) == 0 ||
				answer.Hits[0].ID != fmt.Sprint("item-", n) {
				t.Errorf("question %d: %d hits by %s (%s), want item %d by %s", n, len(answer.Hits), answer.Embedder,
					answer.Degraded, n, space)
			}
		}
		asked(before, 3, small)
		stop()

		// Another model is configured. It falls silent after a few requests, and its server is stopped.
		e.answers("large", 4)
		settings := projections.Settings{Embedder: e.model(t, "large"), Previous: e.model(t, "small")}
		during, stop := Served(t, db, settings)
		during.Until("the large model has answered what it does", func() bool { return len(e.times("large")) >= 12 })
		during.Remember("fresh", "what came while a freshly model was number99", "team:pay")
		during.Until("what is new has a vector of the small model, too", func() bool {
			return during.Search(domain.Search{Text: "freshly number99"}).Hits[0].Model > 0
		})
		asked(during, 4, small)
		Equal(t, during.Spaces(), []string{builtin, small + " active", large + " catching_up"},
			"meanwhile the spaces are (-got +want)")
		stop()

		// A server that goes on asks for nothing that was answered, and switches when everything was.
		e.answers("large", -1)
		after, stop := Served(t, db, settings)
		after.Until("searches are made in the new space", func() bool { return after.Search(question(5)).Embedder == large })
		asked(after, 6, large)
		during.Until("other servers follow", func() bool { return during.Search(question(5)).Embedder == large })
		for text, times := range e.times("large") {
			if times != 1 && text != question(5).Text && text != question(6).Text {
				t.Errorf("the large model was asked %d times for %q", times, text)
			}
		}
		Equal(t, after.Spaces(), []string{builtin, large + " active", small + " retired"},
			"afterwards the spaces are (-got +want)")
		after.Remember("later", "what came later number100", "team:pay")
		after.Until("what is new has a vector of the large model", func() bool {
			return after.Search(domain.Search{Text: "later number100"}).Hits[0].Model > 0
		})
		stop()

		// Going back costs what came since.
		known := len(e.times("small"))
		back, stop := Served(t, db, projections.Settings{Embedder: e.model(t, "small"), Previous: e.model(t, "large")})
		back.Until("searches are made in the old space again",
			func() bool { return back.Search(question(7)).Embedder == small })
		asked(back, 8, small)
		if got := len(e.times("small")); got > known+4 {
			t.Errorf("the small model was asked for %d texts more, want what came since and two questions", got-known)
		}

		// What nobody wants any more is dropped, and begun anew if somebody does.
		rebuilder := rebuild.New(back.Base.Versions, back.Base.Models, back.Log, back.Followers)
		defer rebuilder.Close()
		rebuilds := rebuild.Rebuilds{Rebuilder: rebuilder}
		NoError(t, rebuilds.Retire(t.Context(), "meaning"))
		if err := rebuilds.Retire(t.Context(), "meaning"); !errors.Is(err, domain.ErrNotFound) {
			t.Errorf("retiring again: got %v", err)
		}
		Equal(t, back.Spaces(), []string{builtin, small + " active"}, "afterwards the spaces are (-got +want)")
		asked(back, 9, small)
		stop()
		later := NewWorld(t, db, projections.Settings{
			Embedder: e.model(t, "small"),
			Now:      func() time.Time { return time.Now().Add(time.Hour) },
		})
		NoError(t, later.Base.Models.DropRetired(t.Context()))
		for _, table := range []string{"meaning_3", "vectors_3"} {
			if _, err := db.ExecContext(t.Context(), "SELECT count(*) FROM "+table); err == nil {
				t.Errorf("%s is still there", table)
			}
		}
		asked(later, 10, small)
		again, _ := Served(t, db, settings)
		again.Until("the large model has taken over again",
			func() bool { return again.Search(question(11)).Embedder == large })
		asked(again, 12, large)
	})
}

// Without a word about the model before, answers do without one until the new one is complete, and say so.
func TestAModelThatNoSettingNamesAnswersNoQuestions(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		e := newEndpoint(t)
		before, stop := Served(t, db, projections.Settings{Embedder: e.model(t, "small")})
		before.Remember("a", "retry with backoff", "team:pay")
		before.Until("it has a vector", func() bool { return before.Lag() == 0 })
		stop()
		e.answers("large", 0)
		w, _ := Served(t, db, projections.Settings{Embedder: e.model(t, "large")})
		answer := w.Search(domain.Search{Text: "backoff"})
		if answer.Degraded == "" || answer.Embedder != "openai:small:96" || len(answer.Hits) != 1 {
			t.Errorf("got %+v, want an answer without it", answer)
		}
		e.answers("large", -1)
		w.Until("the new model answers", func() bool { return w.Search(domain.Search{Text: "backoff"}).Degraded == "" })
	})
}

// What was just remembered is found by words and the built-in vectors while the model is silent. Without the model, a
// server gives it up; a command that does not serve leaves it.
func TestTheEncoderInTheProgramAnswersUntilAnotherModelTakesOver(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		before, stop := Served(t, db, projections.Settings{Embedder: embedding.Sentence{}})
		before.Remember("leave", "Employees have thirty days of vacation per year.", "team:pay")
		before.Until("the sentence has a vector", func() bool { return before.Lag() == 0 })
		stop()
		e := newEndpoint(t)
		e.answers("large", 0)
		after, stop := Served(t, db, projections.Settings{Embedder: e.model(t, "large")})
		defer stop()
		answer := after.Search(domain.Search{Text: "How many days of vacation do I get?"})
		if answer.Embedder != "sentence-1" || answer.Degraded != "" || len(answer.Hits) != 1 || answer.Hits[0].Model == 0 {
			t.Errorf("by %s (%s): %+v", answer.Embedder, answer.Degraded, answer.Hits)
		}
	})
}

func TestNothingWaitsForTheModel(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		e := newEndpoint(t)
		e.answers("small", 0)
		w, stop := Served(t, db, projections.Settings{Embedder: e.model(t, "small")})
		last := w.Remember("upgrade", "the Kubernetes upgrade is in May", "team:pay")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		NoError(t, w.Reader().Await(ctx, w.By.Tenant, last.Position, true))
		s := Must(domain.Search{By: w.By, Text: "kuberntes", Vector: make([]float32, 96)}.Complete())(t)
		s.Vector[0] = 1 // as if the model had embedded the question
		answer := Must(w.Base.Searcher.Search(t.Context(), s))(t)
		if len(answer.Hits) != 1 || answer.Hits[0].Semantic == 0 || answer.Hits[0].Model != 0 {
			t.Errorf("found %+v", answer.Hits)
		}
		stop()
		both := []string{"builtin-2 ready", "openai:small:96 active"}
		Equal(t, NewWorld(t, db, projections.Settings{}).Spaces(), both, "with a command (-got +want)")
		again, _ := Served(t, db, projections.Settings{})
		want := []string{"builtin-2 active", "openai:small:96 retired"}
		again.Until("the model is given up", func() bool { return slices.Equal(again.Spaces(), want) })
	})
}

// What a process that changes the model is told by its environment.
const (
	modelChild    = "ANNALS_TEST_MODEL_URL"
	modelEndpoint = "ANNALS_TEST_MODEL_ENDPOINT"
)

// A process that makes the vectors of another model is killed again and again: while a request is on its way,
// just after its answer, while vectors are written, when everything is read, at the switch, and after it.
func TestAChangeOfTheModelThatIsKilledGoesOn(t *testing.T) {
	databasetest.Slow(t)
	t.Parallel()
	if url := os.Getenv(modelChild); url != "" {
		changeModelAsChild(t, url, os.Getenv(modelEndpoint))
		return
	}
	const items, tenants = 45, 2
	for _, engine := range []database.Engine{database.SQLite, database.Postgres} {
		t.Run(engine.String(), func(t *testing.T) {
			t.Parallel()
			url, e := databasetest.Migrated(t, engine), newEndpoint(t)
			t.Run("with the small model", func(t *testing.T) {
				db := databasetest.Open(t, url)
				w, stop := Served(t, db, projections.Settings{Embedder: e.model(t, "small")})
				for i := range items {
					w.Remember(fmt.Sprint("item-", i), fmt.Sprintf("lesson number%d about backoff", i), "team:pay")
					w.In("other").Remember(fmt.Sprint("theirs-", i), fmt.Sprintf("note number%d about tomatoes", i), "team:pay")
				}
				w.Until("everything has a vector of the small model", func() bool { return w.Lag() == 0 })
				stop()
			})
			kills := 0
			for ; ; kills++ {
				// First it is killed while the model keeps it waiting, then at any moment after so many answers.
				silent, more := kills < 6, 1+rand.IntN(3)
				if changedUntilKilled(t, url, e, silent, more) {
					break
				}
			}
			t.Logf("changed after %d kills", kills)
			if kills < 7 {
				t.Errorf("it was killed %d times: too few to tell anything", kills)
			}
			texts, answers := 0, 0
			for _, times := range e.times("large") {
				texts, answers = texts+1, answers+times
			}
			if texts != items*tenants {
				t.Errorf("the large model has answered for %d texts, want %d", texts, items*tenants)
			}
			if repeated, most := answers-texts, kills*tenants*textsAtOnce; repeated > most {
				t.Errorf("%d texts were sent again after %d kills, want at most one request of each tenant: %d",
					repeated, kills, most)
			}
			t.Run("afterwards", func(t *testing.T) {
				w := NewWorld(t, databasetest.Open(t, url), projections.Settings{
					Embedder: e.model(t, "large"),
					Previous: e.model(t, "small"),
				})
				for tenant, id := range map[string]string{w.By.Tenant: "item-7", "other": "theirs-7"} {
					answer := w.In(tenant).Search(domain.Search{Text: "number7", Limit: 3})
					if answer.Embedder != "openai:large:160" || len(answer.Hits) == 0 || answer.Hits[0].ID != id ||
						answer.Hits[0].Model == 0 {
						t.Errorf("%s: got %d hits by %s, want %s by the large model", tenant, len(answer.Hits), answer.Embedder, id)
					}
				}
			})
		})
	}
}

// changedUntilKilled lets a process change the model, and kills it when it has had so many answers more:
// while the model keeps it waiting, or a moment later. It tells whether the process was faster.
func changedUntilKilled(t *testing.T, url string, e *endpoint, silent bool, more int) bool {
	t.Helper()
	limit := -1
	if silent {
		limit = more
	}
	e.answers("large", limit)
	before := e.requests("large")
	child := databasetest.NewChild(t, modelChild+"="+url, modelEndpoint+"="+e.URL)
	ended := make(chan bool, 1)
	go func() {
		ended <- child.Says.Scan() && child.Says.Text() == "done"
	}()
	done, finished := false, false
	for !finished && e.requests("large")-before < more {
		select {
		case done = <-ended:
			finished = true
		case <-time.After(time.Millisecond):
		}
	}
	if !finished {
		select {
		case done = <-ended:
			finished = true
		case <-time.After(time.Duration(rand.Int64N(int64(15 * time.Millisecond)))):
		}
	}
	child.Kill()
	if !finished {
		done = <-ended
	}
	return done
}

// changeModelAsChild goes on with the change of the model, and says when it is done.
func changeModelAsChild(t *testing.T, url, endpoint string) {
	t.Helper()
	w, _ := ServedWith(t, databasetest.Open(t, url), projections.Settings{
		Embedder: modelAt(t, endpoint, "large"), Previous: modelAt(t, endpoint, "small"),
	}, events.Options{Lease: 300 * time.Millisecond}) // which whoever comes after a kill waits for
	w.Until("searches are made in the new space", func() bool {
		return w.Spaces()[1] == "openai:large:160 active" &&
			w.Lag() == 0
	})
	databasetest.Saying(t)("done")
}
