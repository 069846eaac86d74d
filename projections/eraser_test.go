package projections_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/erasure"
)

func (w *world) eraser() *erasure.Eraser {
	return projections.NewEraser(w.base, w.log, databasetest.Log(w.t))
}

// order orders to erase all that is somebody's.
func (w *world) order(id, of string) {
	w.t.Helper()
	command := must(domain.OrderErasure{By: w.by, ID: id, Of: of}.Complete())(w.t)
	w.submit(command)
}

func (w *world) owned(id string, owner domain.Entity, scopes ...domain.Scope) {
	w.t.Helper()
	w.know(id, domain.Remembered{
		Class: domain.Class{Type: domain.Strategy}, Owner: owner, Scopes: scopes, Text: domain.Text{Content: "the " + canary + " of " + id},
	})
}

// key gives somebody a key with a note.
func (w *world) key(prefix string, subject domain.Entity, role domain.Role) {
	w.t.Helper()
	key := domain.KeyCreated{Hash: "5e", Subject: subject, Role: role, Note: canary}
	w.submit(domain.CreateKey{By: w.by, Prefix: prefix, Key: key})
}

func TestAnErasureThatWasInterruptedGoesOn(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const many = 120
		for i := range many {
			w.owned(fmt.Sprint("his-", i), "user:123", "public")
		}
		w.owned("for-him", "team:pay", "user:123")
		w.owned("held", "user:123", "public")
		w.submit(domain.Hold{Target: domain.Target{By: w.by, ID: "held"}, ReasonCode: "litigation"})
		w.owned("forgotten", "team:pay", "user:123")
		w.submit(domain.Delete{Target: domain.Target{By: w.by, ID: "forgotten"}})
		w.owned("other", "team:pay", "user:123", "public")
		session := domain.SessionTarget{By: w.by, Owner: "user:123", ID: "s"}
		w.says(session, canary)
		w.key("abc", "user:123", domain.Member)
		w.order("one", "user:123")

		ctx, stop := context.WithCancel(t.Context())
		interrupted := make(chan struct{})
		go func() {
			defer close(interrupted)
			for ctx.Err() == nil {
				if state, err := w.eraser().Erasure(ctx, w.by.Tenant, "one"); err == nil && state.Erased > 0 {
					stop()
				}
			}
		}()
		_ = w.eraser().CarryOut(ctx) // it may have been faster
		stop()
		<-interrupted

		noError(t, w.eraser().CarryOut(t.Context()))
		state, err := w.eraser().Erasure(t.Context(), w.by.Tenant, "one")
		if err != nil || state.UnderWay() || state.Erased != many+4 || state.NotErased != 1 ||
			state.Refused[0].Stream != "knowledge:held" {
			t.Errorf("%+v, %v", state, err)
		}
		for id, k := range w.items() {
			if gone := k.Status == domain.IsErased; gone != (id != "held" && id != "other") {
				t.Errorf("%s is %s", id, k.Status)
			}
		}
		w.counts(map[string]int{"SELECT count(*) FROM event_texts": 2})
		if left, err := w.log.Erasures.UnderWay(t.Context()); err != nil || len(left) > 0 {
			t.Errorf("under way: %v, %v", left, err)
		}
	})
}

// Two servers may find the same order at once: whatever one of them has erased, the other does not erase again, and
// nothing is recorded twice.
func TestTwoServersAtOneOrderEraseEverythingOnce(t *testing.T) {
	each(t, func(t *testing.T, one *world) {
		other := newWorld(t, one.db, projections.Settings{})
		const many = 120
		for i := range many {
			one.owned(fmt.Sprint("his-", i), "user:123", "public")
		}
		session := domain.SessionTarget{By: one.by, Owner: "user:123", ID: "s"}
		one.says(session, canary)
		one.key("abc", "user:123", domain.Member)
		one.order("all", "user:123")
		failed := make(chan error, 2)
		for _, w := range []*world{one, other} {
			go func() { failed <- w.eraser().CarryOut(t.Context()) }()
		}
		noError(t, errors.Join(<-failed, <-failed))
		one.counts(map[string]int{
			"SELECT count(*) FROM (SELECT stream FROM events WHERE name LIKE '%.erased' GROUP BY stream HAVING count(*) > 1) " +
				"AS t": 0,
			"SELECT count(*) FROM events WHERE name LIKE '%.erased'":       many + 2,
			"SELECT count(*) FROM events WHERE name = 'erasure.completed'": 1,
		})
		if state, err := one.eraser().Erasure(t.Context(), one.by.Tenant, "all"); err != nil || state.Erased != many+2 ||
			state.NotErased != 0 {
			t.Errorf("%+v, %v", state, err)
		}
	})
}

func TestErasingATenantLeavesNoTextAndNoKey(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		system := domain.SystemPrincipal()
		system.Subject = "user:root"
		w.by = system
		w.submit(domain.CreateTenant{By: system, Name: "acme"})
		acme := w.in("acme")
		other := w.in("other")
		for _, in := range []*world{acme, other} {
			in.owned("one", "user:123", "public")
			in.owned("two", "org:acme", "org:acme")
			in.key("abc"+in.by.Tenant, "user:7", domain.Admin)
		}
		if keys, _, err := w.eraser().Access(t.Context(), "acme", "tenant:acme"); err != nil || len(keys) != 1 {
			t.Errorf("%v keys are to be revoked, %v", keys, err)
		}
		acme.order("all", "tenant:acme")
		noError(t, w.eraser().CarryOut(t.Context()))
		if state, err := w.eraser().Erasure(t.Context(), "acme", "all"); err != nil || state.Revoked != 1 ||
			state.Erased != 3 {
			t.Errorf("%+v, %v", state, err)
		}
		writer := events.NewScrubbingWriter(w.log, true)
		_, err := writer.Submit(t.Context(), domain.Submission{
			By: acme.by,
			Command: acme.complete(domain.Remember{By: acme.by, ID: "late", Knowledge: domain.Remembered{
				Class: domain.Class{Type: domain.Strategy}, Owner: "user:7", Scopes: []domain.Scope{"public"}, Text: domain.Text{Content: "more"},
			}}),
		})
		if !errors.Is(err, domain.ErrErased) {
			t.Errorf("writing there is answered with %v", err)
		}
		w.counts(map[string]int{
			"SELECT count(*) FROM event_texts WHERE tenant = 'acme'":  0,
			"SELECT count(*) FROM event_texts WHERE tenant = 'other'": 3,
		})
		key, err := w.log.Reader.State(t.Context(), "acme", domain.KeyStreams.Of("abcacme"))
		if k, _ := key.State.(domain.Key); err != nil || k.RevokedAt.IsZero() {
			t.Errorf("the key is %+v, %v", k, err)
		}
		tenant, err := w.log.Reader.State(t.Context(), domain.SystemTenant, domain.TenantStreams.Of("acme"))
		if s, _ := tenant.State.(domain.Tenant); err != nil || s.ErasedAt.IsZero() {
			t.Errorf("the tenant is %+v, %v", s, err)
		}
	})
}

func TestThePlanForASessionListsWhatWasLearnedFromIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		session := domain.SessionTarget{By: w.by, Owner: "user:123", ID: "s"}
		said := w.says(session, canary)
		w.know("learned", domain.Remembered{
			Class: domain.Class{Type: domain.Strategy}, Owner: "team:pay", Scopes: []domain.Scope{"team:pay"}, Text: domain.Text{Content: "x"},
			DerivedFrom: []string{said.Events[len(said.Events)-1].EventID},
		})
		w.owned("other", "team:pay", "public")
		for lineage, goes := range map[domain.LineageMode]bool{domain.LineageListed: false, domain.LineageErased: true} {
			doomed, err := w.eraser().Doomed(t.Context(), w.by.Tenant, "session:123/s", lineage)
			if err != nil || len(doomed) != 2 || doomed[1].ID != "learned" || doomed[1].WillErase != goes ||
				doomed[1].RelatedTo != "session:123/s" || doomed[1].Relation != domain.DerivedFrom {
				t.Errorf("%+v, %v", doomed, err)
			}
		}
		if doomed, err := w.eraser().Doomed(t.Context(), w.by.Tenant, "session:123/s", domain.LineageIgnored); err != nil ||
			len(doomed) != 1 {
			t.Errorf("%+v, %v", doomed, err)
		}
	})
}

// What is erased together with something that is held stays, too, whenever the hold came.
func TestAHoldKeepsWhatIsErasedTogether(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		all := []string{"first", "second", "third"}
		for _, id := range all {
			w.owned(id, "user:123", "public")
		}
		erase := func(id string) error {
			_, err := w.log.Submit(t.Context(), domain.Submission{
				By:      w.by,
				Command: domain.Erase{Target: domain.Target{By: w.by, ID: id}, Together: all},
			})
			return err
		}
		noError(t, erase("first"))
		w.submit(domain.Hold{Target: domain.Target{By: w.by, ID: "third"}, ReasonCode: "litigation"})
		for _, id := range all[1:] {
			if err := erase(id); !errors.Is(err, domain.ErrConflict) {
				t.Errorf("%s is erased: %v", id, err)
			}
		}
	})
}

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
		Class: domain.Class{Type: domain.Strategy}, Owner: "user:123", Scopes: []domain.Scope{"public"}, Text: domain.Text{Content: canary},
	})
	var commands []domain.Command
	for i := range many {
		commands = append(commands, w.knowing(fmt.Sprint("made-", i), domain.Remembered{
			Class: domain.Class{Type: domain.Strategy}, Owner: "team:pay", Scopes: []domain.Scope{"team:pay"},
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
	w.counts(map[string]int{
		"SELECT count(*) FROM events WHERE name = 'knowledge.erased'":                                         many,
		"SELECT count(DISTINCT stream) FROM events WHERE name = 'knowledge.erased'":                           many,
		"SELECT count(*) FROM events WHERE name = 'erasure.completed'":                                        1,
		"SELECT count(*) FROM event_texts AS t JOIN events USING (tenant, position) WHERE t.text IS NOT NULL": 1,
	})
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
	report(t, w.eraser().CarryOut(t.Context()))
	<-t.Context().Done() // it waits to be killed
}
