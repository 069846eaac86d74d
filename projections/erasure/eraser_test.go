package erasure_test

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
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func eraser(w *World) *erasure.Eraser {
	return projections.NewEraser(w.Base, w.Log, databasetest.Log(w.T))
}

// order orders to erase all that is somebody's.
func order(w *World, id, of string) {
	w.T.Helper()
	command := Must(domain.OrderErasure{By: w.By, ID: id, Of: of}.Complete())(w.T)
	w.Submit(command)
}

func owned(w *World, id string, owner domain.Entity, scopes ...domain.Scope) {
	w.T.Helper()
	w.Know(id, domain.Remembered{
		Class: domain.Class{Type: domain.Strategy}, Owner: owner, Scopes: scopes, Text: domain.Text{Content: "the " + Canary + " of " + id},
	})
}

// key gives somebody a key with a note.
func key(w *World, prefix string, subject domain.Entity, role domain.Role) {
	w.T.Helper()
	key := domain.KeyCreated{Hash: "5e", Subject: subject, Role: role, Note: Canary}
	w.Submit(domain.CreateKey{By: w.By, Prefix: prefix, Key: key})
}

// Two servers may find the same order at once: whatever one of them has erased, the other does not erase again, and
// nothing is recorded twice.
func TestTwoServersAtOneOrderEraseEverythingOnce(t *testing.T) {
	Each(t, func(t *testing.T, one *World) {
		other := NewWorld(t, one.DB, projections.Settings{})
		const many = 120
		for i := range many {
			owned(one, fmt.Sprint("his-", i), "user:123", "public")
		}
		session := domain.SessionTarget{By: one.By, Owner: "user:123", ID: "s"}
		one.Says(session, Canary)
		key(one, "abc", "user:123", domain.Member)
		order(one, "all", "user:123")
		failed := make(chan error, 2)
		for _, w := range []*World{one, other} {
			go func() { failed <- eraser(w).CarryOut(t.Context()) }()
		}
		NoError(t, errors.Join(<-failed, <-failed))
		counts(one, map[string]int{
			"SELECT count(*) FROM (SELECT stream FROM events WHERE name LIKE '%.erased' GROUP BY stream HAVING count(*) > 1) " +
				"AS t": 0,
			"SELECT count(*) FROM events WHERE name LIKE '%.erased'":       many + 2,
			"SELECT count(*) FROM events WHERE name = 'erasure.completed'": 1,
		})
		if state, err := eraser(one).Erasure(t.Context(), one.By.Tenant, "all"); err != nil || state.Erased != many+2 ||
			state.NotErased != 0 {
			t.Errorf("%+v, %v", state, err)
		}
	})
}

func TestErasingATenantLeavesNoTextAndNoKey(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		system := domain.SystemPrincipal()
		system.Subject = "user:root"
		w.By = system
		w.Submit(domain.CreateTenant{By: system, Name: "acme"})
		acme := w.In("acme")
		other := w.In("other")
		for _, in := range []*World{acme, other} {
			owned(in, "one", "user:123", "public")
			owned(in, "two", "org:acme", "org:acme")
			key(in, "abc"+in.By.Tenant, "user:7", domain.Admin)
		}
		if keys, _, err := eraser(w).Access(t.Context(), "acme", "tenant:acme"); err != nil || len(keys) != 1 {
			t.Errorf("%v keys are to be revoked, %v", keys, err)
		}
		order(acme, "all", "tenant:acme")
		NoError(t, eraser(w).CarryOut(t.Context()))
		if state, err := eraser(w).Erasure(t.Context(), "acme", "all"); err != nil || state.Revoked != 1 ||
			state.Erased != 3 {
			t.Errorf("%+v, %v", state, err)
		}
		writer := events.NewScrubbingWriter(w.Log, true)
		_, err := writer.Submit(t.Context(), domain.Submission{
			By: acme.By,
			Command: acme.Complete(domain.Remember{By: acme.By, ID: "late", Knowledge: domain.Remembered{
				Class: domain.Class{Type: domain.Strategy}, Owner: "user:7", Scopes: []domain.Scope{"public"}, Text: domain.Text{Content: "more"},
			}}),
		})
		if !errors.Is(err, domain.ErrErased) {
			t.Errorf("writing there is answered with %v", err)
		}
		counts(w, map[string]int{
			"SELECT count(*) FROM event_texts WHERE tenant = 'acme'":  0,
			"SELECT count(*) FROM event_texts WHERE tenant = 'other'": 3,
		})
		key, err := w.Log.Reader.State(t.Context(), "acme", domain.KeyStreams.Of("abcacme"))
		if k, _ := key.State.(domain.Key); err != nil || k.RevokedAt.IsZero() {
			t.Errorf("the key is %+v, %v", k, err)
		}
		tenant, err := w.Log.Reader.State(t.Context(), domain.SystemTenant, domain.TenantStreams.Of("acme"))
		if s, _ := tenant.State.(domain.Tenant); err != nil || s.ErasedAt.IsZero() {
			t.Errorf("the tenant is %+v, %v", s, err)
		}
	})
}

func TestThePlanForASessionListsWhatWasLearnedFromIt(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		session := domain.SessionTarget{By: w.By, Owner: "user:123", ID: "s"}
		said := w.Says(session, Canary)
		w.Know("learned", domain.Remembered{
			Class: domain.Class{Type: domain.Strategy}, Owner: "team:pay", Scopes: []domain.Scope{"team:pay"}, Text: domain.Text{Content: "x"},
			DerivedFrom: []string{said.Events[len(said.Events)-1].EventID},
		})
		owned(w, "other", "team:pay", "public")
		for lineage, goes := range map[domain.LineageMode]bool{domain.LineageListed: false, domain.LineageErased: true} {
			doomed, err := eraser(w).Doomed(t.Context(), w.By.Tenant, "session:123/s", lineage)
			if err != nil || len(doomed) != 2 || doomed[1].ID != "learned" || doomed[1].WillErase != goes ||
				doomed[1].RelatedTo != "session:123/s" || doomed[1].Relation != domain.DerivedFrom {
				t.Errorf("%+v, %v", doomed, err)
			}
		}
		if doomed, err := eraser(w).Doomed(t.Context(), w.By.Tenant, "session:123/s", domain.LineageIgnored); err != nil ||
			len(doomed) != 1 {
			t.Errorf("%+v, %v", doomed, err)
		}
	})
}

// What is erased together with something that is held stays, too, whenever the hold came.
func TestAHoldKeepsWhatIsErasedTogether(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		all := []string{"first", "second", "third"}
		for _, id := range all {
			owned(w, id, "user:123", "public")
		}
		erase := func(id string) error {
			_, err := w.Log.Submit(t.Context(), domain.Submission{
				By:      w.By,
				Command: domain.Erase{Target: domain.Target{By: w.By, ID: id}, Together: all},
			})
			return err
		}
		NoError(t, erase("first"))
		w.Submit(domain.Hold{Target: domain.Target{By: w.By, ID: "third"}, ReasonCode: "litigation"})
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
	many := 400
	if testing.Short() {
		many = 100
	}
	url := databasetest.Migrated(t, database.Postgres)
	db := databasetest.Open(t, url)
	w := NewWorld(t, db, projections.Settings{})
	root := w.Know("root", domain.Remembered{
		Class: domain.Class{Type: domain.Strategy}, Owner: "user:123", Scopes: []domain.Scope{"public"}, Text: domain.Text{Content: Canary},
	})
	var commands []domain.Command
	for i := range many {
		commands = append(commands, w.Knowing(fmt.Sprint("made-", i), domain.Remembered{
			Class: domain.Class{Type: domain.Strategy}, Owner: "team:pay", Scopes: []domain.Scope{"team:pay"},
			Text: domain.Text{Content: fmt.Sprint(Canary, " ", i)}, DerivedFrom: []string{root.Events[0].EventID},
		}))
	}
	w.SubmitAll(commands...)
	w.Submit(domain.Hold{Target: domain.Target{By: w.By, ID: "made-7"}, ReasonCode: "litigation"})
	order := Must(domain.OrderErasure{By: w.By, ID: "order", Of: "root", WithLineage: true}.Complete())(t)
	w.Submit(order)

	child := databasetest.NewChild(t, eraseChild+"="+url)
	if !child.Says.Scan() { // that it has erased something: the root, to which all else is related
		t.Fatal("the other process ended")
	}
	carried := make(chan error, 1)
	go func() { carried <- eraser(w).CarryOut(t.Context()) }()
	child.Kill()
	NoError(t, <-carried)
	state, err := eraser(w).Erasure(t.Context(), w.By.Tenant, "order")
	if err != nil || state.UnderWay() || state.Erased != int64(many) || state.NotErased != 1 ||
		state.Refused[0].Stream != "knowledge:made-7" {
		t.Errorf("%+v, %v", state, err)
	}
	counts(w, map[string]int{
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
	w := NewWorld(t, databasetest.Open(t, url), projections.Settings{})
	go func() { // until the process is killed
		for t.Context().Err() == nil {
			if state, err := eraser(w).Erasure(context.WithoutCancel(t.Context()), w.By.Tenant, "order"); err == nil &&
				state.Erased > 0 {
				say("erased something")
				return
			}
		}
	}()
	Report(t, eraser(w).CarryOut(t.Context()))
	<-t.Context().Done() // it waits to be killed
}

// counts compares the number that each query gives.
func counts(w *World, wanted map[string]int) {
	w.T.Helper()
	for query, want := range wanted {
		if got := w.Number(query); got != want {
			w.T.Errorf("%s: %d, want %d", query, got, want)
		}
	}
}
