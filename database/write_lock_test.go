package database

import (
	"context"
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
		if waited := turn.waited.Load(); waited != 100 {
			t.Errorf("%d have waited, want 100 and not the first", waited)
		}
	})
}

func TestWhoWaitsForUpkeepHasNotMetAnybody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turn := newWriteLock()
		type taking func(context.Context) (func(), error)
		for _, test := range []struct {
			name          string
			first, second taking
			want          int64
		}{
			{"somebody who writes waits for maintenance", turn.takeForMaintenance, turn.take, 0},
			{"maintenance waits for somebody who writes", turn.take, turn.takeForMaintenance, 0},
			{"somebody who writes waits for another", turn.take, turn.take, 1},
		} {
			before := turn.waited.Load()
			done, err := test.first(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				done, err := test.second(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				done()
			}()
			synctest.Wait() // the second stands in the queue
			done()
			synctest.Wait()
			if waited := turn.waited.Load() - before; waited != test.want {
				t.Errorf("%s: %d have waited, want %d", test.name, waited, test.want)
			}
		}
	})
}
