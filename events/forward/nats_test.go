package forward_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/uptrace/bun"
	"go.uber.org/goleak"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/events/forward"
	"github.com/annals-kb/annals/projections"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// jetstream is a NATS server in this process, which can go away and come back with what it has.
type jetstream struct {
	t       *testing.T
	options *server.Options
	server  *server.Server
}

func newJetstream(t *testing.T) *jetstream {
	j := &jetstream{t: t, options: &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
	}}
	j.start()
	t.Cleanup(func() { j.stop() })
	return j
}

func (j *jetstream) start() {
	j.t.Helper()
	s, err := server.NewServer(j.options)
	if err != nil {
		j.t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		j.t.Fatal("the NATS server does not start")
	}
	j.server = s
	j.options.Port = portOf(s)
}

func portOf(s *server.Server) int {
	var port int
	address := s.Addr().String()
	_, _ = fmt.Sscan(address[strings.LastIndex(address, ":")+1:], &port)
	return port
}

func (j *jetstream) stop() {
	j.server.Shutdown()
	j.server.WaitForShutdown()
}

func (j *jetstream) url() string { return fmt.Sprintf("nats://127.0.0.1:%d", j.options.Port) }

// stored are the messages in the stream, as soon as there are so many.
func (j *jetstream) stored(name string, wanted uint64) (ids, subjects []string, bodies []map[string]any) {
	j.t.Helper()
	conn, err := nats.Connect(j.url())
	if err != nil {
		j.t.Fatal(err)
	}
	defer conn.Close()
	js, err := conn.JetStream()
	if err != nil {
		j.t.Fatal(err)
	}
	var info *nats.StreamInfo
	databasetest.Until(j.t, fmt.Sprintf("stream %s has %d messages", name, wanted), func() bool {
		info, err = js.StreamInfo(name)
		return err == nil && info.State.Msgs >= wanted
	})
	for at := info.State.FirstSeq; at <= info.State.LastSeq; at++ {
		m, err := js.GetMsg(name, at)
		if err != nil {
			j.t.Fatal(err)
		}
		var body map[string]any
		if err := json.Unmarshal(m.Data, &body); err != nil {
			j.t.Fatal(err)
		}
		ids, subjects, bodies = append(ids, m.Header.Get(nats.MsgIdHdr)), append(subjects, m.Subject), append(bodies, body)
	}
	return ids, subjects, bodies
}

// node is a server of Annals, as far as this is concerned.
type node struct {
	t         *testing.T
	log       *events.Log
	followers *follow.Followers
	nats      *forward.NATS
	stop      func()
}

func newNode(t *testing.T, db *database.DB, options forward.NATSOptions) *node {
	t.Helper()
	base, err := projections.Open(t.Context(), db, projections.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	l, followers := follow.NewLog(db, base.Projection, events.Options{Selection: base.Browser, Logger: databasetest.Log(t), Poll: 50 * time.Millisecond})
	options.Logger = databasetest.Log(t)
	n, err := forward.OpenNATS(followers, options)
	if err != nil {
		t.Fatal(err)
	}
	router, err := follow.NewRouter(databasetest.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	n.Follow(router)
	ended := make(chan error, 1)
	go func() { ended <- router.Run(context.WithoutCancel(t.Context())) }()
	<-router.Running()
	stopped := false
	stop := func() {
		if stopped {
			return
		}
		stopped = true
		if err := router.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		if err := l.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return &node{t: t, log: l, followers: followers, nats: n, stop: stop}
}

func (n *node) remember(tenant string, from, to int) {
	n.t.Helper()
	by := domain.OpenPrincipal()
	by.Tenant = tenant
	for i := from; i < to; i++ {
		command, err := domain.Remember{By: by, ID: fmt.Sprint("k-", i), Knowledge: domain.Remembered{
			Class: domain.Class{Type: domain.Types[0]}, Text: domain.Text{Content: "what somebody wrote"},
		}}.Complete()
		if err != nil {
			n.t.Fatal(err)
		}
		if _, err := n.log.Submit(n.t.Context(), domain.Submission{Command: command, By: by}); err != nil {
			n.t.Fatal(err)
		}
	}
}

// caughtUp waits until nothing of a tenant's log is left to forward.
func (n *node) caughtUp(tenant string) {
	n.t.Helper()
	databasetest.Until(n.t, "all of "+tenant+" is forwarded", func() bool {
		s, err := n.nats.Status(n.t.Context(), tenant)
		return err == nil && s.LagEvents == 0 && s.Head > 0
	})
}

func TestEveryEventIsForwardedOnceInOrderWithoutItsText(t *testing.T) {
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		j := newJetstream(t)
		n := newNode(t, db, forward.NATSOptions{URL: j.url(), Prefix: "know.log"})
		n.remember("acme", 0, 5)
		n.remember("other", 0, 3)
		ids, subjects, bodies := j.stored("KNOW_LOG", 8)
		next := map[string]float64{"acme": 1, "other": 1}
		for i, body := range bodies {
			tenant := body["tenant"].(string)
			if body["position"] != next[tenant] || body["event_id"] != ids[i] || body["text"] != nil ||
				subjects[i] != "know.log."+tenant+".knowledge.remembered" {
				t.Errorf("message %d: %s %s %v, want position %v", i, subjects[i], ids[i], body, next[tenant])
			}
			next[tenant]++
		}
		n.caughtUp("acme")
		n.caughtUp("other")
	})
}

func TestTextsAreForwardedWhereSomebodyAsksForThem(t *testing.T) {
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		j := newJetstream(t)
		newNode(t, db, forward.NATSOptions{URL: j.url(), Texts: true}).remember("acme", 0, 1)
		_, _, bodies := j.stored("ANNALS", 1)
		if said, _ := bodies[0]["text"].(map[string]any); said["content"] != "what somebody wrote" {
			t.Errorf("%v", bodies[0])
		}
	})
}

func TestWhatWasSentBeforeACrashIsRecognised(t *testing.T) {
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		j := newJetstream(t)
		n := newNode(t, db, forward.NATSOptions{URL: j.url()})
		n.remember("acme", 0, 5)
		n.caughtUp("acme")
		n.stop()
		err := db.Transact(t.Context(),
			func(ctx context.Context, tx bun.Tx) error { // as if its checkpoint had not been written
				_, err := tx.ExecContext(ctx, "DELETE FROM checkpoints WHERE projection = 'nats:annals'")
				return err
			})
		if err != nil {
			t.Fatal(err)
		}
		n = newNode(t, db, forward.NATSOptions{URL: j.url()})
		n.remember("acme", 5, 7)
		n.caughtUp("acme")
		ids, _, _ := j.stored("ANNALS", 7)
		seen := map[string]bool{}
		for _, id := range ids {
			if seen[id] {
				t.Errorf("%s is there twice", id)
			}
			seen[id] = true
		}
		if len(ids) != 7 {
			t.Errorf("%d messages, want 7", len(ids))
		}
	})
}

func TestAServerThatIsAwayIsWaitedFor(t *testing.T) {
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		j := newJetstream(t)
		n := newNode(t, db, forward.NATSOptions{URL: j.url()})
		n.remember("acme", 0, 2)
		n.caughtUp("acme")
		j.stop()
		n.remember("acme", 2, 4)
		databasetest.Until(t, "an error is reported", func() bool {
			s, err := n.nats.Status(t.Context(), "acme")
			if err != nil {
				t.Fatal(err)
			}
			if s.Error != "" && (s.LagEvents != 2 || s.LagSeconds <= 0 || !strings.Contains(s.Error, "NATS")) {
				t.Errorf("%+v", s)
			}
			return s.Error != ""
		})
		j.start()
		n.caughtUp("acme")
		if ids, _, _ := j.stored("ANNALS", 4); len(ids) != 4 {
			t.Errorf("%d messages", len(ids))
		}
	})
}

func TestAServerIsNamedByAURL(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]bool{
		"nats://127.0.0.1:4222": true, "tls://user:secret@nats.internal": true, "nats://a:1, nats://b:2": true,
		"nonsense": false, "": false, "127.0.0.1:4222": false, "http://127.0.0.1:4222": false, "nats://": false,
		"nats://a:1,b:2": false, "nats://a:1,": false,
	} {
		if err := (forward.NATSOptions{URL: url}).Validate(); (err == nil) != want {
			t.Errorf("%q: %v", url, err)
		}
	}
}

func TestASubjectThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"a.>", "a b", ".a", "a.", "a..b", "*"} {
		if n, err := forward.OpenNATS(nil, forward.NATSOptions{URL: "nats://127.0.0.1:1", Prefix: prefix}); err == nil {
			_ = n.Close()
			t.Errorf("%q is taken", prefix)
		}
	}
}
