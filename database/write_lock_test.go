package database

import (
	"slices"
	"testing"
	"testing/synctest"
)

func TestTurnsAreTakenInTheOrderTheyWereAskedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turn := newWriteLock()
		first, err := turn.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var served, asked []int
		for i := range 100 {
			asked = append(asked, i)
			go func() {
				done, err := turn.take(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				served = append(served, i)
				done()
			}()
			synctest.Wait() // it stands in the queue
		}
		first()
		synctest.Wait()
		if !slices.Equal(served, asked) {
			t.Errorf("got %v, want %v", served, asked)
		}
	})
}
