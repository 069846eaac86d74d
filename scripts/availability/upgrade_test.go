package availability

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/annals-kb/annals/database/databasetest"
)

// Three servers are replaced by those of a release with another form of the tables, one after the other, and again by
// those of the earlier release. Clients see only answers, and 503.
func TestUpgradeAndDowngradeByOneForm(t *testing.T) {
	w := newWorld(t)
	next, err := nextForm()
	if err != nil {
		t.Fatal(err)
	}
	address := databasetest.Postgres(t)
	var servers []*process
	for n := range 3 {
		servers = append(servers, w.serve(fmt.Sprintf("server%d", n+1), address))
	}
	balancer := w.balance("balancer", servers...)

	l := newLedger()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var working sync.WaitGroup
	defer working.Wait()
	defer stop()
	for n := range 24 {
		one := &worker{ledger: l, number: n, writes: l.client(w, balancer.address, rootKey), pause: 200 * time.Millisecond}
		one.reads = one.writes
		working.Go(func() { one.work(ctx) })
	}
	replace := func(program string) {
		t.Helper()
		for _, s := range servers {
			s.args[0] = program
			s.restart()
			w.say("%s runs %s after %d acknowledged writes", s.name, program, l.acknowledged())
		}
	}
	before := w.form(servers[0])
	replace(next)
	databasetest.Until(t, "the tables have the next form", func() bool { return w.form(servers[2]) != before })
	w.say("the tables have the form %s, and had %s", w.form(servers[0]), before)
	time.Sleep(5 * time.Second)
	if said, err := w.run(servers[0].address, address, "rebuild", "knowledge", "--rollback"); err != nil {
		t.Fatal(err)
	} else {
		w.say("%s", said)
	}
	replace(w.program)
	time.Sleep(5 * time.Second)
	stop()
	working.Wait()
	if got := w.form(servers[0]); got != before {
		t.Errorf("got the form %s, want %s", got, before)
	}
	wrong := l.counted(func(status int) bool { return status > 499 && status != http.StatusServiceUnavailable })
	promise(w, "answers with 5xx but 503", wrong, wrong == 0, "0")
	unanswered := l.counted(func(status int) bool { return status == 0 })
	promise(w, "requests without an answer", unanswered, unanswered == 0, "0")
	w.kept(l, address, servers[0].address)
}

// form is the form of the tables of knowledge that are active.
func (w *world) form(s *process) string {
	w.Helper()
	projections, err := newLedger().client(w, s.address, rootKey).Projections(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	for _, p := range projections {
		if p.Name == "knowledge" && p.State == "active" {
			return p.Settings["form"]
		}
	}
	return ""
}
