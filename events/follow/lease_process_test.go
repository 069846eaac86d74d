//go:build unix

package follow_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/events/logtest"
)

// What a process that follows is told by its environment.
const (
	nodeURL   = "ANNALS_TEST_NODE_URL"
	nodePause = "ANNALS_TEST_NODE_PAUSE"
	nodeLease = "ANNALS_TEST_NODE_LEASE"
)

const (
	// shortLease is what is waited for where a process is away, and no more. On a busy machine it may end
	// before it is renewed, and another process may have it then.
	shortLease = 600 * time.Millisecond
	// longLease does not end by itself while a test runs.
	longLease = 5 * time.Minute
)

// node is another process that follows the log: a projection that notes who has taken in what.
type node struct {
	*exec.Cmd
	orders io.WriteCloser // "go" ends its pause; the end of them stops it
	says   *bufio.Scanner
}

// startNode starts a process; it pauses in its first page, "preparing" or "writing", if it is to.
func startNode(t *testing.T, url, pause string, lease time.Duration) node {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProcessesShareAProjection$", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), nodeURL+"="+url, nodePause+"="+pause, nodeLease+"="+lease.String())
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
	lease, err := time.ParseDuration(os.Getenv(nodeLease))
	if err != nil {
		t.Fatal(err)
	}
	db := databasetest.Open(t, url)
	_, followers := newLog(t, db, events.Options{Lease: lease, Poll: 20 * time.Millisecond})
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
		follow.AddPreparer(router, followers, "p", func(_ context.Context, page follow.Page) (follow.Change, error) {
			at("preparing")
			return change{page: page, done: make(chan int64, 1), write: func(ctx context.Context, tx bun.IDB, page follow.Page) error {
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
			url, db, l, followers := shared(t)
			paused := startNode(t, url, pause, shortLease)
			logtest.Remember(t, l, "acme", 0, 3)
			paused.hear(t, pause)
			other := startNode(t, url, "", shortLease)
			paused.signal(t, syscall.SIGSTOP)
			taken(t, db, followers, 3, other) // the one that is paused has written nothing and does not come to it
			paused.signal(t, syscall.SIGCONT)
			order(t, paused, "go\n")
			logtest.Remember(t, l, "acme", 3, 2)
			taken(t, db, followers, 5, paused, other)

			// The one that goes on takes over from one that was killed.
			other.signal(t, syscall.SIGKILL)
			_ = other.Wait() // says so
			killed := time.Now()
			logtest.Remember(t, l, "acme", 5, 1)
			taken(t, db, followers, 6, paused)
			t.Logf("taken over %v after the kill, of a lease of %v", time.Since(killed), shortLease)
			paused.end(t)
		})
	}
	t.Run("one that is stopped lets go at once", func(t *testing.T) {
		t.Parallel()
		url, db, l, followers := shared(t)
		first := startNode(t, url, "", longLease)
		logtest.Remember(t, l, "acme", 0, 1)
		taken(t, db, followers, 1, first)
		second := startNode(t, url, "", longLease)
		first.end(t)
		logtest.Remember(t, l, "acme", 1, 1)
		taken(t, db, followers, 2, second) // which a lease that has not been let go would keep it from
	})
}

// shared is a database that several processes share, and a log that writes to it.
func shared(t *testing.T) (url string, db *database.DB, l *events.Log, followers *follow.Followers) {
	t.Helper()
	url = databasetest.Migrated(t, database.Postgres)
	db = databasetest.Open(t, url)
	damage(t, db, `CREATE TABLE effects (tenant text, position bigint, node bigint)`)
	l, followers = newLog(t, db, events.Options{})
	return url, db, l, followers
}

// end stops the process, which must end well.
func (n node) end(t *testing.T) {
	t.Helper()
	if err := n.orders.Close(); err != nil {
		t.Fatal(err)
	}
	if err := n.Wait(); err != nil {
		t.Errorf("the process did not end well: %v", err)
	}
}

// taken waits until everything is taken in, each event once, and the newest by one of these nodes.
func taken(t *testing.T, db *database.DB, followers *follow.Followers, head int64, by ...node) {
	t.Helper()
	effects{table: "effects"}.reach(t, followers, db, "p", "acme", head)
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
