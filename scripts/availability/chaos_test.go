package availability

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

var only = flag.String("only", "", "in the cluster under chaos, only do what contains these words")

const (
	// maxLag is how far a standby may be behind while its server is ready.
	maxLag = 5 * time.Second
	// noticed is how long it takes until the balancer sends nothing to a server that is not ready.
	noticed = 4 * time.Second
)

// cluster has two servers that write, and two that read standbys, each two behind HAProxy.
type cluster struct {
	*world

	pair             *databasetest.Pair
	writers, readers []*process
	reads            map[*process]*databasetest.PairServer
	write, read      *process // the balancers
}

func newCluster(w *world) *cluster {
	w.Helper()
	c := &cluster{world: w, pair: databasetest.NewPair(w.T), reads: map[*process]*databasetest.PairServer{}}
	for name, value := range map[string]string{
		"synchronous_standby_names": "ANY 1 (*)", "hot_standby_feedback": "on", "wal_retrieve_retry_interval": "500ms",
	} {
		for _, s := range c.pair.Servers {
			s.Set(name, value)
		}
	}
	c.pair.AddStandby()
	c.writers = []*process{w.serve("writer1", c.pair.URL), w.serve("writer2", c.pair.URL)}
	c.write = w.balance("writers", c.writers...)
	for i, s := range c.pair.Servers[1:] {
		databasetest.Until(w, "the standby has the tables", func() bool {
			return c.pair.Ask(s.URL, "SELECT count(to_regclass('past_1_counts'))") == "1"
		})
		reader := w.serve(fmt.Sprintf("reader%d", i+1), s.URL, "ANNALS_PRIMARY_URL=http://"+c.write.address,
			fmt.Sprint("ANNALS_MAX_LAG=", maxLag))
		c.readers, c.reads[reader] = append(c.readers, reader), s
	}
	c.read = w.balance("readers", c.readers...)
	return c
}

// servers are those that write, and then those that read.
func (c *cluster) servers() []*process { return slices.Concat(c.writers, c.readers) }

// settle waits until all servers are ready.
func (c *cluster) settle() {
	c.Helper()
	for _, s := range c.servers() {
		s.waitReady()
	}
}

// step is something that happens to the cluster.
type step struct {
	what string
	do   func()
}

// steps are what happens, in turn.
func (c *cluster) steps(next string, revoke func()) []step {
	kill := func(s *process) func() {
		return func() {
			s.kill()
			time.Sleep(3 * time.Second)
			s.start()
		}
	}
	freeze := func(s *process) func() { return func() { s.freeze(8 * time.Second) } }
	return []step{
		{"a writing server is killed", kill(c.writers[0])},
		{"a reading server is frozen", freeze(c.readers[0])},
		{"a standby is killed", func() {
			s := c.reads[c.readers[1]]
			s.Kill()
			time.Sleep(5 * time.Second)
			s.Start()
		}},
		{"a writing server is frozen", freeze(c.writers[1])},
		{"a key is revoked while a standby is behind", revoke},
		{"the knowledge is rebuilt", func() {
			if _, err := c.run(c.write.address, "", "rebuild", "knowledge"); err != nil {
				c.Errorf("the rebuild: %v", err)
			}
		}},
		{"a reading server is killed", kill(c.readers[1])},
		{"all servers are replaced by those of the next release", func() { c.upgrade(next) }},
		{"a standby is frozen", func() {
			s := c.reads[c.readers[0]]
			if err := s.Pause(); err != nil {
				c.Error(err)
			}
			time.Sleep(8 * time.Second)
			if err := s.Continue(); err != nil {
				c.Error(err)
			}
		}},
		{"the primary is killed during a rebuild, and a standby promoted", func() {
			ended := make(chan error, 1)
			go func() {
				_, err := c.run(c.write.address, "", "rebuild", "knowledge")
				ended <- err
			}()
			time.Sleep(3 * time.Second)
			c.promote()
			if err := <-ended; err != nil {
				c.Errorf("the rebuild: %v", err)
			}
		}},
		{"a writing server is restarted", func() { c.writers[0].restart() }},
	}
}

// upgrade replaces the servers. The first of each kind end before the migration, and so start right after it.
func (c *cluster) upgrade(next string) {
	c.Helper()
	c.program = next
	for _, s := range c.servers() {
		s.args[0] = next
	}
	c.readers[0].end()
	c.writers[0].restart()
	c.readers[0].start()
	c.writers[1].restart()
	c.readers[1].restart()
}

// promote kills the primary, promotes a standby, and makes the former primary a standby for the server that reads the
// promoted one.
func (c *cluster) promote() {
	c.Helper()
	c.pair.KillPrimary()
	c.pair.Promote()
	for reader, s := range c.reads {
		if s == c.pair.Primary {
			c.reads[reader] = c.pair.Rejoin()
			reader.use(c.reads[reader].URL)
			reader.restart()
		}
	}
}

// A cluster answers while its servers are killed, frozen, restarted and replaced, a standby is promoted, the knowledge
// is rebuilt, and a key is revoked.
func TestAClusterUnderChaos(t *testing.T) {
	w := newWorld(t)
	next, err := nextSchema()
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster(w)
	c.searches(t.Context())

	l := newLedger()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var working sync.WaitGroup
	defer working.Wait()
	defer stop()
	var keys []string
	for n := range 20 {
		keys = append(keys, c.key(fmt.Sprint("user:u", n)).Key)
	}
	for n := range 200 {
		key := keys[n%len(keys)]
		one := &worker{
			ledger: l, number: n, writes: l.client(w, []*process{c.write, c.read}[n%2].address, key),
			reads: l.client(w, c.read.address, key), pause: 2 * time.Second,
		}
		working.Go(func() { one.work(ctx) })
	}
	visitors := c.visit(ctx, &working)
	databasetest.Until(t, "all clients have written", func() bool { return l.acknowledged() > 200 })
	l.reset()

	kinds := []string{"write", "read", "search"}
	counts := map[string]int{}
	steps := slices.DeleteFunc(c.steps(next, visitors.revoke), func(s step) bool { return !strings.Contains(s.what, *only) })
	for _, step := range steps {
		began := time.Now()
		w.say("%s", step.what)
		step.do()
		c.settle()
		took := time.Since(began)
		time.Sleep(time.Until(began.Add(*chaos / time.Duration(len(steps)))))
		said := fmt.Sprintf("  all were ready after %.1f s", took.Seconds())
		for _, kind := range kinds {
			median, longest, count := l.latency(kind, counts[kind])
			said += fmt.Sprintf("; %d × %s, median %s, longest %s", count-counts[kind], kind, median, longest)
			counts[kind] = count
		}
		w.say("%s", said)
		w.say("  the attempts of the slowest write until now: %s", l.slowest)
	}
	stop()
	working.Wait()

	w.kept(l, c.pair.Primary.URL, c.write.address)
	_, slowest, _ := l.latency("write", 0)
	promise(w, "the longest wait of a write", slowest, slowest < 10*time.Second, "less than 10s")
	late := visitors.last
	promise(w, "the last answer to a revoked key, after the revocation", late, late < maxLag+noticed,
		fmt.Sprint("less than ", maxLag+noticed))
}

// key makes a key for a member of the team.
func (c *cluster) key(subject string) (issued api.IssuedKey) {
	c.Helper()
	request := client.Post(api.NewKey{Subject: subject, Memberships: []string{"team:load"}}, "v1", "keys")
	if _, err := newLedger().client(c.world, c.write.address, rootKey).Do(c.Context(), request, &issued); err != nil {
		c.Fatal(err)
	}
	for _, s := range c.readers {
		databasetest.Until(c, s.name+" knows the key", func() bool {
			_, err := newLedger().client(c.world, s.address, issued.Key).Whoami(c.Context())
			return err == nil
		})
	}
	return issued
}

// visitors read with a key that is revoked.
type visitors struct {
	cluster *cluster
	key     api.IssuedKey

	mu      sync.Mutex
	revoked time.Time
	last    time.Duration // between the revocation and the last answer
	answers int           // after it
}

// visit lets visitors read until ctx ends.
func (c *cluster) visit(ctx context.Context, working *sync.WaitGroup) *visitors {
	c.Helper()
	v := &visitors{cluster: c, key: c.key("user:visitor")}
	for range 8 {
		working.Go(func() {
			for ctx.Err() == nil {
				v.read(ctx)
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
	return v
}

func (v *visitors) read(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet,
		"http://"+v.cluster.read.address+"/v1/knowledge?limit=1", nil)
	if err != nil {
		v.cluster.Error(err)
		return
	}
	request.Header.Set("Authorization", "Bearer "+v.key.Key)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return // counted for other clients
	}
	_ = answer.Body.Close()
	v.mu.Lock()
	defer v.mu.Unlock()
	if answer.StatusCode == http.StatusOK && !v.revoked.IsZero() {
		v.last = max(v.last, time.Since(v.revoked))
		v.answers++
	}
}

// revoke revokes the key while one standby does not replay.
func (v *visitors) revoke() {
	c := v.cluster
	c.Helper()
	behind := c.reads[c.readers[0]].URL
	c.pair.Ask(behind, "SELECT coalesce(pg_wal_replay_pause()::text, '')")
	time.Sleep(time.Second)
	request := client.Request{Method: http.MethodDelete, Path: []string{"v1", "keys", v.key.Prefix}}
	if _, err := newLedger().client(c.world, c.write.address, rootKey).Do(c.Context(), request, nil); err != nil {
		c.Fatal(err)
	}
	v.mu.Lock()
	v.revoked = time.Now()
	v.mu.Unlock()
	time.Sleep(maxLag + 2*noticed)
	c.pair.Ask(behind, "SELECT coalesce(pg_wal_replay_resume()::text, '')")
	v.mu.Lock()
	defer v.mu.Unlock()
	c.say("  the revoked key got %d answers, the last one after %.1f s", v.answers, v.last.Seconds())
}

// searches compares how many searches one and two reading servers answer.
func (c *cluster) searches(ctx context.Context) {
	c.Helper()
	const items, rounds, clients, length = 3000, 6, 8, 4 * time.Second
	root := newLedger().client(c.world, c.write.address, rootKey)
	var lines []byte
	for n := range items {
		lines = fmt.Appendf(lines, "{\"id\":\"fact-%d\",\"type\":\"tool\",\"scopes\":[\"public\"],\"content\":\"the fact %s is about %s and %s\"}\n",
			n, word(900, n), word(901, n%50), word(902, n%7))
	}
	request := client.Post(lines, "v1", "knowledge")
	request.Header = http.Header{"Content-Type": {"application/x-ndjson"}}
	if _, err := root.Within(time.Minute).Do(ctx, request, nil); err != nil {
		c.Fatal(err)
	}
	c.standing(c.write.address)
	alone := c.balance("alone", c.readers[0], c.readers[0])
	defer alone.kill()
	measure := func(address string) float64 {
		var mu sync.Mutex
		var searching sync.WaitGroup
		count, began := 0, time.Now()
		for n := range clients {
			searching.Go(func() {
				one := newLedger().client(c.world, address, rootKey)
				for i := 0; time.Since(began) < length; i++ {
					query := client.Search{Query: word(901, (n+i)%50) + " " + word(902, i%7)}
					if _, err := one.Search(ctx, query); err != nil {
						c.Error(err)
						return
					}
					mu.Lock()
					count++
					mu.Unlock()
				}
			})
		}
		searching.Wait()
		return float64(count) / time.Since(began).Seconds()
	}
	measure(alone.address)
	measure(c.read.address)
	var one, two, ratios []float64
	for range rounds {
		one, two = append(one, measure(alone.address)), append(two, measure(c.read.address))
		ratios = append(ratios, two[len(two)-1]/one[len(one)-1])
	}
	median := func(of []float64) float64 { slices.Sort(of); return of[len(of)/2] }
	ratio := median(ratios)
	c.Logf("%-60s %.0f/s, %.0f/s", "searches with one and with two reading servers", median(one), median(two))
	promise(c.world, "two servers compared with one", fmt.Sprintf("%.2f", ratio), ratio >= 0.9, "not below one, give or take a tenth")
}
