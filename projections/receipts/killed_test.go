package receipts_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/receipts"
)

// killedChild tells a process of this test in which database to give receipts.
const killedChild = "ANNALS_TEST_RECEIPTS_URL"

// A server that is killed has written all receipts but those of the last moment, and the next one says what is missing.
func TestAServerThatIsKilledLosesTheReceiptsOfTheLastMoment(t *testing.T) {
	t.Parallel()
	if url := os.Getenv(killedChild); url != "" {
		giveUntilKilled(t, url)
		return
	}
	for _, engine := range databasetest.Engines(t) {
		t.Run(engine.String(), func(t *testing.T) {
			t.Parallel()
			url := databasetest.Migrated(t, engine)
			child := databasetest.NewChild(t, killedChild+"="+url)
			given := map[string]time.Time{}
			var first, last time.Time
			for last.Sub(first) < 1500*time.Millisecond && child.Says.Scan() {
				id, at, _ := strings.Cut(child.Says.Text(), " ")
				micros := Must(strconv.ParseInt(at, 10, 64))(t)
				last = time.UnixMicro(micros)
				if given[id] = last; first.IsZero() {
					first = last
				}
			}
			child.Kill()
			for child.Says.Scan() { // what it said until it was killed
				id, at, _ := strings.Cut(child.Says.Text(), " ")
				given[id] = time.UnixMicro(Must(strconv.ParseInt(at, 10, 64))(t))
				last = given[id]
			}
			later := func() time.Time { return time.Now().Add(time.Hour) }
			w := NewWorld(t, databasetest.Open(t, url), projections.Settings{})
			kept := &world{World: w, Receipts: receipts.New(t.Context(), receipts.Options{
				DB: w.DB, Log: w.Log, Logger: databasetest.Log(t), Clock: later,
			})}
			ids := kept.ids(receipts.Query{Limit: 1000})
			for _, id := range ids {
				delete(given, id)
			}
			const moment = 250*time.Millisecond + time.Second // and the time of a write on a busy machine
			for id, at := range given {
				if last.Sub(at) > moment {
					t.Errorf("%s was lost, %s before the end", id, last.Sub(at))
				}
			}
			t.Logf("%d receipts were kept, %d lost", len(ids), len(given))
			want := fmt.Sprintf("[receipts after %s may be lost: the run did not end by itself]", ids[0])
			Equal(t, fmt.Sprint(Must(kept.Gaps(t.Context(), "default"))(t)), want, "gaps")
		})
	}
}

// giveUntilKilled gives a receipt each millisecond, and says so.
func giveUntilKilled(t *testing.T, url string) {
	say := databasetest.Saying(t)
	w := NewWorld(t, databasetest.Open(t, url), projections.Settings{})
	r := receipts.New(t.Context(), receipts.Options{DB: w.DB, Log: w.Log, Logger: databasetest.Log(t)})
	go r.Run(t.Context())
	for now := range time.Tick(time.Millisecond) {
		id := r.Give(domain.Given{Tenant: "default", At: now, Kind: domain.GivenUse, Status: 200, Caller: "agent:coder", Asked: "?"})
		say(fmt.Sprint(id, " ", now.UnixMicro()))
	}
}
