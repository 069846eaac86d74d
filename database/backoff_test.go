package database_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/annals-kb/annals/database"
)

func TestRetryWaitsLongerEachTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failed := errors.New("failed")
		began, attempts := time.Now(), 0
		err := database.Backoff{Shortest: time.Second, Longest: 3 * time.Second}.Retry(t.Context(), func() (bool, error) {
			attempts++
			return attempts == 5, failed
		})
		if got := time.Since(began); !errors.Is(err, failed) || got != (1+2+3+3)*time.Second {
			t.Errorf("got %v after %s", err, got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err = database.Backoff{Shortest: time.Hour}.Retry(ctx, func() (bool, error) { return false, nil })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v when the context ends", err)
		}
	})
}
