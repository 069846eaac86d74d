package logtest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// What a process that appends is told by its environment.
const (
	childURL   = "ANNALS_LOGTEST_URL"
	childName  = "ANNALS_LOGTEST_NAME"
	childCount = "ANNALS_LOGTEST_COUNT"
)

func isChild() bool { return os.Getenv(childURL) != "" }

// beChild remembers items and votes on a common one, several at a time, and writes every receipt to
// the file that its parent opened for it.
func beChild(t *testing.T, open Opener) {
	t.Helper()
	db := databasetest.Open(t, os.Getenv(childURL))
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, db, open)
	count, err := strconv.Atoi(os.Getenv(childCount))
	if err != nil {
		t.Fatal(err)
	}
	receipts := os.NewFile(3, "receipts")
	defer receipts.Close()

	common := w.remember("common").(domain.Remember)
	common.OrSame = true // another process may have been faster
	w.do(common)
	var next atomic.Int64
	var writing sync.WaitGroup
	for range 8 {
		writing.Go(func() {
			for i := next.Add(1); i <= int64(count); i = next.Add(1) {
				name := numbered(os.Getenv(childName), int(i))
				for _, command := range []domain.Command{w.remember(name), w.vote("common", name)} {
					receipt, err := w.log.Submit(t.Context(), w.submission(command))
					if err != nil {
						t.Error(err)
						return
					}
					fmt.Fprintln(receipts, receipt.Position, receipt.Events[0].EventID)
				}
			}
		})
	}
	writing.Wait()
}

// child is a process that appends.
type child struct {
	*exec.Cmd
	receipts *bufio.Scanner
}

// start starts a process that remembers count items on the database at url. It ends with the test.
func (w *world) start(url, name string, count int) child {
	w.Helper()
	run := "^" + strings.ReplaceAll(w.root(), "/", "$/^") + "$"
	cmd := exec.CommandContext(w.Context(), os.Args[0], "-test.run="+run, "-test.timeout=2m")
	cmd.Env = append(os.Environ(), childURL+"="+url, childName+"="+name, childCount+"="+strconv.Itoa(count))
	cmd.Stdout, cmd.Stderr = w.Output(), w.Output()
	reading, writing, err := os.Pipe()
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { reading.Close() })
	cmd.ExtraFiles = []*os.File{writing}
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	writing.Close()
	return child{Cmd: cmd, receipts: bufio.NewScanner(reading)}
}

// root is the test that called Run: its name is before those of the suite's own subtests.
func (w *world) root() string {
	parts := strings.Split(w.Name(), "/")
	return strings.Join(parts[:len(parts)-2], "/")
}

// promised reads receipts until there are enough, or no more.
func (c child) promised(w *world, enough int) map[int64]string {
	w.Helper()
	promises := map[int64]string{}
	for len(promises) < enough && c.receipts.Scan() {
		position, id, whole := strings.Cut(c.receipts.Text(), " ")
		at, err := strconv.ParseInt(position, 10, 64)
		if err != nil || !whole || len(id) < len("0195a000-0000-7000-8000-000000000000") {
			continue // cut off in the middle of the line
		}
		promises[at] = id
	}
	return promises
}

func processes(w *world) {
	if w.db.Engine == database.SQLite {
		return // a file has one process
	}
	const each = 60
	w, proxy := w.through(events.Options{})
	w.do(w.remember("common"))
	first, second := w.start(proxy.URL, "first", each), w.start(proxy.URL, "second", each)
	for i := range each {
		w.do(w.vote("common", numbered("parent", i)))
	}
	for _, c := range []child{first, second} {
		w.keptWord(c.promised(w, 2*each), 2*each)
		if err := c.Wait(); err != nil {
			w.Error(err)
		}
	}
	if got, want := len(w.events()), 1+each+2*2*each; got != want {
		w.Errorf("got %d events, want %d", got, want)
	}
	if got, want := w.do(w.vote("common", "last")).Knowledge.Helpful, 1+3*each+1; got != want {
		w.Errorf("got %d voices, want %d", got, want)
	}
}

func killed(w *world) {
	const enough = 150
	url := databasetest.SQLite(w)
	if w.db.Engine == database.Postgres {
		url = databasetest.Postgres(w)
	}
	c := w.start(url, "child", 1_000_000)
	promises := c.promised(w, enough)
	if err := c.Process.Kill(); err != nil {
		w.Fatal(err)
	}
	for position, id := range c.promised(w, 1_000_000) { // what it wrote before it died
		promises[position] = id
	}
	_ = c.Wait() // says that it was killed

	survivor := &world{T: w.T, db: databasetest.Open(w, url), open: w.open, by: w.by}
	survivor.log = survivor.newLog(w.open(w.T, survivor.db), events.Options{})
	survivor.keptWord(promises, enough)
	before := len(survivor.events())
	if got := survivor.do(w.vote("common", "after")).Position; got != int64(before)+1 {
		w.Errorf("the log goes on at %d, want %d", got, before+1)
	}
}

// keptWord checks that what was promised is in the log.
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
