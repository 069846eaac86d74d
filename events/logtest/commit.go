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

// onPostgres is a world on a PostgreSQL database of its own, and the database's URL.
func onPostgres(t *testing.T, open InstanceID) (w *world, url string) {
	t.Helper()
	url = databasetest.Migrated(t, database.Postgres)
	db := databasetest.Open(t, url)
	return newWorld(t, db, open), url
}

// behind is a world on the same database behind a proxy.
func (w *world) behind(t *testing.T, url string, options events.Options) (*world, *databasetest.Proxy) {
	t.Helper()
	proxy := databasetest.NewProxy(t, url)
	far := &world{T: t, db: databasetest.Open(t, proxy.URL), open: w.open, by: w.by}
	far.log = far.newLog(w.open(t, far.db), options)
	return far, proxy
}

func unansweredCommit(t *testing.T, open InstanceID) {
	near, url := onPostgres(t, open)
	for name, lose := range map[string]func(*databasetest.Proxy){
		"the request is lost":      (*databasetest.Proxy).LoseCommit,
		"the answer is lost":       func(p *databasetest.Proxy) { p.LoseAnswer(0) },
		"the server commits later": func(p *databasetest.Proxy) { p.LoseAnswer(300 * time.Millisecond) },
		"the server is away meanwhile": func(p *databasetest.Proxy) {
			p.LoseAnswer(0)
			p.AwayAtCommit(300 * time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, proxy := near.behind(t, url, events.Options{})
			w.by.Tenant = name
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

func unknownCommit(t *testing.T, open InstanceID) {
	near, url := onPostgres(t, open)
	w, proxy := near.behind(t, url, events.Options{CommitTimeout: 400 * time.Millisecond})
	w.do(w.remember("k"))
	proxy.LoseAnswer(0)
	proxy.AwayAtCommit(0)
	_, err := w.log.Submit(t.Context(), w.submission(w.vote("k", "1")))
	if !errors.Is(err, database.ErrOutcomeUnknown) || !errors.Is(err, domain.ErrUnavailable) {
		t.Errorf("got %v, want an unknown outcome", err)
	}
}

func awayAndBack(t *testing.T, open InstanceID) {
	near, url := onPostgres(t, open)
	w, proxy := near.behind(t, url, events.Options{})
	w.do(w.remember("k"))
	proxy.Down()
	for range 3 {
		if _, err := w.log.Submit(t.Context(), w.submission(w.vote("k", "1"))); !errors.Is(err, domain.ErrUnavailable) {
			t.Errorf("writing: got %v, want %v", err, domain.ErrUnavailable)
		}
		if _, err := w.log.Reader.Read(t.Context(), w.by.Tenant, 0, 0); !errors.Is(err, domain.ErrUnavailable) {
			t.Errorf("reading: got %v, want %v", err, domain.ErrUnavailable)
		}
	}
	proxy.Up()
	w.do(w.vote("k", "1"))
	if got := len(w.events()); got != 2 {
		t.Errorf("got %d events, want 2", got)
	}
}
