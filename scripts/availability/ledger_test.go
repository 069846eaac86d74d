package availability

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	_ "github.com/lib/pq" // the driver "postgres"

	"github.com/annals-kb/annals/http/client"
)

// ledger has what servers acknowledged, how they answered, and what they must not have answered.
type ledger struct {
	mu       sync.Mutex
	written  []written
	answers  map[string]int             // by kind and status
	times    map[string][]time.Duration // of requests with all repetitions, by kind
	slowest  string                     // the attempts of the write that took longest
	last     time.Time                  // of the newest acknowledged write
	gap      time.Duration              // the longest time without any
	problems []string
}

// written is an acknowledged write.
type written struct {
	id, content, event string
	position           int64
}

func newLedger() *ledger {
	return &ledger{answers: map[string]int{}, times: map[string][]time.Duration{}}
}

// acknowledged counts the acknowledged writes.
func (l *ledger) acknowledged() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.written)
}

func (l *ledger) note(w written) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written = append(l.written, w)
	now := time.Now()
	if !l.last.IsZero() {
		l.gap = max(l.gap, now.Sub(l.last))
	}
	l.last = now
}

// reset forgets how long writes stopped and waited until now.
func (l *ledger) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last, l.gap = time.Time{}, 0
	clear(l.times)
}

func (l *ledger) problem(format string, values ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.problems = append(l.problems, fmt.Sprintf(format, values...))
}

// timed notes how long a request took with all its repetitions.
func (l *ledger) timed(of *attempts) {
	l.mu.Lock()
	defer l.mu.Unlock()
	took := time.Since(of.began)
	if of.kind == "write" && (len(l.times[of.kind]) == 0 || took > slices.Max(l.times[of.kind])) {
		l.slowest = strings.Join(of.said, ", ")
	}
	l.times[of.kind] = append(l.times[of.kind], took)
}

// latency is the median and the longest time of a kind of requests since a count of them, which it also returns.
func (l *ledger) latency(kind string, since int) (median, longest time.Duration, count int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	times := slices.Sorted(slices.Values(l.times[kind][since:]))
	if len(times) == 0 {
		return 0, 0, since
	}
	const shown = 10 * time.Millisecond
	return times[len(times)/2].Round(time.Millisecond), times[len(times)-1].Round(shown), len(l.times[kind])
}

// answered counts how attempts were answered: kind is write, read or search.
func (l *ledger) answered(kind string, status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers[fmt.Sprintf("%s %d", kind, status)]++
}

// counted is how often attempts were answered by a status, which 0 stands for if there was no answer.
func (l *ledger) counted(is func(status int) bool) (count int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, n := range l.answers {
		_, status, _ := strings.Cut(name, " ")
		if number, _ := strconv.Atoi(status); is(number) {
			count += n
		}
	}
	return count
}

// figures is a line of the answers.
func (l *ledger) figures() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(l.answers)) {
		parts = append(parts, fmt.Sprintf("%s: %d", name, l.answers[name]))
	}
	return strings.Join(parts, ", ")
}

// counting counts the answers of one kind of requests.
type counting struct {
	ledger *ledger
	next   http.RoundTripper
}

// attempts are those of one request.
type attempts struct {
	kind  string
	began time.Time
	said  []string
}

type attemptsKey struct{}

// RoundTrip implements [http.RoundTripper].
func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	of, known := r.Context().Value(attemptsKey{}).(*attempts)
	if !known {
		return c.next.RoundTrip(r)
	}
	began := time.Since(of.began)
	answer, err := c.next.RoundTrip(r)
	status := 0
	switch {
	case err == nil:
		status = answer.StatusCode
	case r.Context().Err() != nil && !errors.Is(r.Context().Err(), context.DeadlineExceeded):
		return answer, err
	}
	of.said = append(of.said, fmt.Sprintf("%d from %.1f to %.1f s", status, began.Seconds(), time.Since(of.began).Seconds()))
	c.ledger.answered(of.kind, status)
	return answer, err
}

// patience is how long a client repeats a request.
const patience = 2 * time.Minute

// client is a client of the project that repeats what servers refuse for now.
func (l *ledger) client(w *world, address, key string) *client.Client {
	w.Helper()
	c, err := client.New(client.Config{
		Server: "http://" + address, Key: key, Patience: patience, Timeout: 15 * time.Second,
		Transport: counting{l, &http.Transport{MaxIdleConnsPerHost: 4}},
	})
	if err != nil {
		w.Fatal(err)
	}
	return c
}

// worker is one client, which writes to one address and reads at another.
type worker struct {
	*ledger

	number int
	writes *client.Client
	reads  *client.Client // nil if it only writes
	pause  time.Duration  // between its rounds
}

// do makes a request, whose answers and time are those of a kind.
func (l *ledger) do(ctx context.Context, c *client.Client, kind string, r client.Request, out any) (*client.Response, error) {
	of := &attempts{kind: kind, began: time.Now()}
	answer, err := c.Do(context.WithValue(ctx, attemptsKey{}, of), r, out)
	if ctx.Err() == nil {
		l.timed(of)
	}
	return answer, err
}

// work writes, reads what it wrote and searches for it, until ctx ends.
func (w *worker) work(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		w.round(ctx, n)
		select {
		case <-time.After(w.pause):
		case <-ctx.Done():
		}
	}
}

// revises tells in which rounds a client changes what it remembered in the round before.
func revises(n int) bool { return n%4 == 3 }

func (w *worker) round(ctx context.Context, n int) {
	id := fmt.Sprintf("c%d-%d", w.number, n)
	own := word(w.number, n)
	content := "retry with jitter, says " + own
	request := client.Post(map[string]any{"id": id, "type": "strategy", "content": content, "scopes": []string{"team:load"}},
		"v1", "knowledge")
	if revises(n) {
		id = fmt.Sprintf("c%d-%d", w.number, n-1)
		request = client.Request{
			Method: http.MethodPatch, Path: []string{"v1", "knowledge", id}, Body: map[string]any{"content": content},
		}
	}
	answer, err := w.do(ctx, w.writes, "write", request, nil)
	if err != nil {
		if ctx.Err() == nil {
			w.problem("client %d: the write of %s: %v", w.number, id, err)
		}
		return
	}
	position, _ := strconv.ParseInt(answer.Header.Get("Annals-Position"), 10, 64)
	w.note(written{id: id, content: content, event: answer.Header.Get("Annals-Events"), position: position})
	if w.reads == nil {
		return
	}
	at := url.Values{"min_position": {strconv.FormatInt(position, 10)}}
	var item client.Knowledge
	_, err = w.do(ctx, w.reads, "read", client.Request{Method: http.MethodGet, Path: []string{"v1", "knowledge", id}, Query: at}, &item)
	if ctx.Err() == nil && (err != nil || item.Content != content || item.Position < position) {
		w.problem("client %d: read %s at %d: got %q of %d, %v", w.number, id, position, item.Content, item.Position, err)
	}
	search := client.Post(map[string]any{"query": own, "limit": 3}, "v1", "search")
	search.Query = at
	var found client.Found
	_, err = w.do(ctx, w.reads, "search", search, &found)
	if ctx.Err() == nil && (err != nil || len(found.Items) == 0 || found.Items[0].Knowledge.ID != id) {
		w.problem("client %d: a search at %d does not find %s first: %d hits, %v", w.number, position, id, len(found.Items), err)
	}
}

// word is a word of its own for each round of each client.
func word(client, n int) string {
	letters := []byte("zq")
	for number := client*100_000 + n + 1; number > 0; number /= 20 {
		letters = append(letters, "bcdfghjklmnpqrstvwxz"[number%20], 'a')
	}
	return string(letters)
}

// event is one of the log.
type event struct {
	position   int64
	id, stream string
	name, text string
}

// logged reads the log of the tenant from a database.
func (w *world) logged(database string) (log []event) {
	w.Helper()
	pool, err := sql.Open("postgres", database)
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	rows, err := pool.QueryContext(w.Context(), `
		SELECT e.position, e.event_id, e.stream, e.name, coalesce(t.text::text, '')
		FROM events e
		LEFT JOIN event_texts t ON t.tenant = e.tenant AND t.position = e.position
		WHERE e.tenant = 'default'
		ORDER BY e.position`)
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var e event
		if err := rows.Scan(&e.position, &e.id, &e.stream, &e.name, &e.text); err != nil {
			w.Fatal(err)
		}
		log = append(log, e)
	}
	if err := rows.Err(); err != nil {
		w.Fatal(err)
	}
	return log
}

// checked is what a comparison of a ledger with a log found.
type checked struct{ acknowledged, lost, doubled, gaps int }

// check compares the log with what was acknowledged: each event at its position, once, and no position missing.
func (l *ledger) check(w *world, log []event) (c checked) {
	w.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	at := map[int64]event{}
	for i, e := range log {
		if at[e.position] = e; e.position != int64(i+1) {
			c.gaps++
		}
	}
	says := map[string]int{} // how many events have a text of a client
	for _, e := range log {
		if _, own, found := strings.Cut(e.text, "retry with jitter, says "); found {
			own, _, _ = strings.Cut(own, `"`)
			says[own]++
		}
	}
	for _, count := range says {
		c.doubled += count - 1
	}
	for _, done := range l.written {
		c.acknowledged++
		e := at[done.position]
		if e.id != done.event || e.stream != "knowledge:"+done.id || !strings.Contains(e.text, done.content) {
			c.lost++
			if c.lost < 5 {
				w.Logf("acknowledged: %+v; in the log: %+v", done, e)
			}
		}
	}
	return c
}

// readBack reads every acknowledged item from a server, and returns how many are missing or have another text than the
// last one that was acknowledged.
func (l *ledger) readBack(w *world, address string) (missing int) {
	w.Helper()
	newest := map[string]written{}
	l.mu.Lock()
	for _, done := range l.written {
		newest[done.id] = done
	}
	l.mu.Unlock()
	c := newLedger().client(w, address, rootKey)
	there := map[string]client.Knowledge{}
	for k, err := range c.List(w.Context(), url.Values{}) {
		if err != nil {
			w.Fatal(err)
		}
		there[k.ID] = k
	}
	for id, done := range newest {
		if k := there[id]; k.Position < done.position || k.Position == done.position && k.Content != done.content {
			missing++
		}
	}
	return missing
}

// standing counts the projections that halted, and the streams that they put into quarantine, when they are done.
func (w *world) standing(address string) (halted, quarantined int) {
	w.Helper()
	c := newLedger().client(w, address, rootKey)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		projections, err := c.Projections(w.Context())
		if err != nil {
			w.Fatal(err)
		}
		halted, quarantined = 0, 0
		var behind int64
		for _, p := range projections {
			quarantined += int(p.Quarantined)
			if p.Halted && p.State != "failed" { // an earlier release that appends gives up what a later one builds
				w.Logf("%s halted: %s", p.Name, p.Error)
				halted++
			}
			if p.State == "active" {
				behind += p.LagEvents
			}
		}
		if behind == 0 {
			return halted, quarantined
		}
		if time.Now().After(deadline) {
			w.Errorf("the projections are %d events behind after a minute", behind)
			return halted, quarantined
		}
	}
}

// promise fails the test unless a figure is what was promised, and prints it in any case.
func promise[T cmp.Ordered](w *world, what string, got T, holds bool, promised string) {
	w.Helper()
	w.Logf("%-60s %v (promised: %s)", what, got, promised)
	if !holds {
		w.Errorf("%s: got %v, promised %s", what, got, promised)
	}
}

// kept holds the promises that every test of this package makes.
func (w *world) kept(l *ledger, database, address string) {
	w.Helper()
	c := l.check(w, w.logged(database))
	w.Logf("answers: %s", l.figures())
	promise(w, "acknowledged writes", c.acknowledged, c.acknowledged > 0, "some")
	promise(w, "acknowledged and not in the log", c.lost, c.lost == 0, "0")
	promise(w, "recorded twice", c.doubled, c.doubled == 0, "0")
	promise(w, "positions missing", c.gaps, c.gaps == 0, "0")
	missing := l.readBack(w, address)
	promise(w, "acknowledged and not found", missing, missing == 0, "0")
	halted, quarantined := w.standing(address)
	promise(w, "projections halted", halted, halted == 0, "0")
	promise(w, "streams in quarantine", quarantined, quarantined == 0, "0")
	promise(w, "wrong answers", len(l.problems), len(l.problems) == 0, "0")
	for _, problem := range l.problems[:min(10, len(l.problems))] {
		w.Log(problem)
	}
	if _, err := w.run(address, database, "verify"); err != nil {
		w.Errorf("the log is not verified: %v", err)
	}
}
