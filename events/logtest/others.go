package logtest

import (
	"context"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// othersTransactions appends and reads while another transaction holds a snapshot. On PostgreSQL, one more has
// written to other tables and does not commit.
func othersTransactions(w *world) {
	w.do(w.remember("k"))
	if w.db.Engine == database.Postgres {
		w.leaveOpen(`BEGIN ISOLATION LEVEL REPEATABLE READ`, `SELECT count(*) FROM events`)
		w.leaveOpen(`BEGIN`, `INSERT INTO checkpoints VALUES ('other', 'default', 1, gen_random_uuid(), now())`)
	} else {
		w.leaveOpen(`BEGIN`, `SELECT count(*) FROM events`)
	}
	w.promptly(func(ctx context.Context) {
		for i := range 10 {
			if _, err := w.log.Submit(ctx, w.submission(w.vote("k", numbered("t", i)))); err != nil {
				w.Fatal(err)
			}
			page, err := w.log.Reader.Read(ctx, w.by.Tenant, int64(i)+1, 0)
			if err != nil || len(page) != 1 {
				w.Fatalf("got %d events, %v, want the one just appended", len(page), err)
			}
		}
	})
}

// leaveOpen runs statements on a connection that stays open until the test ends.
func (w *world) leaveOpen(statements ...string) {
	w.Helper()
	conn, err := w.db.DB.DB.Conn(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		if _, err := conn.ExecContext(context.WithoutCancel(w.Context()), `ROLLBACK`); err != nil {
			w.Error(err)
		}
		if err := conn.Close(); err != nil {
			w.Error(err)
		}
	})
	for _, statement := range statements {
		if _, err := conn.ExecContext(w.Context(), statement); err != nil {
			w.Fatal(err)
		}
	}
}

// promptly fails the test if do takes too long.
func (w *world) promptly(do func(ctx context.Context)) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 10*time.Second)
	defer cancel()
	do(ctx)
}

// rudeWriter inserts an event without the lock, between the committer's reading of the head and its insertion.
func rudeWriter(t *testing.T, open InstanceID) {
	w, _ := onPostgres(t, open)
	w.do(w.remember("k"))
	log, gate := w.gated(events.Options{})
	answer := make(chan domain.Result)
	go func() {
		receipt, err := log.Submit(w.Context(), w.submission(w.vote("k", "t")))
		answer <- domain.Result{Receipt: receipt, Err: err}
	}()
	<-gate.arrived
	w.exec(`
		INSERT INTO events (tenant, position, event_id, stream, version, name, schema_version, recorded_at,
		                    actor, authentication, data, hash)
		SELECT tenant, 2, gen_random_uuid(), 'knowledge:rude', 1, 'knowledge.deleted', 1, recorded_at,
		       actor, authentication, '{}', hash
		FROM events`)
	gate.open()
	if got := <-answer; got.Err != nil || got.Receipt.Position != 3 {
		w.Errorf("got position %d, %v, want 3", got.Receipt.Position, got.Err)
	}
	page, err := w.log.Reader.Read(w.Context(), w.by.Tenant, 0, 0)
	if err != nil || len(page) != 3 {
		w.Errorf("got %d events, %v, want 3", len(page), err)
	}
}
