package projections_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
)

// eraseChild tells a process of this test in which database to carry out what was ordered.
const eraseChild = "ANNALS_TEST_ERASE_URL"

// Two processes carry out one order, and one of them is killed in the middle: everything is erased, once, and what was
// refused is named, whoever erased what. Orders need no lease for that: what each of them does is decided and
// recorded thing by thing.
func TestAnOrderOfTwoProcessesOutlivesOneOfThem(t *testing.T) {
	t.Parallel()
	if url := os.Getenv(eraseChild); url != "" {
		eraseAsChild(t, url)
		return
	}
	const many = 400
	url := databasetest.Postgres(t)
	db := databasetest.Open(t, url)
	noError(t, database.Migrate(t.Context(), db))
	w := newWorld(t, db, projections.Settings{})
	root := w.know("root", domain.Remembered{
		Type: domain.Strategy, Owner: "user:123", Scopes: []domain.Scope{"public"}, Text: domain.Text{Content: canary},
	})
	var commands []domain.Command
	for i := range many {
		commands = append(commands, w.knowing(fmt.Sprint("made-", i), domain.Remembered{
			Type: domain.Strategy, Owner: "team:pay", Scopes: []domain.Scope{"team:pay"},
			Text: domain.Text{Content: fmt.Sprint(canary, " ", i)}, DerivedFrom: []string{root.Events[0].EventID},
		}))
	}
	w.submitAll(commands...)
	w.submit(domain.Hold{Target: domain.Target{By: w.by, ID: "made-7"}, ReasonCode: "litigation"})
	order := must(domain.OrderErasure{By: w.by, ID: "order", Of: "root", WithLineage: true}.Complete())(t)
	w.submit(order)

	child := databasetest.NewChild(t, eraseChild+"="+url)
	if !child.Says.Scan() { // that it has erased something: the root, to which all else is related
		t.Fatal("the other process ended")
	}
	carried := make(chan error, 1)
	go func() { carried <- w.eraser().CarryOut(t.Context()) }()
	child.Kill()
	noError(t, <-carried)
	state, err := w.eraser().Erasure(t.Context(), w.by.Tenant, "order")
	if err != nil || state.UnderWay() || state.Erased != many || state.NotErased != 1 ||
		state.Refused[0].Stream != "knowledge:made-7" {
		t.Errorf("%+v, %v", state, err)
	}
	for query, want := range map[string]int{
		"SELECT count(*) FROM events WHERE name = 'knowledge.erased'":                                         many,
		"SELECT count(DISTINCT stream) FROM events WHERE name = 'knowledge.erased'":                           many,
		"SELECT count(*) FROM events WHERE name = 'erasure.completed'":                                        1,
		"SELECT count(*) FROM event_texts AS t JOIN events USING (tenant, position) WHERE t.text IS NOT NULL": 1,
	} {
		var got int
		if err := db.NewRaw(query).Scan(t.Context(), &got); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", query, got, err, want)
		}
	}
}

// eraseAsChild carries out what was ordered, and says when it has erased something.
func eraseAsChild(t *testing.T, url string) {
	t.Helper()
	say := databasetest.Saying(t)
	w := newWorld(t, databasetest.Open(t, url), projections.Settings{})
	go func() { // until the process is killed
		for t.Context().Err() == nil {
			if state, err := w.eraser().Erasure(context.WithoutCancel(t.Context()), w.by.Tenant, "order"); err == nil &&
				state.Erased > 0 {
				say("erased something")
				return
			}
		}
	}()
	if err := w.eraser().CarryOut(t.Context()); err != nil {
		t.Error(err)
	}
	<-t.Context().Done() // it waits to be killed
}
