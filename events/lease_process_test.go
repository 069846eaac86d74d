package events_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
)

// What a process that follows is told by its environment.
const (
	nodeURL   = "ANNALS_TEST_NODE_URL"
	nodePause = "ANNALS_TEST_NODE_PAUSE"
)

// leaseOfNodes is short, so that the test is; it is what is waited for, and no more.
const leaseOfNodes = 600 * time.Millisecond

// node is another process that follows the log: a projection that notes who has taken in what.
type node struct {
	*exec.Cmd
	orders io.WriteCloser // "go" ends its pause; the end of them stops it
	says   *bufio.Scanner
}

// startNode starts a process; it pauses in its first page, "preparing" or "writing", if it is to.
func startNode(t *testing.T, url, pause string) node {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProcessesShareAProjection$", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), nodeURL+"="+url, nodePause+"="+pause)
	cmd.Stderr = t.Output()
	orders, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n := node{Cmd: cmd, orders: orders, says: bufio.NewScanner(said)}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // if nobody has yet
	})
	n.hear(t, "running")
	return n
}

// hear waits until the process says something.
func (n node) hear(t *testing.T, word string) {
	t.Helper()
	for n.says.Scan() {
		if n.says.Text() == word {
			return
		}
	}
	t.Fatalf("the process ended before it said %q", word)
}

func (n node) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := n.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// beNode follows until there are no orders any more.
func beNode(t *testing.T, url, pause string) {
	db := databasetest.Open(t, url)
	l := newLog(t, db, events.Options{Lease: leaseOfNodes, Poll: 20 * time.Millisecond})
	resume := make(chan struct{})
	first := sync.OnceFunc(func() {
		fmt.Println(pause)
		<-resume
	})
	at := func(stage string) {
		if stage == pause {
			first()
		}
	}
	stop := run(t, func(router *message.Router) {
		events.AddPreparer(router, l, "p", func(_ context.Context, page events.Page) (events.Change, error) {
			at("preparing")
			return change{page: page, done: make(chan int64, 1), write: func(ctx context.Context, tx bun.IDB, page events.Page) error {
				at("writing")
				for _, event := range page.Events {
					_, err := tx.ExecContext(ctx, `INSERT INTO effects (tenant, position, node) VALUES (?, ?, ?)`,
						page.Tenant, event.Position, os.Getpid())
					if err != nil {
						return err
					}
				}
				return nil
			}}, nil
		})
	})
	fmt.Println("running")
	for orders := bufio.NewScanner(os.Stdin); orders.Scan(); {
		close(resume)
	}
	stop()
}

func TestProcessesShareAProjection(t *testing.T) {
	t.Parallel()
	if url := os.Getenv(nodeURL); url != "" {
		beNode(t, url, os.Getenv(nodePause))
		return
	}
	for _, pause := range []string{"preparing", "writing"} {
		t.Run("one is paused while "+pause, func(t *testing.T) {
			t.Parallel()
			url := databasetest.Postgres(t)
			db := databasetest.Open(t, url)
			if err := db.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			damage(t, db, `CREATE TABLE effects (tenant text, position bigint, node bigint)`)
			l := newLog(t, db, events.Options{})

			paused := startNode(t, url, pause)
			remember(t, l, "acme", 0, 3)
			paused.hear(t, pause)
			other := startNode(t, url, "")
			if got := leaseOf(t, l, "p"); !strings.Contains(got.Holder, fmt.Sprintf(":%d:", paused.Process.Pid)) || !got.Held() {
				t.Fatalf("got %+v, want process %d to have the lease", got, paused.Process.Pid)
			}
			paused.signal(t, syscall.SIGSTOP)
			taken(t, db, l, 3, other)
			paused.signal(t, syscall.SIGCONT)
			order(t, paused, "go\n")
			remember(t, l, "acme", 3, 2)
			taken(t, db, l, 5, paused, other) // on a busy machine a lease may end before it is renewed

			// The one that goes on takes over from one that was killed, within its lease.
			other.signal(t, syscall.SIGKILL)
			_ = other.Wait() // says so
			killed := time.Now()
			remember(t, l, "acme", 5, 1)
			taken(t, db, l, 6, paused)
			t.Logf("taken over %v after the kill, of a lease of %v", time.Since(killed), leaseOfNodes)

			// One that is stopped lets go at once.
			third := startNode(t, url, "")
			remember(t, l, "acme", 6, 1)
			taken(t, db, l, 7, paused, third)
			if err := paused.orders.Close(); err != nil {
				t.Fatal(err)
			}
			if err := paused.Wait(); err != nil {
				t.Errorf("the process did not end well: %v", err)
			}
			if got := leaseOf(t, l, "p"); got.Held() && strings.Contains(got.Holder, fmt.Sprintf(":%d:", paused.Process.Pid)) {
				t.Errorf("got %+v after its holder has ended", got)
			}
			remember(t, l, "acme", 7, 1)
			taken(t, db, l, 8, third)
		})
	}
}

// taken waits until everything is taken in, each event once, and the newest by one of these nodes.
func taken(t *testing.T, db *database.DB, l *events.Log, head int64, by ...node) {
	t.Helper()
	effects{table: "effects"}.reach(t, l, db, "p", "acme", head)
	var rows, positions, newest int64
	err := db.QueryRowContext(t.Context(), `
		SELECT count(*), count(DISTINCT position), (SELECT node FROM effects ORDER BY position DESC LIMIT 1)
		FROM effects`).Scan(&rows, &positions, &newest)
	if err != nil {
		t.Fatal(err)
	}
	isOne := slices.ContainsFunc(by, func(n node) bool { return newest == int64(n.Process.Pid) })
	if rows != head || positions != head || !isOne {
		t.Errorf("got %d effects of %d events, want %d; the newest by process %d", rows, positions, head, newest)
	}
}

func order(t *testing.T, n node, what string) {
	t.Helper()
	if _, err := io.WriteString(n.orders, what); err != nil {
		t.Fatal(err)
	}
}
