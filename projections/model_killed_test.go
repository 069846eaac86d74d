package projections_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
)

// What a process that changes the model is told by its environment.
const (
	modelChild    = "ANNALS_TEST_MODEL_URL"
	modelEndpoint = "ANNALS_TEST_MODEL_ENDPOINT"
)

// A process that makes the vectors of another model is killed again and again: while a request is on its way,
// just after its answer, while vectors are written, when everything is read, at the switch, and after it.
func TestAChangeOfTheModelThatIsKilledGoesOn(t *testing.T) {
	t.Parallel()
	if url := os.Getenv(modelChild); url != "" {
		changeModelAsChild(t, url, os.Getenv(modelEndpoint))
		return
	}
	const items, tenants = 45, 2
	for name, newURL := range map[string]func(testing.TB) string{
		"sqlite":   databasetest.SQLite,
		"postgres": databasetest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, e := newURL(t), newEndpoint(t)
			t.Run("with the small model", func(t *testing.T) {
				db := databasetest.Open(t, url)
				noError(t, database.Migrate(t.Context(), db))
				w, stop := served(t, db, projections.Settings{Embedder: e.model(t, "small")})
				for i := range items {
					w.remember(fmt.Sprint("item-", i), fmt.Sprintf("lesson number%d about backoff", i), "team:pay")
					w.in("other").remember(fmt.Sprint("theirs-", i), fmt.Sprintf("note number%d about tomatoes", i), "team:pay")
				}
				w.until("everything has a vector of the small model", func() bool { return w.lag() == 0 })
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
				w := newWorld(t, databasetest.Open(t, url), projections.Settings{
					Embedder: e.model(t, "large"),
					Previous: e.model(t, "small"),
				})
				for tenant, id := range map[string]string{w.by.Tenant: "item-7", "other": "theirs-7"} {
					answer := w.in(tenant).search(domain.Search{Text: "number7", Limit: 3})
					if answer.Embedder != "openai:large:160" || len(answer.Hits) == 0 || answer.Hits[0].ID != id ||
						answer.Hits[0].Semantic == 0 {
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
	w, _ := servedWith(t, databasetest.Open(t, url), projections.Settings{
		Embedder: modelAt(t, endpoint, "large"), Previous: modelAt(t, endpoint, "small"),
	}, events.Options{Lease: 300 * time.Millisecond}) // which whoever comes after a kill waits for
	w.until("searches are made in the new space", func() bool {
		return w.spaces()[0] == "openai:large:160 active" &&
			w.lag() == 0
	})
	databasetest.Saying(t)("done")
}
