package availability

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

var soak = flag.Duration("soak", 0, "put a server under an even load for so long, and compare what it uses before and after")

const (
	members    = 1000
	teams      = 50
	itemsAlive = 1000
	pool       = 16 // connections of the server to PostgreSQL
	// rounds is how often the server is imported to, exported from and rebuilt, and about how often backed up.
	rounds = 2 * time.Minute
)

// soaked is a server under an even load. The number of active items stays the same; only the log grows.
type soaked struct {
	*world

	engine   database.Engine
	server   *process
	database string
	ledger   *ledger
	shared   *http.Transport
	root     *client.Client
	members  []*client.Client
	newest   atomic.Int64 // about the end of the log

	mu         sync.Mutex
	made       int
	active     []item // the oldest first, without those that are being changed
	superseded []item
	round      int // of imports
}

// item is what a member remembered.
type item struct {
	id, content string
	author      int
}

// A server that is used evenly uses as much memory, as many goroutines and handles, and as much disk for each event
// after an hour as before.
func TestSoak(t *testing.T) {
	for _, engine := range []database.Engine{database.Postgres, database.SQLite} {
		t.Run(string(engine), func(t *testing.T) {
			if *soak == 0 {
				t.Skip("takes an hour: make soak runs it")
			}
			t.Parallel()
			s := newSoaked(t, engine)
			s.settle()
			s.load(rounds + rounds/2) // two rounds of each
			before := s.measure()
			s.load(*soak)
			after := s.measure()
			s.compare(before, after)
			s.kept()
		})
	}
}

func newSoaked(t *testing.T, engine database.Engine) *soaked {
	t.Helper()
	program, err := present()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, dir: t.TempDir(), program: program, began: time.Now()}
	s := &soaked{world: w, engine: engine, ledger: newLedger(), shared: &http.Transport{MaxIdleConnsPerHost: 32}}
	s.database = databasetest.SQLite(t)
	served := s.database
	if engine == database.Postgres {
		s.database = databasetest.Postgres(t)
		served = fmt.Sprintf("%s&pool_max_conns=%d", s.database, pool)
	}
	s.server = &process{world: w, name: "server", address: w.address(), args: []string{program, "serve", "--json"}, env: []string{
		"HOME=" + w.dir, "ANNALS_DATA=" + filepath.Join(w.dir, "data"), "DATABASE_URL=" + served, "ANNALS_ROOT_KEY=" + rootKey,
		"ANNALS_BACKUP=" + filepath.Join(w.dir, "backups"), "ANNALS_BACKUP_SCHEDULE=100s", "ANNALS_BACKUP_KEEP=2",
		"ANNALS_LOG_LEVEL=warn", "GOGC=100", // without the memory that the program reserves for its collector
	}}
	s.server.env = append(s.server.env, "ANNALS_LISTEN="+s.server.address, "ANNALS_EMBEDDING_MODEL="+os.Getenv("ANNALS_EMBEDDING_MODEL"))
	s.server.start()
	s.root = s.client(rootKey)
	return s
}

func (s *soaked) client(key string) *client.Client {
	s.Helper()
	c, err := client.New(client.Config{
		Server: "http://" + s.server.address, Key: key, Patience: patience, Timeout: 15 * time.Second,
		Transport: counting{s.ledger, s.shared},
	})
	if err != nil {
		s.Fatal(err)
	}
	return c
}

// settle makes the members, and what they remember.
func (s *soaked) settle() {
	s.Helper()
	for n := range members {
		var issued api.IssuedKey
		request := client.Post(api.NewKey{Subject: fmt.Sprint("user:u", n), Memberships: []string{team(n)}}, "v1", "keys")
		if _, err := s.ledger.do(s.Context(), s.root, "key", request, &issued); err != nil {
			s.Fatal(err)
		}
		s.members = append(s.members, s.client(issued.Key))
	}
	s.say("%d members have keys", members)
	var working sync.WaitGroup
	for range 8 {
		working.Go(func() {
			for range itemsAlive / 8 {
				s.remember()
			}
		})
	}
	working.Wait()
	s.say("%d items are remembered", len(s.active))
}

func team(member int) string { return fmt.Sprint("team:t", member%teams) }

// load is an even load for a while. It ends when all requests are answered.
func (s *soaked) load(length time.Duration) {
	s.Helper()
	s.say("the load begins, for %s", length)
	ctx, stop := context.WithTimeout(s.Context(), length)
	defer stop()
	var working sync.WaitGroup
	for _, kind := range []struct {
		perSecond int
		do        func(n int)
	}{{20, s.read}, {5, s.write}} {
		working.Go(func() { s.evenly(ctx, kind.perSecond, kind.do) })
	}
	for range 20 {
		working.Go(func() { s.follow(ctx) })
	}
	for range 4 {
		working.Go(func() { s.visit(ctx) })
	}
	working.Go(func() { s.operate(ctx) })
	working.Wait()
	s.say("the load ends after %d acknowledged writes; answers: %s", s.ledger.acknowledged(), s.ledger.figures())
}

// evenly does something so often, and waits for all of it.
func (s *soaked) evenly(ctx context.Context, perSecond int, do func(n int)) {
	var working sync.WaitGroup
	defer working.Wait()
	const most = 16 // at once
	places := make(chan struct{}, most)
	tick := time.NewTicker(time.Second / time.Duration(perSecond))
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		places <- struct{}{}
		working.Go(func() {
			do(n)
			<-places
		})
	}
}

// operate imports, exports and rebuilds, at least once.
func (s *soaked) operate(ctx context.Context) {
	for {
		began := time.Now()
		s.round++
		var lines strings.Builder
		for n := range 100 { // the same items again, with other texts
			fmt.Fprintf(&lines, `{"id":"imported-%d","type":"tool","content":"%s","scopes":["%s"]}`+"\n", n, s.text(n), team(n))
		}
		file := filepath.Join(s.dir, "import.ndjson")
		if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
			s.Error(err)
		}
		for _, args := range [][]string{
			{"import", file, "--update"},
			{"export", "knowledge", "--output", filepath.Join(s.dir, fmt.Sprint("knowledge", s.round))},
			{"export", "log", "--output", filepath.Join(s.dir, fmt.Sprint("log", s.round))},
			{"rebuild", "knowledge"},
		} {
			if _, err := s.run(s.server.address, "", args...); err != nil {
				s.Errorf("round %d: %v", s.round, err)
			}
		}
		s.say("round %d took %.1f s", s.round, time.Since(began).Seconds())
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(began.Add(rounds))):
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// text is some words, which no other text has.
func (s *soaked) text(n int) string {
	words := []string{"says", word(n, rand.IntN(50_000))}
	for range 8 {
		words = append(words, word(0, rand.IntN(2000)))
	}
	return strings.Join(words, " ")
}

// next is an item that nobody has remembered yet.
func (s *soaked) next() item {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	author := s.made % members
	return item{id: fmt.Sprint("item", s.made), author: author, content: s.content(s.made)}
}

func (s *soaked) content(n int) string {
	return "retry with jitter, says " + word(1, n) + " " + s.text(n)
}

// take takes the oldest of some items, which nothing else changes then.
func (s *soaked) take(from *[]item) (oldest item, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(*from) == 0 {
		return item{}, false
	}
	oldest, *from = (*from)[0], (*from)[1:]
	return oldest, true
}

func (s *soaked) put(to *[]item, one item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*to = append(*to, one)
}

// any is one of the active items.
func (s *soaked) any() item {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.active[len(s.active)/2+rand.IntN(len(s.active)/2)] // the younger ones are not forgotten meanwhile
}

// change writes, and tells whether that is acknowledged.
func (s *soaked) change(c *client.Client, of item, content string, request client.Request) bool {
	answer, err := s.ledger.do(s.Context(), c, "write", request, nil)
	if err != nil {
		s.ledger.problem("%s of %s: %v", request.Method, of.id, err)
		return false
	}
	position, _ := strconv.ParseInt(answer.Header.Get("Annals-Position"), 10, 64)
	s.newest.Store(position)
	s.ledger.note(written{id: of.id, content: content, event: answer.Header.Get("Annals-Events"), position: position})
	return true
}

func (s *soaked) remember() {
	one := s.next()
	if s.change(s.members[one.author], one, one.content, client.Post(map[string]any{
		"id": one.id, "type": "strategy", "content": one.content, "scopes": []string{team(one.author)},
	}, "v1", "knowledge")) {
		s.put(&s.active, one)
	}
}

// write adds two items in six writes, and takes two away.
func (s *soaked) write(n int) {
	from := &s.active
	switch n % 6 {
	case 0, 1:
		s.remember()
		return
	case 5:
		from = &s.superseded
	}
	one, found := s.take(from)
	if !found {
		return
	}
	author := s.members[one.author]
	switch n % 6 {
	case 2:
		s.mu.Lock()
		s.made++
		one.content = s.content(s.made)
		s.mu.Unlock()
		revision := client.Request{
			Method: http.MethodPatch, Path: []string{"v1", "knowledge", one.id}, Body: map[string]any{"content": one.content},
		}
		if s.change(author, one, one.content, revision) {
			s.put(&s.active, one)
		}
	case 4:
		by := s.any()
		if s.change(s.root, one, "", client.Post(map[string]any{"by": by.id}, "v1", "knowledge", one.id, "supersede")) {
			s.put(&s.superseded, one)
		}
	default:
		s.change(author, one, "", client.Request{Method: http.MethodDelete, Path: []string{"v1", "knowledge", one.id}})
	}
}

// read asks in one of five ways.
func (s *soaked) read(n int) {
	one := s.any()
	request := []client.Request{
		client.Post(map[string]any{"query": one.content, "limit": 5}, "v1", "search"),
		client.Get("v1", "knowledge", one.id),
		{Method: http.MethodGet, Path: []string{"v1", "knowledge"}, Query: url.Values{"scope": {team(one.author)}}},
		client.Post(map[string]any{"stage": "query", "query": one.content}, "v1", "context"),
		client.Get("v1", "knowledge", one.id, "history"),
	}[n%5]
	if _, err := s.ledger.do(s.Context(), s.members[one.author], "read", request, nil); err != nil {
		s.ledger.problem("%s %v: %v", request.Method, request.Path, err)
	}
}

// follow opens streams of events and leaves them. It reads nothing of some of them.
func (s *soaked) follow(ctx context.Context) {
	const recent = 500 // events, so that a stream costs as much at the end as at the start
	for ctx.Err() == nil {
		watching, leave := context.WithTimeout(ctx, time.Duration(rand.IntN(10_000))*time.Millisecond)
		body, err := s.members[rand.IntN(members)].Open(watching, client.Request{
			Method: http.MethodGet, Path: []string{"v1", "events"}, Header: http.Header{"Accept": {"text/event-stream"}},
			Query: url.Values{"after": {strconv.FormatInt(max(0, s.newest.Load()-recent), 10)}},
		})
		switch {
		case err == nil:
			if rand.IntN(3) > 0 {
				_, _ = io.Copy(io.Discard, body) // until it leaves
			}
			<-watching.Done()
			_ = body.Close()
		case watching.Err() == nil:
			s.ledger.problem("a stream: %v", err)
		}
		leave()
	}
}

// visit opens sessions at /mcp, and leaves in the middle of a request.
func (s *soaked) visit(ctx context.Context) {
	for ctx.Err() == nil {
		one := s.any()
		c := s.members[one.author]
		said := func(ctx context.Context, id int, method string, params map[string]any) error {
			request := client.Post(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}, "mcp")
			var answer struct{ Error json.RawMessage }
			_, err := s.ledger.do(ctx, c, "mcp", request, &answer)
			if err == nil && answer.Error != nil {
				err = fmt.Errorf("%s", answer.Error)
			}
			return err
		}
		search := map[string]any{"name": "retrieve_memory", "arguments": map[string]any{"query": one.content}}
		err := errors.Join(
			said(s.Context(), 1, "initialize", map[string]any{
				"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "soak", "version": "1"},
			}),
			said(s.Context(), 2, "tools/list", nil),
			said(s.Context(), 3, "tools/call", search),
		)
		if err != nil {
			s.ledger.problem("a session at /mcp: %v", err)
		}
		hasty, leave := context.WithTimeout(s.Context(), time.Duration(rand.IntN(10))*time.Millisecond)
		_ = said(hasty, 4, "tools/call", search) // whatever comes
		leave()
		select {
		case <-ctx.Done():
		case <-time.After(2 * time.Second):
		}
	}
}

// caughtUp waits until the projections have read the log.
func (s *soaked) caughtUp() {
	s.Helper()
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Second) {
		projections, err := s.root.Projections(s.Context())
		if err != nil {
			s.Fatal(err)
		}
		if !slices.ContainsFunc(projections, func(p client.Projection) bool { return p.State == "active" && p.LagEvents > 0 }) {
			return
		}
	}
	s.Fatal("the projections are behind after ten minutes")
}

// kept holds that nothing is lost, and that the log is whole.
func (s *soaked) kept() {
	s.Helper()
	wrong := s.ledger.counted(func(status int) bool { return status > 499 && status != http.StatusServiceUnavailable })
	promise(s.world, "answers with 5xx but 503", wrong, wrong == 0, "0")
	c := s.ledger.check(s.world, s.logged())
	promise(s.world, "acknowledged writes", c.acknowledged, c.acknowledged > 0, "some")
	promise(s.world, "acknowledged and not in the log", c.lost, c.lost == 0, "0")
	promise(s.world, "recorded twice", c.doubled, c.doubled == 0, "0")
	promise(s.world, "positions missing", c.gaps, c.gaps == 0, "0")
	there := map[string]string{}
	for k, err := range s.root.List(s.Context(), url.Values{}) {
		if err != nil {
			s.Fatal(err)
		}
		if strings.HasPrefix(k.ID, "item") {
			there[k.ID] = k.Content
		}
	}
	missing := 0
	for _, one := range s.active {
		if there[one.id] != one.content {
			missing++
		}
		delete(there, one.id)
	}
	promise(s.world, "active and not found", missing, missing == 0, "0")
	promise(s.world, "forgotten or superseded, and found", len(there), len(there) == 0, "0")
	halted, quarantined := s.standing(s.server.address)
	promise(s.world, "projections halted", halted, halted == 0, "0")
	promise(s.world, "streams in quarantine", quarantined, quarantined == 0, "0")
	promise(s.world, "wrong answers", len(s.ledger.problems), len(s.ledger.problems) == 0, "0")
	for _, problem := range s.ledger.problems[:min(10, len(s.ledger.problems))] {
		s.Log(problem)
	}
	backups, _ := filepath.Glob(filepath.Join(s.dir, "backups", "*.backup"))
	promise(s.world, "backups kept", len(backups), len(backups) > 0, "some")
	if _, err := s.run(s.server.address, s.database, "verify"); err != nil {
		s.Errorf("the log is not verified: %v", err)
	}
}

// lines are all events of the log.
func (s *soaked) lines() io.ReadCloser {
	s.Helper()
	body, err := s.root.Open(s.Context(), client.Request{
		Method: http.MethodGet, Path: []string{"v1", "events"}, Header: http.Header{"Accept": {"application/x-ndjson"}},
	})
	if err != nil {
		s.Fatal(err)
	}
	return body
}

// logged reads the log of the tenant from the server.
func (s *soaked) logged() (log []event) {
	s.Helper()
	body := s.lines()
	defer func() { _ = body.Close() }()
	lines := json.NewDecoder(body)
	for {
		var e api.Event
		if err := lines.Decode(&e); errors.Is(err, io.EOF) {
			return log
		} else if err != nil {
			s.Fatal(err)
		}
		log = append(log, event{position: e.Position, id: e.EventID, stream: e.Stream, name: e.Name, text: string(e.Text)})
	}
}
