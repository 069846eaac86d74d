package events_test

import (
	"context"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// held is an inline projection that keeps every batch until it is told to let go.
type held struct {
	events.Inline
	arrived, release chan struct{}
}

func (h held) Open(ctx context.Context, tx bun.IDB, tenant string, commands []domain.Command, first []events.Reading) (events.Stage, error) {
	h.arrived <- struct{}{}
	<-h.release
	return h.Inline.Open(ctx, tx, tenant, commands, first)
}

func TestBackgroundWorkGivesWayToCommandsForNineTimesItsOwnTimeUnlessSomebodyWaitsForIt(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.SQLite(t))
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := held{events.RetryQuarantined{}, make(chan struct{}), make(chan struct{})}
	l := events.NewLog(db, h, events.Options{Logger: databasetest.Log(t)})
	t.Cleanup(func() {
		if err := l.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	waited := func(took time.Duration) time.Duration {
		began := time.Now()
		l.GiveWay(t.Context(), took, "p")
		return time.Since(began)
	}
	if got := waited(time.Hour); got > time.Second {
		t.Errorf("waited %s on a quiet log, want no time", got)
	}

	by := domain.OpenPrincipal()
	command, err := domain.Remember{By: by, ID: "k", Knowledge: domain.Remembered{
		Type: domain.Tool, Scopes: []domain.Scope{domain.Public}, Text: domain.Text{Content: "knowledge"},
	}}.Complete()
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := l.Submit(t.Context(), domain.Submission{By: by, Command: command})
		answered <- err
	}()
	<-h.arrived
	// The longer it is busy, the nearer this comes to 90 ms.
	for waited(10*time.Millisecond) < 80*time.Millisecond {
		if t.Context().Err() != nil {
			t.Fatal("never gives way for long")
		}
	}
	done := l.Hurry("p")
	if got := waited(time.Hour); got > time.Second {
		t.Errorf("waited %s though somebody waits for the projection", got)
	}
	done()
	gone, leave := context.WithCancel(t.Context())
	leave()
	began := time.Now()
	l.GiveWay(gone, time.Hour, "p")
	if got := time.Since(began); got > time.Second {
		t.Errorf("waited %s though nobody wants the work any more", got)
	}

	close(h.release)
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	if got := waited(time.Hour); got > time.Second {
		t.Errorf("waited %s after the last command, want a moment", got)
	}
}
