package logtest

import (
	"errors"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// through is a world on a PostgreSQL behind a proxy. Nothing comes between a process and its SQLite
// file, so these tests have one engine.
func (w *world) through(options events.Options) (*world, *Proxy) {
	w.Helper()
	url := databasetest.Postgres(w)
	direct := databasetest.Open(w, url)
	if err := direct.Migrate(w.Context()); err != nil {
		w.Fatal(err)
	}
	inline := w.open(w.T, direct)
	proxy := NewProxy(w, url)
	far := &world{T: w.T, db: databasetest.Open(w, proxy.URL), open: w.open, by: w.by}
	far.log = far.newLog(inline, options)
	return far, proxy
}

func unansweredCommit(w *world) {
	if w.db.Engine == database.SQLite {
		return
	}
	for name, lose := range map[string]func(*Proxy){
		"the request is lost":          (*Proxy).LoseCommit,
		"the answer is lost":           func(p *Proxy) { p.LoseAnswer(0) },
		"the server commits later":     func(p *Proxy) { p.LoseAnswer(300 * time.Millisecond) },
		"the server is away meanwhile": func(p *Proxy) { p.LoseAnswer(0); p.AwayAtCommit(300 * time.Millisecond) },
	} {
		w.Run(name, func(t *testing.T) {
			t.Parallel()
			w, proxy := (&world{T: t, db: w.db, open: w.open, by: w.by}).through(events.Options{})
			w.do(w.remember("k"))
			lose(proxy)
			results := w.log.SubmitAll(t.Context(), []domain.Submission{
				w.submission(w.vote("k", "1")), w.keyed(w.vote("k", "2"), "key", 1),
			})
			for i, r := range results {
				if r.Err != nil || r.Receipt.Position != int64(i+2) || r.Receipt.Replayed {
					t.Errorf("got position %d, replayed %v, %v", r.Receipt.Position, r.Receipt.Replayed, r.Err)
				}
			}
			if got := len(w.events()); got != 3 {
				t.Errorf("got %d events, want 3", got)
			}
		})
	}
}

func unknownCommit(w *world) {
	if w.db.Engine == database.SQLite {
		return
	}
	w, proxy := w.through(events.Options{Patience: 400 * time.Millisecond})
	w.do(w.remember("k"))
	proxy.LoseAnswer(0)
	proxy.AwayAtCommit(0)
	_, err := w.log.Submit(w.Context(), w.submission(w.vote("k", "1")))
	if !errors.Is(err, database.ErrOutcomeUnknown) || !errors.Is(err, domain.ErrUnavailable) {
		w.Errorf("got %v, want an unknown outcome", err)
	}
}

func awayAndBack(w *world) {
	if w.db.Engine == database.SQLite {
		return
	}
	w, proxy := w.through(events.Options{})
	w.do(w.remember("k"))
	proxy.Down()
	for range 3 {
		if _, err := w.log.Submit(w.Context(), w.submission(w.vote("k", "1"))); !errors.Is(err, domain.ErrUnavailable) {
			w.Errorf("writing: got %v, want %v", err, domain.ErrUnavailable)
		}
		if _, err := w.log.Read(w.Context(), w.by.Tenant, 0, 0); !errors.Is(err, domain.ErrUnavailable) {
			w.Errorf("reading: got %v, want %v", err, domain.ErrUnavailable)
		}
	}
	proxy.Up()
	w.do(w.vote("k", "1"))
	if got := len(w.events()); got != 2 {
		w.Errorf("got %d events, want 2", got)
	}
}
