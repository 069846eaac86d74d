//go:build unix

package events_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// limitedChild tells a process of these tests in which file it is to write more than it may.
const limitedChild = "ANNALS_TEST_LIMITED_URL"

// A limit of the disk that is used up, and a disk that fails, are to SQLite what a limit of a process is: an I/O error.
func TestAFileThatCannotBeWrittenIsUnavailableAndThenWritten(t *testing.T) {
	t.Parallel()
	if child := os.Getenv(limitedChild); child != "" {
		writeWithinLimits(t, child)
		return
	}
	child := databasetest.NewChild(t, limitedChild+"="+databasetest.SQLite(t))
	defer child.Kill()
	if !child.Says.Scan() || child.Says.Text() != "recorded" {
		t.Errorf("got %q", child.Says.Text())
	}
}

func writeWithinLimits(t *testing.T, url string) {
	submit := submitter(t, databasetest.Open(t, url))
	var limits syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limits); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 20, Max: limits.Max}); err != nil {
		t.Fatal(err)
	}
	var err error
	for range 1000 {
		if err = submit(); err != nil {
			break
		}
	}
	if !errors.Is(err, domain.ErrUnavailable) || errors.Is(err, domain.ErrBroken) || errors.Is(err, database.ErrOutcomeUnknown) {
		t.Errorf("got %v, want %v", err, domain.ErrUnavailable)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limits); err != nil {
		t.Fatal(err)
	}
	if err := submit(); err != nil {
		t.Error(err)
	}
	if !t.Failed() {
		databasetest.Saying(t)("recorded")
	}
}

// A standby takes no writes, and neither does a server that was told so because its disk is nearly full.
func TestAServerThatIsReadOnlyIsUnavailableAndThenWritten(t *testing.T) {
	t.Parallel()
	direct := databasetest.Postgres(t)
	operator := databasetest.Open(t, direct)
	address, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	proxy := databasetest.NewProxy(t, direct)
	submit := submitter(t, databasetest.Open(t, proxy.URL))
	readOnly := func(clause string) {
		t.Helper()
		statement := "ALTER DATABASE " + strings.TrimPrefix(address.Path, "/") + clause
		if _, err := operator.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		proxy.Down() // sessions keep the setting that they began with
		proxy.Up()
	}
	readOnly(" SET default_transaction_read_only = on")
	err = submit()
	refusal, told := errors.AsType[*domain.Refusal](err)
	if !errors.Is(err, domain.ErrUnavailable) || !errors.Is(err, database.ErrReadOnly) || errors.Is(err, database.ErrOutcomeUnknown) ||
		!told || !strings.Contains(refusal.Detail, "read-only") {
		t.Errorf("got %v, want %v", err, database.ErrReadOnly)
	}
	readOnly(" RESET default_transaction_read_only")
	if err := submit(); err != nil {
		t.Error(err)
	}
}

// submitter makes the log's tables, and returns what remembers one more item.
func submitter(t *testing.T, db *database.DB) (submit func() error) {
	t.Helper()
	if err := database.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	log := events.NewLog(db, inline(t, db), events.Options{Logger: databasetest.Log(t)})
	t.Cleanup(func() {
		if err := log.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	by, number := domain.OpenPrincipal(), 0
	return func() error {
		number++
		command, err := domain.Remember{By: by, ID: fmt.Sprint("item-", number), Knowledge: domain.Remembered{
			Class: domain.Class{Type: domain.Strategy}, Text: domain.Text{Content: strings.Repeat("wait and try again ", 1000)},
		}}.Complete()
		if err != nil {
			t.Fatal(err)
		}
		_, err = log.Submit(t.Context(), domain.Submission{Command: command, By: by})
		return err
	}
}
