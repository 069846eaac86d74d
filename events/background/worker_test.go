package background_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/annals-kb/annals/events/background"
)

// yielded is how long work yields after a step.
func yielded(ctx context.Context, w *background.Worker, took time.Duration) time.Duration {
	began := time.Now()
	w.Yield(ctx, "p", took, background.LongestPause)
	return time.Since(began)
}

func TestWorkYieldsToCommandsForNineTimesItsOwnTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var w background.Worker
		if got := yielded(t.Context(), &w, time.Hour); got != 0 {
			t.Errorf("waited %s in an idle process", got)
		}
		done := w.Command()
		if got, want := yielded(t.Context(), &w, 10*time.Millisecond), 90*time.Millisecond; got != want {
			t.Errorf("waited %s, want %s", got, want)
		}
		if got := yielded(t.Context(), &w, time.Hour); got != background.LongestPause {
			t.Errorf("waited %s, want %s at most", got, background.LongestPause)
		}
		done()
		if got := yielded(t.Context(), &w, time.Hour); got != background.IdleTime {
			t.Errorf("waited %s after the last command, want %s", got, background.IdleTime)
		}
	})
}

func TestBoostedWorkDoesNotYield(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var w background.Worker
		defer w.Command()()
		time.AfterFunc(time.Second, func() { w.Boost("p") })
		if got := yielded(t.Context(), &w, time.Hour); got != time.Second {
			t.Errorf("waited %s, want to go on when a caller waits", got)
		}
		if got := yielded(t.Context(), &w, time.Hour); got != 0 {
			t.Errorf("waited %s though a caller waits", got)
		}
	})
}

func TestWorkThatIsCancelledDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var w background.Worker
		defer w.Command()()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got := yielded(ctx, &w, time.Hour); got != 0 {
			t.Errorf("waited %s", got)
		}
	})
}
