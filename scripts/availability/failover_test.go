package availability

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/client"
)

// A primary is killed under load, and its standby promoted. The servers go on. The old primary returns beside the new
// one, and a client that kept a checkpoint refuses it.
func TestFailover(t *testing.T) {
	for _, mode := range []struct {
		name, standbys, commit string
		lossless               bool
	}{
		{"asynchronous", "", "on", false},
		{"synchronous", "*", "on", true},
		{"remote_apply", "*", "remote_apply", true},
	} {
		t.Run(mode.name, func(t *testing.T) {
			w := newWorld(t)
			pair := databasetest.NewPair(t)
			pair.Set("synchronous_standby_names", mode.standbys)
			pair.Set("synchronous_commit", mode.commit)
			first, second := w.serve("first", pair.URL), w.serve("second", pair.URL)

			l := newLedger()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var working sync.WaitGroup
			defer working.Wait()
			defer stop()
			for n := range 40 {
				at := []*process{first, second}[n%2]
				one := &worker{ledger: l, number: n, writes: l.client(w, at.address, rootKey), pause: 50 * time.Millisecond}
				one.reads = one.writes
				working.Go(func() { one.work(ctx) })
			}
			reach := func(more int) {
				t.Helper()
				wanted := l.acknowledged() + more
				databasetest.Until(t, fmt.Sprint(wanted, " writes are acknowledged"), func() bool { return l.acknowledged() >= wanted })
			}
			reach(1000)
			before := w.keep(first, "before.txt")
			l.reset()
			w.say("the primary is killed after %d acknowledged writes", l.acknowledged())
			pair.KillPrimary()
			pair.Promote()
			w.say("the standby is promoted")
			reach(200)
			after := w.keep(second, "after.txt")
			reach(1000)
			stop()
			working.Wait()

			t.Logf("%-60s %.2f s (promised: less than 5 s)", "writes stopped for", l.gap.Seconds())
			if mode.lossless {
				if l.gap >= 5*time.Second {
					t.Errorf("writes stopped for %s", l.gap)
				}
				w.kept(l, pair.Second, first.address)
				if _, err := w.run(first.address, pair.Second, "proof", "consistency", before); err != nil {
					t.Errorf("the checkpoint from before: %v", err)
				}
			} else {
				w.asynchronous(l, pair.Second, first, before)
			}

			pair.Return()
			loser := w.serve("loser", pair.First)
			w.refuses(loser, after, len(w.logged(pair.Second)))
		})
	}
}

// keep stores the newest checkpoint of a server as a client does, and returns the name of the file.
func (w *world) keep(s *process, name string) string {
	w.Helper()
	note, err := w.run(s.address, "", "proof", "checkpoint")
	if err != nil {
		w.Fatal(err)
	}
	file := filepath.Join(w.dir, name)
	if err := os.WriteFile(file, []byte(note), 0o600); err != nil {
		w.Fatal(err)
	}
	return file
}

// asynchronous prints what an asynchronous standby lacked, and holds what is true nevertheless.
func (w *world) asynchronous(l *ledger, database string, s *process, before string) {
	w.Helper()
	log := w.logged(database)
	c := l.check(w, log)
	w.Logf("answers: %s", l.figures())
	w.Logf("%-60s %d of %d (promised: nothing)", "acknowledged and not in the log", c.lost, c.acknowledged)
	promise(w, "positions missing", c.gaps, c.gaps == 0, "0")
	promise(w, "recorded twice", c.doubled, c.doubled == 0, "0")
	halted, quarantined := w.standing(s.address)
	promise(w, "projections halted", halted, halted == 0, "0")
	promise(w, "streams in quarantine", quarantined, quarantined == 0, "0")
	said, err := w.run(s.address, database, "proof", "consistency", before)
	w.Logf("a client with a checkpoint from before the kill is told: %s (%v)", said, err)
}

// refuses holds that a client with a checkpoint of the winner does not trust the loser, even if that has a longer log.
func (w *world) refuses(loser *process, checkpoint string, winner int) {
	w.Helper()
	c := newLedger().client(w, loser.address, rootKey)
	var lines strings.Builder
	for n := range winner {
		fmt.Fprintf(&lines, "{\"id\":\"loser-%d\",\"type\":\"tool\",\"content\":\"a fact %d of the loser\"}\n", n, n)
	}
	request := client.Post([]byte(lines.String()), "v1", "knowledge")
	request.Header = map[string][]string{"Content-Type": {"application/x-ndjson"}}
	if _, err := c.Within(time.Minute).Do(w.Context(), request, nil); err != nil {
		w.Fatal(err)
	}
	said, err := w.run(loser.address, "", "proof", "consistency", checkpoint)
	if err == nil {
		w.Errorf("a client that kept a checkpoint trusts the loser: %s", said)
		return
	}
	w.Logf("a client that kept a checkpoint refuses the loser: %v", err)
}
