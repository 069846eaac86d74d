package events_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// A containment of a hundred thousand items takes longer than the limit that keeps other transactions short.
func TestACommandThatBringsManyHasMoreTime(t *testing.T) {
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		l := newLog(t, db, events.Options{CommitTimeout: time.Nanosecond})
		by := domain.OpenPrincipal()
		var commands []domain.Command
		for i := range 5000 {
			command, err := domain.Remember{By: by, ID: fmt.Sprint("i", i), Knowledge: domain.Remembered{
				Class: domain.Class{Type: domain.Strategy}, Text: domain.Text{Content: "Retry with jitter."},
			}}.Complete()
			if err != nil {
				t.Fatal(err)
			}
			commands = append(commands, command)
		}
		ctx := database.ForTenant(t.Context(), by.Tenant)
		if _, err := l.Submit(ctx, domain.Submission{By: by, Command: commands[0], Then: commands[1:]}); err != nil {
			t.Error(err)
		}
		_, err := l.Submit(ctx, domain.Submission{By: by, Command: domain.Delete{Target: domain.Target{By: by, ID: "i0"}}})
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, domain.ErrUnavailable) {
			t.Errorf("alone: %v", err)
		}
	})
}
