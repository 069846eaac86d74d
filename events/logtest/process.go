package logtest

import (
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
)

// The environment variables of a child process.
const (
	childURL   = "ANNALS_LOGTEST_URL"
	childName  = "ANNALS_LOGTEST_NAME"
	childCount = "ANNALS_LOGTEST_COUNT"
)

func isChild() bool { return os.Getenv(childURL) != "" }

// beChild remembers items and votes on a common one, concurrently, and says every receipt to its parent.
func beChild(t *testing.T, open InstanceID) {
	t.Helper()
	db := databasetest.Open(t, os.Getenv(childURL))
	w := newWorld(t, db, open)
	w.strict()
	count, err := strconv.Atoi(os.Getenv(childCount))
	if err != nil {
		t.Fatal(err)
	}
	say := databasetest.Saying(t)
	common := w.remember("common").(domain.Remember)
	common.OrSame = true // another process may have been faster
	w.do(common)
	var next atomic.Int64
	var writing sync.WaitGroup
	for range 8 {
		writing.Go(func() {
			for i := next.Add(1); i <= int64(count); i = next.Add(1) {
				name := numbered(os.Getenv(childName), int(i))
				together := w.submission(w.remember(name))
				together.Then = []domain.Command{w.vote(name, name)}
				for _, submission := range []domain.Submission{together, w.submission(w.vote("common", name))} {
					receipt, err := w.log.Submit(t.Context(), submission)
					if err != nil {
						t.Error(err)
						return
					}
					say(fmt.Sprint(receipt.Events[0].Position, " ", receipt.Events[0].EventID))
				}
			}
		})
	}
	writing.Wait()
}

// start starts a process that remembers count items on the database at url.
func start(t *testing.T, url, name string, count int) *databasetest.Child {
	t.Helper()
	return databasetest.NewChild(t, childURL+"="+url, childName+"="+name, childCount+"="+strconv.Itoa(count))
}

// promised reads receipts until there are enough, or none is left.
func promised(c *databasetest.Child, enough int) map[int64]string {
	promises := map[int64]string{}
	for len(promises) < enough && c.Says.Scan() {
		position, id, whole := strings.Cut(c.Says.Text(), " ")
		at, err := strconv.ParseInt(position, 10, 64)
		if err != nil || !whole || len(id) < len("0195a000-0000-7000-8000-000000000000") {
			continue // cut off in the middle of the line
		}
		promises[at] = id
	}
	return promises
}

func processes(t *testing.T, open InstanceID) {
	const each = 60
	w, url := onPostgres(t, open)
	w.strict()
	w.do(w.remember("common"))
	first, second := start(t, url, "first", each), start(t, url, "second", each)
	for i := range each {
		w.do(w.vote("common", numbered("parent", i)))
	}
	for _, c := range []*databasetest.Child{first, second} {
		w.keptWord(promised(c, 2*each), 2*each)
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	if got, want := len(w.events()), 1+each+2*3*each; got != want {
		t.Errorf("got %d events, want %d", got, want)
	}
	if got, want := w.do(w.vote("common", "last")).Knowledge.Helpful, 1+3*each+1; got != want {
		t.Errorf("got %d voices, want %d", got, want)
	}
}

func killed(t *testing.T, open InstanceID) {
	for _, engine := range []database.Engine{database.SQLite, database.Postgres} {
		t.Run(engine.String(), func(t *testing.T) {
			t.Parallel()
			killedOn(t, open, databasetest.Migrated(t, engine))
		})
	}
}

func killedOn(t *testing.T, open InstanceID, url string) {
	const enough = 150
	c := start(t, url, "child", 1_000_000)
	promises := promised(c, enough)
	c.Kill()
	maps.Copy(promises, promised(c, 1_000_000)) // what it wrote before it died

	w := newWorld(t, databasetest.Open(t, url), open)
	w.keptWord(promises, enough)
	all := w.events()
	for i, event := range all {
		if _, began := event.Fact.(domain.Remembered); began && event.Stream != domain.KnowledgeStream("common") &&
			(i+1 == len(all) || all[i+1].CausationID != event.EventID) {
			t.Errorf("position %d: got no vote with %s", event.Position, event.Stream)
		}
	}
	before := len(all)
	if got := w.do(w.vote("common", "after")).Position; got != int64(before)+1 {
		t.Errorf("the log goes on at %d, want %d", got, before+1)
	}
}

// keptWord checks that the log contains the promised events.
func (w *world) keptWord(promises map[int64]string, atLeast int) {
	w.Helper()
	if len(promises) < atLeast {
		w.Errorf("got %d receipts, want %d", len(promises), atLeast)
	}
	all := w.events()
	for position, id := range promises {
		if position > int64(len(all)) || all[position-1].EventID != id {
			w.Errorf("%s was promised at %d and is not there", id, position)
		}
	}
}
