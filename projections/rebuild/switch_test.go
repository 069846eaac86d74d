package rebuild_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// switchChild tells a process of this test which database to use while another process rebuilds it.
const switchChild = "ANNALS_TEST_SWITCH_URL"

// Two processes read and write while one of them rebuilds, switches and goes back: no request fails,
// everything written can be read at once, and both versions have it.
func TestSwitchesRaceWithReadersAndWritersOfTwoProcesses(t *testing.T) {
	databasetest.Slow(t)
	t.Parallel()
	if url := os.Getenv(switchChild); url != "" {
		useAsChild(t, url)
		return
	}
	url := databasetest.Migrated(t, database.Postgres)
	db := databasetest.Open(t, url)
	switching(t, db, func(*Rebuilding) (stop func() int) {
		child := exec.CommandContext(t.Context(), os.Args[0],
			"-test.run=^TestSwitchesRaceWithReadersAndWritersOfTwoProcesses$", "-test.timeout=2m")
		child.Env = append(os.Environ(), switchChild+"="+url)
		child.Stderr = t.Output()
		untilClosed := Must(child.StdinPipe())(t)
		says := Must(child.StdoutPipe())(t)
		NoError(t, child.Start())
		lines := bufio.NewScanner(says)
		if !lines.Scan() || lines.Text() != "using" {
			t.Fatalf("the other process says %q", lines.Text())
		}
		return func() int {
			untilClosed.Close()
			var remembered int
			for lines.Scan() {
				if _, err := fmt.Sscanf(lines.Text(), "remembered %d", &remembered); err != nil &&
					!strings.HasPrefix(lines.Text(), "PASS") {
					t.Errorf("the other process: %s", lines.Text())
				}
			}
			if err := child.Wait(); err != nil {
				t.Errorf("the other process: %v", err)
			}
			return remembered
		}
	})
}

func TestSwitchesRaceWithReadersAndWriters(t *testing.T) {
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		switching(t, db, func(*Rebuilding) func() int { return func() int { return 0 } })
	})
}

// switching rebuilds and switches to and fro while users are at work, of this process and of others.
func switching(t *testing.T, db *database.DB, others func(*Rebuilding) (stop func() int)) {
	t.Helper()
	r := NewRebuilding(t, db, projections.Settings{})
	r.Remember("common", "what everybody votes for", "team:pay")
	r.RememberMany(200, "lesson %d: retry with backoff")
	stopOthers := others(r)
	stopOwn := use(r.World, "own")
	for round := range 2 {
		r.Switches(domain.RebuildOrder{})
		for range 6 {
			before := r.Head()
			databasetest.Until(t, "users go on", func() bool { return r.Head() > before+10 })
			if _, err := r.Base.Versions.Rollback(t.Context()); err != nil {
				t.Errorf("round %d: go back: %v", round, err)
			}
		}
	}
	remembered := stopOwn() + stopOthers()
	last := r.Last()
	want := Folded(r.Items())
	for _, version := range []int{last.Version, last.Version - 1} {
		Equal(t, want, r.StoredIn(version), "version %d (-folded +stored)", version)
	}
	if got, want := len(want["knowledge"]), 201+remembered; got != want {
		t.Errorf("there are %d items, want %d", got, want)
	}
	if k, err := r.Base.Browser.Find(t.Context(), r.By.Tenant, "common"); err != nil || k.Helpful != 1+remembered {
		t.Errorf("got %+v (%v), want %d votes", k, err, remembered)
	}
}

// use lets several remember, vote, get and search, and wants to see what they have done. stop ends it
// and says how many items were remembered.
func use(w *World, name string) (stop func() int) {
	var users sync.WaitGroup
	quit := make(chan struct{})
	counts := make([]int, 4)
	for n := range counts {
		users.Go(func() {
			for {
				select {
				case <-quit:
					return
				default:
				}
				if err := useOnce(w, fmt.Sprintf("%s-%d-%d", name, n, counts[n])); err != nil {
					w.T.Error(err)
					return
				}
				counts[n]++
			}
		})
	}
	return func() (total int) {
		close(quit)
		users.Wait()
		for _, count := range counts {
			total += count
		}
		return total
	}
}

func useOnce(w *World, id string) error {
	ctx := context.WithoutCancel(w.T.Context())
	word := strings.ReplaceAll(id, "-", "x")
	command := w.Complete(domain.Remember{By: w.By, ID: id, Knowledge: domain.Remembered{
		Class: domain.Class{Type: domain.Strategy}, Owner: "org:acme", Scopes: []domain.Scope{"team:pay"},
		Text: domain.Text{Content: word + " was remembered"},
	}})
	vote := w.Helpful("common", id)
	for _, result := range w.Log.SubmitAll(ctx, []domain.Submission{
		{By: w.By, Command: command},
		{By: w.By, Command: vote},
	}) {
		if result.Err != nil {
			return fmt.Errorf("%s: %w", id, result.Err)
		}
	}
	if k, err := w.Base.Browser.Find(ctx, w.By.Tenant, id); err != nil || k.Text.Content != word+" was remembered" {
		return fmt.Errorf("%s: found %+v: %w", id, k, orElse(err, "not what was remembered"))
	}
	search, err := domain.Search{By: w.By, Text: word}.Complete()
	if err != nil {
		return err
	}
	answer, err := w.Base.Searcher.Search(ctx, search)
	if err != nil || len(answer.Hits) == 0 || answer.Hits[0].ID != id {
		return fmt.Errorf("%s: search found %d: %w", id, len(answer.Hits), orElse(err, "not what was remembered"))
	}
	return nil
}

func orElse(err error, otherwise string) error {
	if err == nil {
		err = errors.New(otherwise)
	}
	return err
}

// useAsChild uses the database until its standard input is closed.
func useAsChild(t *testing.T, url string) {
	t.Helper()
	r := NewRebuilding(t, databasetest.Open(t, url), projections.Settings{})
	stop := use(r.World, fmt.Sprint("child-", os.Getpid()))
	fmt.Println("using")
	_, _ = io.Copy(io.Discard, os.Stdin)
	fmt.Println("remembered", stop())
}
